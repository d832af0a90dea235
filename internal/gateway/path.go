package gateway

import (
	"net/http"
	"slices"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
)

// HideKeys takes a key out of a request's address before anybody sees it: no log,
// trace, metric or referrer of this process can then hold it. From there on it is in
// the header where keys are looked for; a caller that sent one there too has sent two.
func HideKeys(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/rpc/") {
			if path, key := cutKey(r.URL.Path); key != "" {
				w.Header().Set("Referrer-Policy", "no-referrer")
				r = withPath(r, path)
				r.Header = r.Header.Clone()
				r.Header.Add(kernel.HeaderKey, key)
			}
		}
		r = withoutStrayKeys(r)
		if p := r.URL.Path; strayKey(p) { // where no key belongs
			w.Header().Set("Referrer-Policy", "no-referrer")
			r = withPath(r, "/hidden")
		}
		next.ServeHTTP(w, r)
	})
}

// tracedHeaders are those that traces record.
var tracedHeaders = []string{"User-Agent", "X-Forwarded-For"}

// withoutStrayKeys takes keys out of the other parts of a request that traces record:
// somebody may have put one there.
func withoutStrayKeys(r *http.Request) *http.Request {
	stray := strayKey(r.Host) || strayKey(r.Method)
	for _, name := range tracedHeaders {
		stray = stray || slices.ContainsFunc(r.Header[name], strayKey)
	}
	if !stray {
		return r
	}
	clean := *r
	clean.Header = r.Header.Clone()
	for _, name := range tracedHeaders {
		if slices.ContainsFunc(r.Header[name], strayKey) {
			clean.Header.Del(name)
		}
	}
	if strayKey(r.Host) {
		clean.Host = ""
	}
	if strayKey(r.Method) {
		clean.Method = "HIDDEN"
	}
	return &clean
}

// strayKey is account.HoldsSecret for texts that hardly ever hold one, without a copy.
func strayKey(text string) bool {
	return account.HoldsConcealed(text) || (strings.Contains(text, "svc_") || strings.Contains(text, "SVC_") || strings.Contains(text, "ses.") || strings.Contains(text, "lnk.") || strings.Count(text, "-") >= 3) && account.HoldsSecret(text)
}

// withPath is a request for another address.
func withPath(r *http.Request, path string) *http.Request {
	other := *r
	at := *r.URL
	at.Path, at.RawPath = path, ""
	other.URL = &at
	other.RequestURI = at.RequestURI()
	return &other
}

// socket is the last segment of the addresses for WebSocket.
const socket = "ws"

// cutKey splits a key off an address of ours:
//
//	/v1/{chain}/rpc/KEY      /v1/{chain}/rpc/ws/KEY      and the same below /api
//	/rpc/{version}/{chain}/KEY    /rpc/{version}/{chain}/KEY/ws
func cutKey(path string) (rest, key string) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	at := 0
	if parts[0] == "api" {
		at = 1
	}
	switch {
	case len(parts) >= at+4 && parts[at] == "v1" && parts[at+2] == "rpc":
		at += 3
		if parts[at] == socket {
			at++
		}
	case len(parts) >= 4 && parts[0] == "rpc":
		at = 3
		if parts[at] == socket {
			at++
		}
	default:
		return path, ""
	}
	// Whatever stands there may be a key, or half of one: it is taken out.
	if at >= len(parts) || parts[at] == "" {
		return path, ""
	}
	key = parts[at]
	return "/" + strings.Join(slices.Delete(parts, at, at+1), "/"), key
}
