package account

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Origins are the web origins from which a key may be used, separated by spaces; none
// are all. They keep pages of others from using a key that stands in a page. A program
// can send any origin, or none: against programs they are no protection.
type Origins string

const (
	maxOrigins   = 20
	maxOriginLen = 256
)

// ParseOrigins wants a scheme and a host each, as browsers send them.
func ParseOrigins(list []string) (Origins, error) {
	bad := func(format string, args ...any) (Origins, error) {
		return "", &InvalidError{"origin", fmt.Sprintf(format, args...)}
	}
	if len(list) > maxOrigins {
		return bad("a key may have %d at most", maxOrigins)
	}
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	for _, o := range list {
		u, err := url.Parse(o)
		if err != nil || len(o) > maxOriginLen || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.Scheme+"://"+u.Host != o || strings.ToLower(o) != o || !plainHost(u.Host) || u.Port() == ports[u.Scheme] {
			return bad("%.80q: want a scheme and a host as browsers send them, in small ASCII letters, without a usual port, such as https://explorer.example", o)
		}
	}
	return Origins(strings.Join(list, " ")), nil
}

// ports are those that browsers leave out.
var ports = map[string]string{"http": "80", "https": "443"}

// plainHost refuses what no browser sends as a host: wildcards, and letters that are
// sent as punycode.
func plainHost(host string) bool {
	return !strings.HasSuffix(host, ":") && !strings.ContainsFunc(host, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune(".-:[]", r)
	})
}

// List is the origins one by one.
func (o Origins) List() []string { return strings.Fields(string(o)) }

// Allows says whether a request with an Origin header may use the key.
func (o Origins) Allows(origin string) bool {
	if o == "" {
		return true
	}
	for one := range strings.SplitSeq(string(o), " ") {
		if one == origin {
			return true
		}
	}
	return false
}

// MarshalJSON gives an array.
func (o Origins) MarshalJSON() ([]byte, error) { return json.Marshal(append([]string{}, o.List()...)) }
