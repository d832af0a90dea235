package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxDigits is as long as an amount may be: the largest of 256 bits has 78.
const maxDigits = 120

// notKnown is what stands where a value would.
const notKnown = "not known"

// heightOf reads an exact decimal. An empty one is not known, which is not a number.
func heightOf(value string) (float64, error) {
	if value == "" {
		return math.NaN(), nil
	}
	whole, part, dotted := strings.Cut(value, ".")
	if len(value) > maxDigits || whole == "" || dotted && part == "" || strings.Trim(whole+part, "0123456789") != "" {
		return 0, fmt.Errorf("chart: %.40q is no decimal number of zero or more", value)
	}
	f, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0, fmt.Errorf("chart: value: %w", err)
	}
	return f, nil
}

// exact writes a value for people, with all of its digits.
func exact(value, unit string) string {
	switch {
	case value == "":
		return notKnown
	case unit == "":
		return grouped(value)
	}
	return grouped(value) + " " + unit
}

// grouped puts separators into a decimal, such as 1,234,567.89.
func grouped(value string) string {
	whole, part, dotted := strings.Cut(value, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dotted {
		return whole + "." + part
	}
	return whole
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 32) }

// coordinate is a place in a drawing of a thousand by a thousand.
func coordinate(f float64) string { return strconv.FormatFloat(math.Round(f*100)/100, 'f', -1, 64) }

// Ceiling is the smallest round and even number that is no less than n, and at least 2:
// its half is a whole number, too.
func Ceiling(n int64) int64 {
	for unit := int64(1); ; unit *= 10 {
		for _, step := range []int64{2, 4, 6, 8, 10} {
			if step*unit >= n {
				return step * unit
			}
		}
		if unit > 1e17 {
			return n
		}
	}
}

// ceiling is the smallest round number that is no less than f; 1 when f is nothing.
func ceiling(f float64) float64 {
	if f <= 0 {
		return 1
	}
	exponent := int(math.Floor(math.Log10(f)))
	for _, step := range []float64{1, 2, 4, 6, 8, 10} {
		// Written and read, so that it is the number that people read.
		top, err := strconv.ParseFloat(fmt.Sprintf("%ge%d", step, exponent), 64)
		if err == nil && top >= f {
			return top
		}
	}
	return f
}

// Short writes a round number in little room.
func Short(n int64) string {
	for _, s := range []struct {
		unit int64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= s.unit && n%(s.unit/10) == 0 {
			return strconv.FormatFloat(float64(n)/float64(s.unit), 'f', -1, 64) + s.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// short writes a round number that need not be whole.
func short(f float64) string {
	switch {
	case f == 0 || f >= 1e-12 && f < 1000: // below that a decimal has more zeros than anybody counts
		return strconv.FormatFloat(f, 'f', -1, 64)
	case f >= 1000 && f < 1e12:
		return Short(int64(f))
	}
	return strings.ReplaceAll(strings.ReplaceAll(strconv.FormatFloat(f, 'e', -1, 64), "e+", "e"), "e-0", "e-")
}
