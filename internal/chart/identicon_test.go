package chart_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/chart"
	"chainexplorer/internal/web"
)

func address(n uint64) []byte {
	var key [32]byte
	binary.BigEndian.PutUint64(key[24:], n)
	return key[:]
}

// TestIdenticon: pictures are small, symmetric, the same each time, and differ where
// addresses do in one bit.
func TestIdenticon(t *testing.T) {
	seen, hues := map[string]int{}, map[string]int{}
	cells := regexp.MustCompile(`M(\d) (\d)h(\d)v1h-(\d)z`)
	for n := range uint64(2000) {
		html := string(chart.Identicon(address(n)))
		all, err := parse(html)
		if err != nil || len(html) > 500 || all[0].at["aria-hidden"] != "true" || html != string(chart.Identicon(address(n))) {
			t.Fatalf("%s, %d bytes, %v", html, len(html), err)
		}
		seen[html]++
		hues[all[0].at["class"]]++
		var grid [5][5]bool
		d := all[1].at["d"]
		if rest := cells.ReplaceAllString(d, ""); rest != "" {
			t.Fatalf("%s has %q", d, rest)
		}
		filled := 0
		for _, m := range cells.FindAllStringSubmatch(d, -1) {
			x, y, run := int(m[1][0]-'0'), int(m[2][0]-'0'), int(m[3][0]-'0')
			for i := range run {
				grid[y][x+i] = true
				filled++
			}
		}
		for y := range grid {
			for x := range grid[y] {
				if grid[y][x] != grid[y][4-x] {
					t.Fatalf("%s is not symmetric", d)
				}
			}
		}
		if filled < 5 || filled > 20 {
			t.Errorf("%d cells are filled", filled)
		}
		if svg := chart.IdenticonSVG(address(n)); !strings.Contains(svg, d) || !strings.Contains(svg, `xmlns="http://www.w3.org/2000/svg"`) {
			t.Errorf("another picture as a file: %s", svg)
		}
	}
	if len(seen) < 1950 || len(hues) != 12 {
		t.Errorf("2000 addresses have %d pictures in %d hues", len(seen), len(hues))
	}
	for class, n := range hues {
		if n < 100 || n > 250 {
			t.Errorf("%d of 2000 are %s", n, class)
		}
	}
}

// TestHues holds the style sheet's colours against the pictures', and both against the
// paper of either theme.
func TestHues(t *testing.T) {
	sheet := string(web.Style())
	papers := regexp.MustCompile(`--wash: (#[0-9a-f]{6})`).FindAllStringSubmatch(sheet, -1)
	if len(papers) != 2 {
		t.Fatalf("%v, want the colours of two themes", papers)
	}
	got := map[string]string{}
	class, fill := regexp.MustCompile(`hue\d+`), regexp.MustCompile(`fill="(#[0-9a-f]{6})"`)
	for n := range uint64(200) {
		got[class.FindString(string(chart.Identicon(address(n))))] = fill.FindStringSubmatch(chart.IdenticonSVG(address(n)))[1]
	}
	for class, colour := range got {
		if !strings.Contains(sheet, fmt.Sprintf(".%s { fill: %s; }", class, colour)) {
			t.Errorf("the style sheet does not give %s the colour %s", class, colour)
		}
		for _, paper := range papers {
			if c := contrast(t, colour, paper[1]); c < 3 {
				t.Errorf("%s on %s has a contrast of %.2f", colour, paper[1], c)
			}
		}
	}
}

// contrast is as WCAG 2 defines it.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	light := func(colour string) float64 {
		n, err := strconv.ParseUint(colour[1:], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, weight := range []float64{0.0722, 0.7152, 0.2126} {
			c := float64(n>>(8*i)&255) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	x, y := light(a)+0.05, light(b)+0.05
	return max(x, y) / min(x, y)
}

func BenchmarkIdenticon(b *testing.B) {
	key := address(42)
	for b.Loop() {
		chart.Identicon(key)
	}
}
