package request

// IsKey says whether a text can be an idempotency key: 16 to 128 graphic ASCII characters
// without a space and a double quote.
func IsKey(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '"' {
			return false
		}
	}
	return len(s) >= 16 && len(s) <= 128
}
