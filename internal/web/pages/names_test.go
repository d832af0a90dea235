package pages

import (
	"html"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
)

// hostile are names as somebody would choose them who wants to be taken for another, or to
// break the page.
var hostile = map[string]struct {
	shown string
	cut   bool
}{
	"STRK":                            {"STRK", false},
	"  STRK \t\n Token ":              {"STRK Token", true},
	"\u202eKRTS\u202c":                {"KRTS", true},
	"\u2066ST\u2069RK\u200f\u061c":    {"STRK", true},
	"S\u200bT\u200cR\u200dK\ufeff":    {"STRK", true},
	"S\u0336T\u0353R\u20ddK":          {"STRK", true},
	"ST\u00adRK":                      {"STRK", true},
	"STRK\x00\x1b[2J":                 {"STRK[2J", true},
	"\u3164\u115f\u1160\uffa0\u2800":  {"", true},
	"\xff\xfeSTRK\xc0":                {"STRK", true},
	"":                                {"", false},
	"\U000e0041\U000e0042STRK":        {"STRK", true},
	"<script>alert(1)</script>":       {"<script>alert(1)</script>", false},
	`"onload="x' & <b>`:               {`"onload="x' & <b>`, false},
	"猫の通貨":                            {"猫の通貨", false},
	strings.Repeat("W", 10<<10):       {strings.Repeat("W", longestName) + "…", true},
	strings.Repeat("\u0301", 10<<10):  {"", true},
	strings.Repeat(" ", 10<<10) + "S": {"", true},
}

func TestHostileNames(t *testing.T) {
	for name, want := range hostile {
		shown, cut := cleanName(name)
		if shown != want.shown || cut != want.cut {
			t.Errorf("%.30q is shown as %q, cut %t; want %q, %t", name, shown, cut, want.shown, want.cut)
		}
		checkName(t, name)
	}
}

// TestLookalikes: a token that is taken for a known one is marked wherever its symbol is
// shown, whatever it is spelled with, and the known one is not.
func TestLookalikes(t *testing.T) {
	strk := registry.Token{Address: felt.FromUint64(1), Symbol: "STRK", Name: "Starknet Token", Decimals: 18}
	known, err := registry.New(registry.Entries{Tokens: []registry.Token{strk}})
	if err != nil {
		t.Fatal(err)
	}
	l := &look{served: &api.Chain{Registry: known}, base: "/SN_MAIN"}
	for _, symbol := range []string{"STRK", "strk", "ЅТRК", "ＳＴＲＫ", "S\u200bTRK", "\u202eSTRK", "S\u0336TRK", "5TRK", "Starknet Тoken"} {
		marked := string(l.Symbol(felt.FromUint64(99), &symbol))
		if !strings.Contains(marked, ">lookalike</strong>") || !strings.Contains(marked, "which has the address 0x1.") {
			t.Errorf("%q is not marked: %s", symbol, marked)
		}
		// A link to the token has the same mark, and once.
		_, sign, _ := strings.Cut(marked, "</bdi>")
		sign = sign[strings.Index(sign, " <strong"):]
		if linked := string(l.Coin(l.coinOf(felt.FromUint64(99), &symbol, &symbol, nil))); !strings.HasSuffix(linked, sign) || strings.Count(linked, ">lookalike<") != 1 {
			t.Errorf("%q is marked as %s, and linked as %s", symbol, sign, linked)
		}
		if of := string(l.Symbol(strk.Address, &symbol)); strings.Contains(of, "lookalike") {
			t.Errorf("the known token is marked: %s", of)
		}
		// So has a line without markup, such as what a sharer shows of a page, or a chart.
		one, fake, genuine := big.NewInt(1), l.coinOf(felt.FromUint64(99), &symbol, nil, new(uint8)), l.coinOf(strk.Address, &symbol, nil, nil)
		if line := worthText(one, &fake); !strings.HasSuffix(line, " (lookalike)") {
			t.Errorf("%q is told as %s", symbol, line)
		}
		if line := worthText(one, &genuine); !strings.HasSuffix(line, " STRK") {
			t.Errorf("the known token is told as %s", line)
		}
	}
	for _, symbol := range []string{"STR", "KRTS", "DAI", "<b>"} {
		if out := string(l.Symbol(felt.FromUint64(99), symbol)); strings.Contains(out, "lookalike") || strings.Contains(out, "<b>") {
			t.Errorf("%q becomes %s", symbol, out)
		}
	}
}

var nameMarkup = regexp.MustCompile(`^(<bdi class="name">([^<>"]*)</bdi>(<abbr class="cut" title="[^"<>]*">\*</abbr>)?|<span class="unknown">no readable name</span>)$`)

// checkName holds what a name becomes against what no name may do.
func checkName(t *testing.T, name string) {
	t.Helper()
	out := string(nameHTML(name))
	m := nameMarkup.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("%.60q becomes %q", name, out)
	}
	text := html.UnescapeString(m[2])
	if utf8.RuneCountInString(text) > longestName+2 || len(out) > 600 || !utf8.ValidString(out) {
		t.Errorf("%.60q becomes %d bytes", name, len(out))
	}
	for _, r := range text {
		if unicode.Is(unicode.C, r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) || unicode.Is(unicode.Bidi_Control, r) || isFiller(r) {
			t.Errorf("%.60q is shown with %U", name, r)
		}
	}
	// What was left out is told.
	if told := m[3] != "" || m[2] == ""; !told && strings.Join(strings.Fields(name), " ") != text {
		t.Errorf("%.60q is shown as %q, and nothing says so", name, text)
	}
}

func FuzzName(f *testing.F) {
	for name := range hostile {
		f.Add(name)
	}
	f.Fuzz(checkName)
}

// FuzzAmount holds amounts against exact fractions: the exact text is the number, and the
// short one no more than it, by less than what it leaves out.
func FuzzAmount(f *testing.F) {
	for _, units := range []string{"0", "1", "9", "10", "999999", "1000000", "123456789012345678901234567890", "100010000", "00012", "340282366920938463463374607431768211456"} {
		for _, places := range []uint8{0, 1, 4, 5, 6, 18, 77} {
			f.Add(units, places)
		}
	}
	f.Fuzz(func(t *testing.T, units string, places uint8) {
		raw, ok := unitsOf(units)
		n, known := placesOf(uint64(places))
		if !ok || !known {
			return
		}
		want, _ := new(big.Rat).SetString(raw)
		want.Quo(want, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)))
		short, exact := amountText(raw, n)
		if got, ok := new(big.Rat).SetString(strings.ReplaceAll(exact, ",", "")); !ok || got.Cmp(want) != 0 {
			t.Fatalf("%s with %d decimals is written %s", raw, n, exact)
		}
		if got, ok := new(big.Rat).SetString(decimal(raw, uint64(places))); !ok || got.Cmp(want) != 0 {
			t.Fatalf("%s with %d decimals is %s for programs", raw, n, decimal(raw, uint64(places)))
		}
		if (short == "0") != (want.Sign() == 0) {
			t.Fatalf("%s with %d decimals is shown as %s", raw, n, short)
		}
		if short == "<0.0001" {
			if want.Cmp(big.NewRat(1, 10_000)) >= 0 {
				t.Fatalf("%s with %d decimals is shown as %s", raw, n, short)
			}
			return
		}
		digits, cut := strings.CutSuffix(short, "…")
		got, ok := new(big.Rat).SetString(strings.ReplaceAll(digits, ",", ""))
		if !ok {
			t.Fatalf("%s is no number", short)
		}
		if _, behind, _ := strings.Cut(digits, "."); len(behind) > 4 {
			t.Fatalf("%s with %d decimals is shown as %s, which is not short", raw, n, short)
		}
		rest := new(big.Rat).Sub(want, got)
		if rest.Sign() < 0 || rest.Cmp(big.NewRat(1, 10_000)) >= 0 || cut != (rest.Sign() > 0) {
			t.Fatalf("%s with %d decimals is shown as %s: %s is missing", raw, n, short, rest)
		}
	})
}

// TestKnownTokenInAFile: a known token is written in a file as on a page, by the registry: what its
// contract says of itself now does not get the word known beside it.
func TestKnownTokenInAFile(t *testing.T) {
	strk := registry.Token{Address: felt.FromUint64(1), Symbol: "STRK", Name: "Starknet Token", Decimals: 18}
	known, err := registry.New(registry.Entries{Tokens: []registry.Token{strk}})
	if err != nil {
		t.Fatal(err)
	}
	l := &look{served: &api.Chain{Registry: known}, base: "/SN_MAIN"}
	symbol, decimals, amount := "USDC", uint8(0), "1500000000000000000"
	for address, want := range map[uint64][4]string{1: {"STRK", "1.5", "18", "known"}, 2: {"USDC", amount, "0", "unknown"}} {
		row := l.transferRow(&api.TokenTransferItem{TokenSymbol: &symbol, TokenDecimals: &decimals, Standard: "erc20", Amount: &amount,
			FromAddress: new(felt.Felt), ToAddress: new(felt.Felt)}, felt.FromUint64(address), "")
		if got := [4]string{row[10], row[12], row[14], row[17]}; got != want {
			t.Errorf("0x%x is written as %q, want %q", address, got, want)
		}
	}
}
