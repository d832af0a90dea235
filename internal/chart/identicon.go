package chart

import (
	"html/template"
	"math/bits"
	"strconv"
)

// cells are on a side of an identicon. Its left half is mirrored.
const cells, half = 5, 3

// hues are the colours that the style sheet has as .hue0 and on. Each has a contrast of
// at least 3 on the paper of either theme, which is what pictures need.
var hues = [...]string{
	"#c2413b", "#b85410", "#96690a", "#6b7a12", "#3b8232", "#14846a",
	"#16808f", "#2b78b8", "#5a6ad0", "#8159c8", "#a94fb0", "#bd4583",
}

// Identicon is a small picture that helps the eye to tell addresses apart. It proves
// nothing: two addresses can have the same one. The same key has it always.
func Identicon(key []byte) template.HTML {
	n := mixed(key)
	b := make([]byte, 0, 320)
	b = append(b, `<svg class="ident hue`...)
	b = strconv.AppendUint(b, hue(n), 10)
	b = append(b, `" viewBox="0 0 5 5" aria-hidden="true">`...)
	b = appendCells(b, n)
	return template.HTML(append(b, `</svg>`...)) //nolint:gosec // digits and fixed text
}

// IdenticonSVG is the picture as a file of its own, with its colour.
func IdenticonSVG(key []byte) string {
	n := mixed(key)
	b := make([]byte, 0, 320)
	b = append(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 5 5" fill="`...)
	b = append(b, hues[hue(n)]...)
	b = append(b, `">`...)
	b = appendCells(b, n)
	return string(append(b, `</svg>`...))
}

func hue(n uint64) uint64 { return (n >> 32) % uint64(len(hues)) }

// mixed makes a number of a key, of whose lower bits neither few nor all are set: a
// picture of nothing helps nobody.
func mixed(key []byte) uint64 {
	n := uint64(14695981039346656037) // FNV-1a
	for _, c := range key {
		n = (n ^ uint64(c)) * 1099511628211
	}
	for {
		// The finish of SplitMix64: keys that differ in a bit differ in half of it.
		n += 0x9e3779b97f4a7c15
		n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
		n = (n ^ n>>27) * 0x94d049bb133111eb
		n ^= n >> 31
		if set := bits.OnesCount64(n & (1<<(half*cells) - 1)); set >= 5 && set <= 10 {
			return n
		}
	}
}

// appendCells draws one path, of a rectangle for every run of cells in a row.
func appendCells(b []byte, n uint64) []byte {
	b = append(b, `<path shape-rendering="crispEdges" d="`...)
	for y := range cells {
		row := n >> (half * y)
		for x := 0; x < cells; x++ {
			run := 0
			for x+run < cells && row>>min(x+run, cells-1-x-run)&1 == 1 {
				run++
			}
			if run > 0 {
				b = append(b, 'M', '0'+byte(x), ' ', '0'+byte(y), 'h', '0'+byte(run), 'v', '1', 'h', '-', '0'+byte(run), 'z')
				x += run
			}
		}
	}
	return append(b, `"/>`...)
}

// IdenticonCells are those of the picture that are filled, by rows, for who draws it
// otherwise.
func IdenticonCells(key []byte) (out [cells][cells]bool) {
	n := mixed(key)
	for y := range cells {
		for x := range cells {
			out[y][x] = n>>(half*y)>>min(x, cells-1-x)&1 == 1
		}
	}
	return out
}
