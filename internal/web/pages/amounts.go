package pages

import (
	"html/template"
	"math/big"
	"net/url"
	"strconv"
	"strings"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/markup"
)

func withQuery(path string, q url.Values) string {
	if text := q.Encode(); text != "" {
		return path + "?" + text
	}
	return path
}

// longAmount is how much of an amount fits a line of a telephone, with what stands beside it.
const longAmount = 26

// Amount is how much of a token: short in print, exact in the title and in data-value, which
// is in the token's smallest unit. Without decimals the smallest unit itself is shown.
// symbol comes from the chain.
func (l *look) Amount(raw any, decimals any, symbol any) template.HTML {
	units, ok := unitsOf(raw)
	if !ok {
		return l.Unknown("")
	}
	places, known := placesOf(decimals)
	var w markup.Writer
	writeAmount(&w, units, places, known)
	if text, ok := deref(symbol).(string); ok && text != "" {
		w.Put(" ")
		writeName(&w, text)
	} else if !known {
		w.Put(` <span class="soft">units</span>`)
	}
	return w.Done()
}

// writeAmount writes a number of units, which are digits; known says that it is known how
// many of them stand behind the point.
func writeAmount(w *markup.Writer, units string, places int, known bool) {
	short, exact := amountText(units, places)
	w.Put(`<span class="amount`)
	if len(short) > longAmount {
		w.Put(" long") // it may be broken between any digits
	}
	w.Put(`" data-value="`)
	w.Text(units)
	w.Put(`" title="`)
	w.Text(exact)
	if !known {
		w.Put(` in the smallest unit: how many decimals the token has is not known`)
	}
	w.Put(`">`)
	w.Text(short)
	w.Put(`</span>`)
}

// unitsOf spells an amount in the smallest unit, in decimal digits.
func unitsOf(raw any) (string, bool) {
	switch v := deref(raw).(type) {
	case string:
		if v == "" || len(v) > 100 || strings.Trim(v, "0123456789") != "" {
			return "", false
		}
		return v, true
	case *big.Int:
		if v != nil && v.Sign() >= 0 {
			return v.String(), true
		}
	case felt.Felt:
		return feltUnits(&v), true
	case *felt.Felt:
		if v != nil {
			return feltUnits(v), true
		}
	}
	return "", false
}

// feltUnits are the decimal digits of a felt.
func feltUnits(f *felt.Felt) string {
	if n, small := f.Uint64(); small {
		return strconv.FormatUint(n, 10)
	}
	return f.Big().String()
}

func placesOf(decimals any) (int, bool) {
	n, ok := whole(decimals)
	if !ok || n > 77 {
		return 0, false
	}
	return int(n), true
}

// amountText moves the point of a number of units. exact has all digits; short has at most
// four behind the point, cut and not rounded, and never shows something as nothing.
func amountText(units string, places int) (short, exact string) {
	front, back := pointed(units, places)
	front = grouped(front)
	if back == "" {
		return front, front
	}
	exact = front + "." + back
	kept := strings.TrimRight(back[:min(len(back), 4)], "0")
	switch {
	case kept == back:
		return exact, exact
	case kept == "" && front == "0":
		return "<0.0001", exact
	case kept == "":
		return front + "…", exact
	}
	return front + "." + kept + "…", exact
}

// pointed are the digits in front of the point and behind it, without zeros at the ends.
func pointed(units string, places int) (front, back string) {
	units = strings.TrimLeft(units, "0")
	if len(units) <= places {
		units = strings.Repeat("0", places-len(units)+1) + units
	}
	return units[:len(units)-places], strings.TrimRight(units[len(units)-places:], "0")
}

// decimal is an amount with all digits and nothing else, for programs; "" where it is not
// known, or not in what unit.
func decimal(raw, decimals any) string {
	units, ok := unitsOf(raw)
	places, known := placesOf(decimals)
	if !ok || !known {
		return ""
	}
	front, back := pointed(units, places)
	if back == "" {
		return front
	}
	return front + "." + back
}

// grouped puts separators between thousands.
func grouped(digits string) string {
	if len(digits) <= 3 {
		return digits
	}
	out := make([]byte, 0, len(digits)+len(digits)/3)
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out = append(out, ',')
		}
		out = append(out, digits[i])
	}
	return string(out)
}
