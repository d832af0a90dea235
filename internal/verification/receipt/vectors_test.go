package receipt_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/verification/receipt"
)

// vector is a receipt, as text, and what becomes of it.
type vector struct {
	Name    string `json:"name"`
	Receipt string `json:"receipt"`
	// Want is "" for a receipt that is believed, else a part of the error.
	Want string `json:"want"`
}

// vectorFile is what testdata/vectors.json holds, for verifiers in other languages.
type vectorFile struct {
	Now     string          `json:"now"`
	Trust   json.RawMessage `json:"trust"`
	Vectors []vector        `json:"vectors"`
}

var vectorTime = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

func moment(text string) *time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return &t
}

// testKey is a key that everybody knows: for tests alone.
func testKey(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(strings.Repeat(string('a'+rune(n)), ed25519.SeedSize)))
}

func public(n byte) ed25519.PublicKey { return testKey(n).Public().(ed25519.PublicKey) }

func vectorTrust() *receipt.Trust {
	return &receipt.Trust{Keys: []receipt.Key{
		{ID: "test:now", PublicKey: public(0), NotBefore: *moment("2026-01-01T00:00:00Z"), NotAfter: moment("2027-01-01T00:00:00Z")},
		{ID: "test:open", PublicKey: public(1), NotBefore: *moment("2026-01-01T00:00:00Z")},
		{ID: "test:expired", PublicKey: public(2), NotBefore: *moment("2025-01-01T00:00:00Z"), NotAfter: moment("2026-01-01T00:00:00Z")},
		{ID: "test:revoked", PublicKey: public(3), NotBefore: *moment("2025-01-01T00:00:00Z"), RevokedAt: moment("2026-04-01T00:00:00Z")},
		{ID: "test:later", PublicKey: public(4), NotBefore: *moment("2026-05-20T00:00:00Z")},
	}}
}

func vectorEvidence() receipt.Evidence {
	return receipt.Evidence{
		JobID: "vrf_0123456789abcdefghijklmn", ChainID: "SN_MAIN", ClassHash: "0x123abc", ReceiptID: 12345, Verification: receipt.VerifiedExact,
		SourceArchiveDigest: "sha256:" + strings.Repeat("1a", 32), ToolchainPolicyID: receipt.ToolchainPolicy, CandidateDigest: "sha256:" + strings.Repeat("2b", 32),
		Declaration: receipt.Declaration{BlockNumber: 678900, BlockHash: "0x4d5", TransactionHash: "0x6e7", CompiledClassHash: "0x800000000000011000000000000000000000000000000000000000000000000"},
		ProofScope:  receipt.ProofScope, NotProofOf: slices.Clone(receipt.NotProofOf), IssuedAt: "2026-05-01T12:00:00Z",
	}
}

// signed is the text of a receipt of evidence that was changed before it was signed.
func signed(keyID string, key byte, change func(*receipt.Evidence)) string {
	e := vectorEvidence()
	if change != nil {
		change(&e)
	}
	r, err := receipt.Sign(e, keyID, testKey(key))
	if err != nil {
		panic(err)
	}
	return marshal(r)
}

func marshal(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// forgedReceipt signs evidence that Sign would refuse, by a field in its canonical form.
func forgedReceipt(old, new string) string {
	e := vectorEvidence()
	message, err := e.Canonical()
	if err != nil {
		panic(err)
	}
	changed := replaced(string(message), old, new)
	sig := base64.RawURLEncoding.EncodeToString(ed25519.Sign(testKey(0), []byte(changed)))
	return `{"schemaVersion":"` + receipt.SchemaVersion + `","algorithm":"Ed25519","keyId":"test:now","evidence":` + changed + `,"signature":"` + sig + `"}`
}

func replaced(text, old, new string) string {
	if strings.Count(text, old) != 1 {
		panic(fmt.Sprintf("%q is there %d times", old, strings.Count(text, old)))
	}
	return strings.Replace(text, old, new, 1)
}

// field is a member of a receipt as the base text has it, and another value that the
// schema allows for it, so that the signature alone tells.
type field struct{ name, value, other string }

func fields() []field {
	hash := func(c string) string { return `"sha256:` + strings.Repeat(c, 32) + `"` }
	return []field{
		{"jobId", `"vrf_0123456789abcdefghijklmn"`, `"vrf_0123456789abcdefghijklmo"`}, {"chainId", `"SN_MAIN"`, `"SN_SEPOLIA"`}, {"classHash", `"0x123abc"`, `"0x123abd"`},
		{"receiptId", `12345`, `12346`}, {"sourceArchiveDigest", hash("1a"), hash("1b")}, {"candidateDigest", hash("2b"), hash("2c")},
		{"blockNumber", `678900`, `678901`}, {"blockHash", `"0x4d5"`, `"0x4d6"`}, {"transactionHash", `"0x6e7"`, `"0x6e8"`},
		{"compiledClassHash", `"0x800000000000011000000000000000000000000000000000000000000000000"`, `"0x1"`},
		{"notProofOf", `["security","audit",`, `["audit","security",`}, {"issuedAt", `"2026-05-01T12:00:00Z"`, `"2026-05-01T12:00:01Z"`},
		// Those that follow have one value: another is no receipt at all.
		{"schemaVersion", `"` + receipt.SchemaVersion + `"`, ""}, {"algorithm", `"Ed25519"`, ""}, {"verification", `"verified_exact"`, ""},
		{"toolchainPolicyId", `"service-exact-v25"`, ""}, {"proofScope", `"` + receipt.ProofScope + `"`, ""},
		{"keyId", `"test:now"`, ""},
	}
}

func makeVectors() []vector {
	var all []vector
	add := func(want, name, text string) { all = append(all, vector{Name: name, Receipt: text, Want: want}) }
	base := signed("test:now", 0, nil)
	in := func(old, new string) string { return replaced(base, old, new) }
	add("", "as it is issued", base)
	add("", "spaces", "\n\t "+strings.NewReplacer(`,"`, " ,\r\n \"", `":`, `" : `).Replace(base)+" \n")
	add("", "escapes in values and names", in(`"chainId":"SN_MAIN"`, `"chain\u0049d":"\u0053N_MAIN"`))
	add("", "another order of members", in(`"algorithm":"Ed25519","keyId":"test:now",`, `"keyId":"test:now","algorithm":"Ed25519",`))
	for _, n := range []string{"12345.0", "12345e0", "12345E0", "12345E+0", "1.2345e4", "0.12345e5", "123450e-1", "12345.000", "1234500.0e-2"} {
		add("", "receiptId spelled "+n, in(`"receiptId":12345`, `"receiptId":`+n))
	}
	for _, n := range []string{"6789e2", "678900.0", "6.789e5", "67890000E-2"} {
		add("", "blockNumber spelled "+n, in(`"blockNumber":678900`, `"blockNumber":`+n))
	}
	add("", "block 0", signed("test:now", 0, func(e *receipt.Evidence) { e.Declaration.BlockNumber = 0 }))
	add("", "the largest integers", signed("test:now", 0, func(e *receipt.Evidence) { e.ReceiptID, e.Declaration.BlockNumber = 1<<53-1, 1<<53-1 }))
	add("", "another order of notProofOf, signed so", signed("test:now", 0, func(e *receipt.Evidence) { slices.Reverse(e.NotProofOf) }))
	for _, text := range []string{"2026-05-01T12:00:00.123456789Z", "2026-05-01T14:00:00+02:00", "2026-05-01T12:00:00-00:00", "2028-02-29T00:00:00Z"} {
		want := ""
		if text[:4] == "2028" {
			want = "key_expired"
		}
		add(want, "issued at "+text, signed("test:now", 0, func(e *receipt.Evidence) { e.IssuedAt = text }))
	}
	tampered(add, base, in)
	shapes(add, base, in)
	values(add)
	keys(add, base, in)
	signatures(add, base)
	return all
}

type adder = func(want, name, text string)

func tampered(add adder, base string, in func(old, new string) string) {
	for _, f := range fields() {
		member := `"` + f.name + `":` + f.value
		if f.other != "" {
			add("signature_invalid", "tampered "+f.name, in(member, `"`+f.name+`":`+f.other))
		}
		if f.name == "notProofOf" {
			member, f.value = base[strings.Index(base, `"notProofOf"`):strings.Index(base, `,"issuedAt"`)], "[]"
		}
		add(f.name+": it is there twice", f.name+" twice", in(member, member+","+member))
		add(f.name, f.name+" is null", in(member, `"`+f.name+`":null`))
		add(f.name, f.name+" is an object", in(member, `"`+f.name+`":{}`))
		add(f.name, f.name+" is true", in(member, `"`+f.name+`":true`))
		add(f.name, f.name+" is another text", in(member, `"`+f.name+`":"an other text"`))
		if strings.HasPrefix(f.value, `"`) {
			add(f.name, f.name+" is empty", in(member, `"`+f.name+`":""`))
			add(f.name, f.name+" with a line end", in(member, `"`+f.name+`":`+strings.TrimSuffix(f.value, `"`)+`\n"`))
		}
		if strings.Contains(base, member+",") {
			add(f.name+": it is missing", f.name+" is missing", in(member+",", ""))
		} else {
			add(f.name+": it is missing", f.name+" is missing", in(","+member, ""))
		}
	}
}

// shapes are about the document as JSON.
func shapes(add adder, base string, in func(old, new string) string) {
	add("extra: it does not belong here", "another member", in(`{"schemaVersion"`, `{"extra":1,"schemaVersion"`))
	add("evidence.extra: it does not belong here", "another member of evidence", in(`{"jobId"`, `{"extra":null,"jobId"`))
	add("evidence.declaration.extra: it does not belong here", "another member of the declaration", in(`{"blockNumber"`, `{"extra":"","blockNumber"`))
	add("does not belong here", "a member in capitals", in(`{"jobId"`, `{"JobId":"x","jobId"`))
	add("evidence.declaration: it is missing", "no declaration", base[:strings.Index(base, `"declaration"`)]+base[strings.Index(base, `"proofScope"`):])
	add("evidence.declaration: it is there twice", "two declarations", in(`"declaration":{`, `"declaration":{},"declaration":{`))
	add("evidence: it is there twice", "two pieces of evidence", in(`"evidence":{`, `"evidence":{},"evidence":{`))
	add("evidence: it is there twice", "two pieces of evidence, one escaped", in(`"evidence":{`, `"\u0065vidence":{},"evidence":{`))
	add("evidence: it is not an object", "evidence in an array", in(`"evidence":{`, `"evidence":[{`)[:0]+replaced(in(`"evidence":{`, `"evidence":[{`), `},"signature"`, `}],"signature"`))
	add("not JSON", "nothing", "")
	add("not JSON", "half", base[:len(base)/2])
	add("not JSON", "bytes behind the end", base+"x")
	add("not JSON", "a second receipt behind it", base+base)
	add("not JSON", "a byte order mark", "\ufeff"+base)
	add("not JSON", "a comma too many", base[:len(base)-1]+",}")
	add("not JSON", "a comment", base+"// signed")
	add("not JSON", "a number with a leading zero", in(`"receiptId":12345`, `"receiptId":012345`))
	add("not JSON", "a hexadecimal number", in(`"receiptId":12345`, `"receiptId":0x3039`))
	add("not JSON", "a number with a plus", in(`"receiptId":12345`, `"receiptId":+12345`))
	add("not an object", "an array", "["+base+"]")
	add("not an object", "a text", `"receipt"`)
	add("nested", "deep", in(`"evidence":{`, `"evidence":`+strings.Repeat("[", 30)+strings.Repeat("]", 30)+`,"x":{`))
	add("more than 16384 bytes", "much space", base+strings.Repeat(" ", 16384))
	add("keyId", "half a surrogate pair", in(`"test:now"`, `"test\ud800"`))
}

// values are signed properly, so that the schema alone can tell.
func values(add adder) {
	prime := new(big.Int).Add(new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 251), new(big.Int).Lsh(big.NewInt(17), 192)), big.NewInt(1))
	for _, h := range []string{"0x0", "0x", "", "0x0123abc", "0x123ABC", "0X123abc", "123abc", "0x123abg", "-0x1", " 0x1", "0x" + prime.Text(16), "0x" + strings.Repeat("f", 64), "0x1" + strings.Repeat("0", 64)} {
		add("classHash", fmt.Sprintf("classHash %q", h), forgedReceipt(`"classHash":"0x123abc"`, `"classHash":"`+h+`"`))
		add("blockHash", fmt.Sprintf("blockHash %q", h), forgedReceipt(`"blockHash":"0x4d5"`, `"blockHash":"`+h+`"`))
	}
	for _, h := range []string{"0x0", "0x06e7", "0x6E7"} {
		add("transactionHash", "transactionHash "+h, forgedReceipt(`"transactionHash":"0x6e7"`, `"transactionHash":"`+h+`"`))
	}
	for _, n := range []string{"0", "-1", "-0", "1.5", "12345.00001", "1.00000000000000000001", "9007199254740992", "9007199254740993", "1e16", "1e400", "1e-1", `"12345"`, "null", "true", "[12345]"} {
		add("receiptId", "receiptId "+n, forgedReceipt(`"receiptId":12345`, `"receiptId":`+n))
	}
	for _, n := range []string{"-1", "-0", "0.5", "9007199254740992", "1e99999", `"0"`} {
		add("blockNumber", "blockNumber "+n, forgedReceipt(`"blockNumber":678900`, `"blockNumber":`+n))
	}
	for _, d := range []string{"sha256:" + strings.Repeat("1A", 32), "sha256:" + strings.Repeat("1", 63), "sha256:" + strings.Repeat("1", 65), "sha512:" + strings.Repeat("1a", 32), strings.Repeat("1a", 32)} {
		add("sourceArchiveDigest", "sourceArchiveDigest "+d, forgedReceipt(`"sha256:`+strings.Repeat("1a", 32)+`"`, `"`+d+`"`))
	}
	for _, id := range []string{"vrf_0123456789abcdefghijklm", "vrf_" + strings.Repeat("a", 41), "vrf_0123456789ABCDEFGHIJKLMN", "job_0123456789abcdefghijklmn", "vrf-0123456789abcdefghijklmn"} {
		add("jobId", "jobId "+id, forgedReceipt("vrf_0123456789abcdefghijklmn", id))
	}
	for _, at := range []string{"2026-05-01", "2026-05-01 12:00:00Z", "2026-05-01t12:00:00z", "2026-05-01T12:00:00", "2026-02-30T12:00:00Z", "2026-05-01T24:00:00Z", "2026-05-01T12:00:60Z", "2026-05-01T12:00:00,5Z",
		"2026-05-01T12:00Z", "1746100800", "2026-05-01T12:00:00+0200", "+002026-05-01T12:00:00Z", "2026-05-01T12:00:00.1234567890Z", "2026-05-01T12:00:00+24:00"} {
		add("issuedAt", "issued at "+at, forgedReceipt("2026-05-01T12:00:00Z", at))
	}
	list := `["security","audit","official_attribution","deployment_configuration","current_address_class"]`
	for name, l := range map[string]string{
		"four": `["security","audit","official_attribution","deployment_configuration"]`, "none": `[]`, "six": strings.TrimSuffix(list, "]") + `,"security"]`,
		"one twice": strings.Replace(list, "audit", "security", 1), "another": strings.Replace(list, "audit", "audits", 1), "a number": strings.Replace(list, `"audit"`, "1", 1), "a text": `"security"`,
	} {
		add("notProofOf", "notProofOf with "+name, forgedReceipt(list, l))
	}
	for name, pair := range map[string][2]string{
		"chainId": {"SN_MAIN", "SN_GOERLI"}, "verification": {"verified_exact", "verified_partial"}, "toolchainPolicyId": {"service-exact-v25", "service-exact-v26"},
		"proofScope": {receipt.ProofScope, "everything"},
	} {
		add(name, name+" "+pair[1], forgedReceipt(pair[0], pair[1]))
	}
}

func keys(add adder, base string, in func(old, new string) string) {
	add("", "a key without an end", signed("test:open", 1, nil))
	add("", "a key that has expired since", signed("test:expired", 2, func(e *receipt.Evidence) { e.IssuedAt = "2025-12-31T23:59:59Z" }))
	add("key_expired", "issued when its key expired", signed("test:expired", 2, func(e *receipt.Evidence) { e.IssuedAt = "2026-01-01T00:00:00Z" }))
	add("key_expired", "issued long after its key expired", signed("test:expired", 2, nil))
	add("key_not_yet_valid", "issued before its key was valid", signed("test:later", 4, nil))
	add("key_not_yet_valid", "issued a second before", signed("test:later", 4, func(e *receipt.Evidence) { e.IssuedAt = "2026-05-19T23:59:59Z" }))
	add("", "issued when its key became valid", signed("test:later", 4, func(e *receipt.Evidence) { e.IssuedAt = "2026-05-20T00:00:00Z" }))
	add("key_revoked", "a revoked key", signed("test:revoked", 3, nil))
	add("key_revoked", "a revoked key, issued before that", signed("test:revoked", 3, func(e *receipt.Evidence) { e.IssuedAt = "2025-06-01T00:00:00Z" }))
	add("issued_in_the_future", "issued tomorrow", signed("test:now", 0, func(e *receipt.Evidence) { e.IssuedAt = "2026-06-02T00:00:00Z" }))
	add("", "issued by a clock that is ahead", signed("test:now", 0, func(e *receipt.Evidence) { e.IssuedAt = "2026-06-01T00:09:00Z" }))
	add("key_unknown", "a key that nobody trusts", signed("test:other", 9, nil))
	add("key_unknown", "a trusted key by another name", signed("test:NOW", 0, nil))
	add("signature_invalid", "another key by a trusted name", signed("test:now", 9, nil))
	add("signature_invalid", "another trusted key's name", in(`"keyId":"test:now"`, `"keyId":"test:open"`))
	add("signature_invalid", "a revoked key's name on another's signature", in(`"keyId":"test:now"`, `"keyId":"test:revoked"`))
	for _, id := range []string{"", "test now", "test/now", strings.Repeat("k", 129), "t\u00e9st"} {
		add("keyId", fmt.Sprintf("keyId %.20q", id), in(`"keyId":"test:now"`, `"keyId":"`+id+`"`))
	}
}

// signatures are about the 86 characters.
func signatures(add adder, base string) {
	at := strings.Index(base, `"signature":"`) + len(`"signature":"`)
	sig := base[at : at+86]
	raw, err := base64.RawURLEncoding.DecodeString(sig)
	if err != nil {
		panic(err)
	}
	put := func(s string) string { return base[:at] + s + base[at+86:] }
	for _, i := range []int{0, 1, 31, 32, 62, 63} {
		other := slices.Clone(raw)
		other[i] ^= 1
		add("signature_invalid", fmt.Sprintf("bit of byte %d of the signature", i), put(base64.RawURLEncoding.EncodeToString(other)))
	}
	add("signature_invalid", "a signature of zeros", put(strings.Repeat("A", 86)))
	// The same signature modulo the order of the group: some verifiers take it.
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	s := slices.Clone(raw[32:])
	slices.Reverse(s)
	more := new(big.Int).Add(new(big.Int).SetBytes(s), order).FillBytes(make([]byte, 32))
	slices.Reverse(more)
	add("signature_invalid", "the signature spelled with a larger number", put(base64.RawURLEncoding.EncodeToString(append(slices.Clone(raw[:32]), more...))))
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := alphabet[strings.IndexByte(alphabet, sig[85])+1]
	add("signature", "bits that mean nothing", put(sig[:85]+string(last)))
	add("signature", "padding", put(sig+"=="))
	add("signature", "a character less", put(sig[:85]))
	add("signature", "a character more", put(sig+"A"))
	add("signature", "the other alphabet", put("+/"+sig[2:]))
	add("signature", "a line end inside", put(sig[:40]+`\n`+sig[41:]))
	add("signature", "a space", put(" "+sig[1:]))
	add("signature", "hexadecimal", put(fmt.Sprintf("%x", raw)))
	add("signature", "nothing", put(""))
	add("signature: it is missing", "no signature", base[:at-len(`,"signature":"`)]+"}")
}

func TestVectorsAreMany(t *testing.T) {
	names := map[string]bool{}
	for _, v := range makeVectors() {
		if names[v.Name+v.Want] {
			t.Errorf("%s is there twice", v.Name)
		}
		names[v.Name+v.Want] = true
	}
	if len(names) < 250 {
		t.Errorf("only %d vectors", len(names))
	}
}
