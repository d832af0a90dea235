package strictjson

import (
	"errors"
	"strconv"
	"strings"
)

// maxSpelling is how long a number may be. The largest integer has 16 digits.
const maxSpelling = 64

var (
	errSpelling   = errors.New("it is spelled with more than 64 characters")
	errNegative   = errors.New("it is negative")
	errFractional = errors.New("it is not an integer")
	errRange      = errors.New("it is larger than 9007199254740991")
)

// integer reads a JSON number that is a whole one, without rounding: 12345, 12345.0,
// 12345e0, 1.2345e4 and 123450E-1 are the same. A minus is refused even before 0.
func integer(text string) (uint64, error) {
	if len(text) > maxSpelling {
		return 0, errSpelling
	}
	if strings.HasPrefix(text, "-") {
		return 0, errNegative
	}
	mantissa, power, exponential := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return 0, nil
	}
	exponent := 0
	if exponential {
		var err error
		if exponent, err = strconv.Atoi(power); err != nil || exponent > maxSpelling || exponent < -maxSpelling {
			// Of so few digits nothing whole and small enough is left.
			if strings.HasPrefix(power, "-") {
				return 0, errFractional
			}
			return 0, errRange
		}
	}
	shift := exponent - len(fraction) // by which the digits are to be moved
	for ; shift < 0; shift++ {
		if !strings.HasSuffix(digits, "0") {
			return 0, errFractional
		}
		digits = digits[:len(digits)-1]
	}
	digits += strings.Repeat("0", shift)
	if n, err := strconv.ParseUint(digits, 10, 64); err == nil && n <= MaxInteger {
		return n, nil
	}
	return 0, errRange
}
