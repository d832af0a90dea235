package submission_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"chainexplorer/internal/verification/submission"
)

// base is a package as a client writes it, field by field.
func base() map[string]string {
	return map[string]string{
		"selectedClassHash": `"0x123abc"`, "uploadDigest": `"sha256:` + strings.Repeat("1a", 32) + `"`, "uploadByteLength": "12345", "toolchainPolicyId": `"service-exact-v25"`,
		"packageName": `"counter"`, "buildProfile": `"release"`, "targetName": `"counter"`, "targetKind": `"starknet-contract"`, "artifactId": `"counter_Counter"`,
		"modulePath": `"counter::counter::Counter"`, "sourceVisibility": `"private"`, "retentionPolicyId": `"private-24h-v1"`,
	}
}

func text(fields map[string]string) []byte {
	var members []string
	for name, value := range fields { // in any order
		members = append(members, fmt.Sprintf("%q: %s", name, value))
	}
	return []byte("{" + strings.Join(members, ", ") + "}")
}

func with(name, value string) []byte {
	fields := base()
	fields[name] = value
	return text(fields)
}

func digest(t *testing.T, data []byte) string {
	t.Helper()
	p, err := submission.Parse(data)
	if err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	d, err := p.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSpellingsAreOnePackage(t *testing.T) {
	want := digest(t, text(base()))
	for _, n := range []string{"12345.0", "12345e0", "1.2345e4", "12345E+0", "123450e-1", "12345.00000"} {
		if digest(t, with("uploadByteLength", n)) != want {
			t.Errorf("%s is another package", n)
		}
	}
	for _, h := range []string{`"0x0000123abc"`, `"0x123ABC"`, `"0X123abc"`, `"\u0030x123abc"`} {
		if digest(t, with("selectedClassHash", h)) != want {
			t.Errorf("%s is another package", h)
		}
	}
	p, err := submission.Parse(with("uploadByteLength", "1.2345e4"))
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := p.Canonical()
	form := `{"artifactId":"counter_Counter","buildProfile":"release","modulePath":"counter::counter::Counter","packageName":"counter","retentionPolicyId":"private-24h-v1",` +
		`"selectedClassHash":"0x123abc","sourceVisibility":"private","targetKind":"starknet-contract","targetName":"counter","toolchainPolicyId":"service-exact-v25",` +
		`"uploadByteLength":12345,"uploadDigest":"sha256:` + strings.Repeat("1a", 32) + `"}`
	if err != nil || string(canonical) != form {
		t.Errorf("%s (%v)\nand not\n%s", canonical, err, form)
	}
	if plain, err := json.Marshal(p); err != nil || digest(t, plain) != want {
		t.Errorf("what is written, %s, is another package (%v)", plain, err)
	}
}

// TestEveryFieldCounts: packages that differ in one field are different requests.
func TestEveryFieldCounts(t *testing.T) {
	seen := map[string]string{digest(t, text(base())): "the base"}
	for name, value := range map[string]string{
		"selectedClassHash": `"0x123abd"`, "uploadDigest": `"sha256:` + strings.Repeat("1b", 32) + `"`, "uploadByteLength": "12346", "packageName": `"counter2"`,
		"targetName": `"counter2"`, "artifactId": `"counter2"`, "modulePath": `"counter::Counter"`, "retentionPolicyId": `"private-7d-v1"`,
	} {
		d := digest(t, with(name, value))
		if seen[d] != "" {
			t.Errorf("another %s is the same package as %s", name, seen[d])
		}
		seen[d] = name
	}
	public := base()
	public["sourceVisibility"], public["retentionPolicyId"] = `"public"`, `"public-30d-v1"`
	if d := digest(t, text(public)); seen[d] != "" {
		t.Error("a public package is the same as", seen[d])
	}
}

func TestWhatIsNoPackage(t *testing.T) {
	type bad struct {
		field, value string
		code         submission.Code
	}
	var all []bad
	add := func(field string, values ...string) {
		for _, v := range values {
			all = append(all, bad{field, v, submission.Invalid})
		}
	}
	for name := range base() {
		add(name, "null", "true", "[]", "{}", `""`, `"\n"`, `"a b"`, `"`+strings.Repeat("x", 300)+`"`)
		if name != "uploadByteLength" {
			add(name, "1", `["x"]`)
		}
	}
	add("uploadByteLength", "0", "-1", "-0", "1.5", "10485761", "1e99", "12345.5", `"12345"`, "1e-3", "9007199254740993")
	add("selectedClassHash", `"0x0"`, `"0x"`, `"123"`, `"0xg"`, `"0x800000000000011000000000000000000000000000000000000000000000001"`, `"0x`+strings.Repeat("1", 65)+`"`)
	add("uploadDigest", `"`+strings.Repeat("1a", 32)+`"`, `"sha256:`+strings.Repeat("1A", 32)+`"`, `"sha256:`+strings.Repeat("1", 63)+`"`, `"sha512:`+strings.Repeat("1a", 32)+`"`)
	add("packageName", `"1a"`, `"a-b"`, `"a/b"`, `"../a"`, `"caf\u00e9"`, `"a\u0000"`)
	add("targetName", `"-a"`, `".a"`, `"a/b"`, `"a\\b"`)
	add("artifactId", `"-a"`, `"a/b"`, `"--x"`)
	add("modulePath", `"a:b"`, `"a::"`, `"::a"`, `"a::::b"`, `"a.b"`, `"a::1"`, `"`+strings.Repeat("a::", 40)+`a"`)
	add("buildProfile", `"dev"`, `"Release"`)
	add("targetKind", `"lib"`, `"contract"`)
	add("sourceVisibility", `"Private"`, `"public"`, `"secret"`) // public with a private policy
	add("retentionPolicyId", `"public-30d-v1"`, `"private-24h-v2"`, `"forever"`)
	for i, b := range all {
		if b.field == "toolchainPolicyId" && strings.HasPrefix(b.value, `"`) {
			all[i].code = submission.UnsupportedPolicy
		}
	}
	for _, v := range []string{`"service-exact-v24"`, `"service-exact-v26"`, `"SERVICE-EXACT-V25"`} {
		all = append(all, bad{"toolchainPolicyId", v, submission.UnsupportedPolicy})
	}
	for _, b := range all {
		p, err := submission.Parse(with(b.field, b.value))
		var refused *submission.Error
		if !errors.As(err, &refused) || refused.Code != b.code || refused.Field != b.field && refused.Field != "retentionPolicyId" {
			t.Errorf("%s %.40s: %v, %v", b.field, b.value, p, err)
		}
	}
}

func TestTwelveFieldsAndNoOther(t *testing.T) {
	check := func(name string, data []byte, field string) {
		t.Helper()
		p, err := submission.Parse(data)
		var refused *submission.Error
		if !errors.As(err, &refused) || refused.Code != submission.Invalid || refused.Field != field {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	for name := range base() {
		fields := base()
		delete(fields, name)
		check("without "+name, text(fields), name)
		twice := strings.Replace(string(text(base())), "{", fmt.Sprintf("{%q: %s, ", name, base()[name]), 1)
		check(name+" twice", []byte(twice), name)
	}
	for _, name := range []string{"chainId", "source", "fileName", "idempotencyKey", "PackageName"} {
		check("with "+name, with(name, `"x"`), name)
	}
	for name, data := range map[string]string{"nothing": "", "an array": "[]", "text behind": string(text(base())) + "x", "too long": string(text(base())) + strings.Repeat(" ", submission.MaxBytes)} {
		check(name, []byte(data), "")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(text(base()))
	f.Add(with("uploadByteLength", "1.2345e4"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := submission.Parse(data)
		if err != nil {
			var refused *submission.Error
			if !errors.As(err, &refused) {
				t.Errorf("no refusal: %v", err)
			}
			return
		}
		canonical, err := p.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		again, err := submission.Parse(canonical)
		if err != nil || *again != *p {
			t.Errorf("%s is read as %+v (%v)", canonical, again, err)
		}
	})
}
