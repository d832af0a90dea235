package felt

// Scan reads a felt that stands in a text between quotes, its 0x at the given place, and
// returns the number of bytes up to the closing quote: for decoders that read millions. It
// returns zero when there is none, and also where it does not look: near the beginning and the
// end of the text, and on processors that cannot read all digits at once. Then ParseInto has
// the last word, and f is undefined.
func Scan(f *Felt, text []byte, at int) int {
	if !vectors || at < 2*Size || len(text)-at < 2+2*Size+1 || text[at] != '0' || text[at+1]|0x20 != 'x' {
		return 0
	}
	n := scanHex(f, &text[at+2])
	if n <= 0 || text[at+2+n] != '"' || !f.valid() {
		return 0
	}
	return 2 + n
}
