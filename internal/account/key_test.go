package account

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"
)

// repeating is a source of randomness that tests can foresee.
type repeating byte

func (r repeating) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r) + byte(i)
	}
	return len(p), nil
}

func testKey(t testing.TB, seed byte, env Environment) string {
	t.Helper()
	key, err := newKey(repeating(seed), env)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestParseKey(t *testing.T) {
	live, test := testKey(t, 0, Live), testKey(t, 0, Test)
	if live != "svc_live_0123456789ABCDEFGHIJKLMNOPQRSTUV"+live[keySize-checkSize:] {
		t.Errorf("key %s", live)
	}
	swapped := []byte(live)
	swapped[12], swapped[13] = swapped[13], swapped[12]
	for _, c := range []struct {
		name, key string
		want      Environment
	}{
		{"live", live, Live},
		{"test", test, Test},
		{"empty", "", ""},
		{"prefix alone", "svc_live_", ""},
		{"other prefix", "abc" + live[3:], ""},
		{"other environment", "svc_prod_" + live[9:], ""},
		{"test key under a live name", livePrefix + test[9:], ""},
		{"upper case prefix", strings.ToUpper(live[:9]) + live[9:], ""},
		{"cut off", live[:keySize-1], ""},
		{"too long", live + "a", ""},
		{"twice", live + live, ""},
		{"space before", " " + live[:keySize-1], ""},
		{"line end", live[:keySize-1] + "\n", ""},
		{"quoted", `"` + live[:keySize-2] + `"`, ""},
		{"two characters swapped", string(swapped), ""},
		{"one character changed", strings.Replace(live, "A", "B", 1), ""},
		{"lower case", strings.ToLower(live), ""},
		{"not ASCII", live[:keySize-2] + "é", ""},
		{"NUL", live[:20] + "\x00" + live[21:], ""},
		{"bearer", "Bearer " + live, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			env, err := ParseKey(c.key)
			if env != c.want || (err == nil) != (c.want != "") {
				t.Fatalf("%q, %v; want %q", env, err, c.want)
			}
			if err != nil && !errors.Is(err, ErrMalformed) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestChecksumIsCRC32: others can compute it with any library.
func TestChecksumIsCRC32(t *testing.T) {
	key := testKey(t, 77, Live)
	sum, n := crc32.ChecksumIEEE([]byte(key[:keySize-checkSize])), uint32(0)
	for _, c := range key[keySize-checkSize:] {
		n = n*62 + uint32(strings.IndexRune(base62, c))
	}
	if n != sum {
		t.Errorf("checksum %d, want %d", n, sum)
	}
}

// TestEveryCharacterIsDrawnEvenly feeds all bytes: each character comes up as
// often as every other.
func TestEveryCharacterIsDrawnEvenly(t *testing.T) {
	for alphabet, each := range map[string]int{base62: 4, base36: 7} {
		all := len(alphabet) * each
		text, err := randomText(&counting{}, alphabet, all)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range alphabet {
			if n := strings.Count(text, string(c)); n != each {
				t.Errorf("%c of %d characters came up %d times, want %d", c, len(alphabet), n, each)
			}
		}
	}
	if _, err := randomText(constant(255), base62, 8); err == nil {
		t.Error("a broken source was accepted")
	}
}

type counting struct{ next byte }

func (c *counting) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = c.next
		c.next++
	}
	return len(p), nil
}

type constant byte

func (c constant) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}

// TestHide: what may be a key or a code is taken out of a text, wherever it stands, and words that
// cannot be one stay.
func TestHide(t *testing.T) {
	bare, code, hash := "0Aa1"+strings.Repeat("x", 60), "0123456789ABCDEFGHJK", "0x"+strings.Repeat("a1", 32)
	for text, want := range map[string]string{
		"":                                    "",
		"/v1/SN_MAIN/tx/" + hash:              "/v1/SN_MAIN/tx/" + hash,
		"/v1/" + strings.ToUpper(hash):        "/v1/" + strings.ToUpper(hash),
		bare:                                  "…",
		"x/" + bare + "/y":                    "x/…/y",
		code:                                  "…",
		"a " + code + ".":                     "a ….",
		strings.ToLower(code) + "/b":          "…/b",
		code + "1":                            code + "1",
		"_" + code:                            "_" + code,
		strings.Repeat("word", 5):             strings.Repeat("word", 5),
		strings.Repeat("1", 20):               strings.Repeat("1", 20),
		"ü " + code:                           "ü …",
		"ü " + bare:                           "ü …",
		"a Svc_LIVE_abc b":                    "a … b",
		"_svc_test_x_":                        "_…_",
		"svc_ svc_tes svc_liv":                "svc_ svc_tes svc_liv",
		"0123A-BCDEF-GHJKM-NPQRS":             "…",
		"ses." + strings.Repeat("x", 20) + "": "…",
	} {
		if got := Hide(text); got != want {
			t.Errorf("%q is told as %q, want %q", text, got, want)
		}
	}
}

// drawn is a source from which codes come as they are told, in turn, and then broken.
type drawn []string

func (d *drawn) Read(p []byte) (int, error) {
	if len(*d) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	for i := range p {
		p[i] = byte(strings.IndexByte(codeAlphabet, (*d)[0][i%codeSize]))
	}
	*d = (*d)[1:]
	return len(p), nil
}

// TestCodesAreRecognised draws codes that look like a word or a number when they lose their
// hyphens, as they are made or as they are typed: they are not given out.
func TestCodesAreRecognised(t *testing.T) {
	const good = "2BCDEFGHJKMNPQRSTVWX"
	for _, odd := range []string{"ABCDEFGHJKMNPQRSTVWX", "22345678901234567890", "0X2345678901234567AB", "0BCDEFGHJKMNPQRSTVW1"} {
		text, err := newCode(&drawn{odd, odd, good})
		if err != nil || text != "2BCDE-FGHJK-MNPQR-STVWX" {
			t.Errorf("%s was drawn, and %s given out: %v", odd, text, err)
		}
	}
	for range 5_000 {
		text, err := newCode(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		bare := strings.ReplaceAll(text, "-", "")
		for _, form := range []string{text, bare, strings.NewReplacer("0", "O", "1", "L").Replace(bare), strings.NewReplacer("0", "o", "1", "i").Replace(strings.ToLower(bare))} {
			if got := Hide("/x/" + form + "?y"); got != "/x/…?y" {
				t.Errorf("%s as %s is told as %s", text, form, got)
			}
		}
	}
	if _, err := newCode(constant(0)); err == nil {
		t.Error("a broken source was accepted")
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add(testKey(f, 1, Live))
	f.Add(testKey(f, 2, Test))
	f.Add("svc_live_")
	f.Fuzz(func(t *testing.T, presented string) {
		env, err := ParseKey(presented)
		if err != nil {
			if !errors.Is(err, ErrMalformed) || env != "" {
				t.Fatalf("%q, %v", env, err)
			}
			return
		}
		if !strings.HasPrefix(presented, "svc_"+string(env)+"_") {
			t.Fatalf("%q is said to be %s", presented, env)
		}
		// Any one changed character is noticed.
		for i := range presented {
			b := []byte(presented)
			b[i] ^= 1
			if _, err := ParseKey(string(b)); err == nil {
				t.Fatalf("%q passes too", b)
			}
		}
	})
}

func TestScopes(t *testing.T) {
	for _, c := range []struct {
		text, want string // want is empty for an error
	}{
		{"read", "read"},
		{"read batch write verify", "read batch write verify"},
		{"partner,trace,prove", "prove trace partner"},
		{"read, read ,batch", "read batch"},
		{"", ""},
		{" , ", ""},
		{"Read", ""},
		{"read admin", ""},
		{"read\tbatch", ""},
	} {
		s, err := ParseScopes(c.text)
		if (err == nil) != (c.want != "") || s.String() != c.want {
			t.Errorf("%q gives %q, %v", c.text, s, err)
		}
		var invalid *InvalidError
		if err != nil && !errors.As(err, &invalid) {
			t.Errorf("%q: error %v", c.text, err)
		}
	}
	if s, err := ParseScopes(strings.Join(ScopeNames(), ",")); err != nil || s != Read|Batch|Write|Verify|Prove|Trace|Partner {
		t.Errorf("all scopes are %v, %v", s, err)
	}
	if got := DefaultScopes.String(); got != "read batch write verify" {
		t.Errorf("default scopes %s", got)
	}
	s := Read | Trace
	if !s.Has(Read) || !s.Has(Read|Trace) || s.Has(Batch) || s.Has(Read|Batch) || !s.Has(0) {
		t.Error("Has is wrong")
	}
	if b, err := json.Marshal(s); err != nil || string(b) != `["read","trace"]` {
		t.Errorf("JSON %s, %v", b, err)
	}
	if b, err := json.Marshal(Scopes(0)); err != nil || string(b) != `[]` {
		t.Errorf("JSON %s, %v", b, err)
	}
}

func TestPlans(t *testing.T) {
	for _, name := range PlanNames() {
		plan, err := ParsePlan(name)
		if err != nil {
			t.Fatal(err)
		}
		p := plan.Policy()
		if p.PolicyKey != name || p.PolicyDisplayName == "" || p.LightPerMinute < 120 || p.HeavyPerMinute < 30 || p.BatchPerMinute < 1 || p.Burst < 1 || p.MaxActiveKeys < 1 {
			t.Errorf("%s has policy %+v", name, p)
		}
	}
	if _, err := ParsePlan("gold"); err == nil {
		t.Error("an unknown plan was accepted")
	}
	own := Free.Policy().with(Limits{HeavyPerMinute: 7})
	if own.PolicyKey != "free_custom" || own.HeavyPerMinute != 7 || own.LightPerMinute != 120 {
		t.Errorf("own limits give %+v", own)
	}
}

// TestKeysWithoutTheirBeginning are hidden, and hashes are not.
func TestKeysWithoutTheirBeginning(t *testing.T) {
	const secret = "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vWxYz012"
	for text, want := range map[string]string{
		"/v1/SN_MAIN/live_" + secret: "/v1/SN_MAIN/live_…",
		"/" + secret + "/x":          "/…/x",
		"/v1/SN_MAIN/tx/0x049d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7": "/v1/SN_MAIN/tx/0x049d36570d4e46f48e99674bd3fcc84644ddd6b96f7c741b1562b82f9e004dc7",
	} {
		if got := Hide(text); got != want {
			t.Errorf("%s became %s", text, got)
		}
	}
}
