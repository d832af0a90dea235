package pages

import (
	"cmp"
	"encoding/hex"
	"net/http"
	"strings"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// A thing has one page. Hashes and addresses can be spelt with zeros in front and with
// capitals, and numbers of blocks with zeros, and whoever comes by another spelling is sent on for good, sub-pages and
// parameters included.

// respelt is the path of a request with its identifiers as they are spelt here; false when
// they are so already, or cannot be read, which the page will say.
func respelt(r *http.Request) (string, bool) {
	parts, changed := strings.Split(r.URL.EscapedPath(), "/"), false
	for i, part := range parts {
		if i > 0 && parts[i-1] == "block" && len(part) > 1 && part[0] == '0' && strings.Trim(part, "0123456789") == "" {
			parts[i], changed = cmp.Or(strings.TrimLeft(part, "0"), "0"), true
			continue
		}
		if !strings.HasPrefix(part, "0x") && !strings.HasPrefix(part, "0X") {
			continue
		}
		if right, ok := spelling(parts[i-1], part); ok && right != part {
			parts[i], changed = right, true
		}
	}
	if !changed {
		return "", false
	}
	to := strings.Join(parts, "/")
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	return to, true
}

// spelling is how an identifier of a kind is spelt. Hashes of messages have 256 bits, and all
// their digits.
func spelling(kind, text string) (string, bool) {
	if kind != "message" {
		f, err := felt.Parse(text)
		return f.String(), err == nil
	}
	digits := strings.ToLower(text[2:])
	if digits == "" || len(digits) > 64 {
		return "", false
	}
	digits = strings.Repeat("0", 64-len(digits)) + digits
	_, err := hex.DecodeString(digits)
	return "0x" + digits, err == nil
}

// sendOn leads to the one page of what was asked for, if that is another one.
func sendOn(w http.ResponseWriter, r *http.Request) bool {
	to, ok := respelt(r)
	if ok {
		kernel.Lead(w, http.StatusPermanentRedirect, to)
	}
	return ok
}
