package kernel

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
)

// maxNesting is deeper than any body of ours.
const maxNesting = 32

// tidyJSON refuses what a decoder would pass over, a name that is given twice, and
// writes whole numbers as such: 5.0 and 5e0 are 5.
func tidyJSON(in []byte) ([]byte, *Error) {
	dec := json.NewDecoder(bytes.NewReader(in))
	dec.UseNumber()
	var out bytes.Buffer
	out.Grow(len(in))
	if e := tidyValue(dec, &out, "body", 0); e != nil {
		return nil, e
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, Fail(CodeInvalidRequest, "body: something follows after its JSON.")
	}
	return out.Bytes(), nil
}

// tidyValue copies the next value; at is where it stands.
func tidyValue(dec *json.Decoder, out *bytes.Buffer, at string, depth int) *Error {
	token, err := dec.Token()
	if err != nil {
		return notJSON(dec, err)
	}
	if depth > maxNesting {
		return Fail(CodeInvalidRequest, "body: it is nested too deeply.")
	}
	switch v := token.(type) {
	case json.Delim:
		out.WriteByte(byte(v))
		if v == '{' {
			return tidyObject(dec, out, at, depth)
		}
		return tidyArray(dec, out, at, depth)
	case json.Number:
		if whole, ok := wholeNumber(v.String()); ok {
			out.WriteString(whole)
		} else {
			out.WriteString(v.String())
		}
	default: // a text, true, false, null
		text, err := json.Marshal(v)
		if err != nil {
			return Fail(CodeInvalidRequest, "%s: it cannot be read.", Clip(at, 80))
		}
		out.Write(text)
	}
	return nil
}

func tidyObject(dec *json.Decoder, out *bytes.Buffer, at string, depth int) *Error {
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return notJSON(dec, err)
		}
		field := at + "." + name
		if seen[name] {
			return Fail(CodeInvalidRequest, "%s: it is given twice.", Clip(field, 80))
		}
		if len(seen) > 0 {
			out.WriteByte(',')
		}
		seen[name] = true
		text, err := json.Marshal(name)
		if err != nil {
			return notJSON(dec, err)
		}
		out.Write(text)
		out.WriteByte(':')
		if e := tidyValue(dec, out, field, depth+1); e != nil {
			return e
		}
	}
	return tidyEnd(dec, out)
}

func tidyArray(dec *json.Decoder, out *bytes.Buffer, at string, depth int) *Error {
	for i := 0; dec.More(); i++ {
		if i > 0 {
			out.WriteByte(',')
		}
		if e := tidyValue(dec, out, at+"["+strconv.Itoa(i)+"]", depth+1); e != nil {
			return e
		}
	}
	return tidyEnd(dec, out)
}

func tidyEnd(dec *json.Decoder, out *bytes.Buffer) *Error {
	token, err := dec.Token()
	end, ok := token.(json.Delim)
	if err != nil || !ok {
		return notJSON(dec, err)
	}
	out.WriteByte(byte(end))
	return nil
}

func notJSON(dec *json.Decoder, err error) *Error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return Fail(CodeInvalidRequest, "body: it is not JSON: it ends too early.")
	}
	return Fail(CodeInvalidRequest, "body: it is not JSON, from byte %d on.", dec.InputOffset())
}

// maxExponent bounds the numbers that are written out: none of ours is larger.
const maxExponent = 40

// wholeNumber writes a decimal number without point and exponent, when it is a
// whole one: 5, 5.0, 50e-1 and 5E0 are all 5. It takes the grammar of JSON.
func wholeNumber(s string) (string, bool) {
	digits, sign := s, ""
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		digits, sign = rest, "-"
	}
	exponent := 0
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		n, err := strconv.Atoi(digits[i+1:])
		if err != nil || n < -maxExponent || n > maxExponent {
			return "", false
		}
		digits, exponent = digits[:i], n
	}
	whole, fraction, pointed := strings.Cut(digits, ".")
	if !allDigits(whole) || pointed && !allDigits(fraction) || len(whole) > 1 && whole[0] == '0' {
		return "", false
	}
	exponent -= len(fraction)
	digits = whole + fraction
	for ; exponent < 0; exponent++ {
		if digits[len(digits)-1] != '0' {
			return "", false
		}
		if digits = digits[:len(digits)-1]; digits == "" {
			digits = "0"
		}
	}
	digits = strings.TrimLeft(digits+strings.Repeat("0", exponent), "0")
	if digits == "" {
		return "0", true // also minus zero
	}
	return sign + digits, true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
