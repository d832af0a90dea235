package api_test

import (
	"encoding/json"
	"math/big"
	"net/http"
	"net/url"
	"regexp"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/kernel"
)

// toldNumber is the block that a refusal names.
var toldNumber = regexp.MustCompile(`^(?:Block (\d+) is not indexed|The contract 0x1234 did not exist at block (\d+)\.)`)

// FuzzBlockRef: a reference that is taken for a number is that number.
func FuzzBlockRef(f *testing.F) {
	for _, s := range []string{"0", "00", "latest", "0x", "0x1", "9223372036854775807", "9223372036854775808", "-1", "１", "5.0", "50e-1", "5e0", "5.5", "-0", "300e-1", "1e4000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1 && (s[:2] == "0x" || s[:2] == "0X") || s == "latest" || s == "" {
			return // these are no numbers
		}
		w := sharedWorld(t, 30)
		r := w.Do(http.MethodGet, "/v1/"+chainID+"/contract/0x1234/entrypoints?block_tag="+url.QueryEscape(s), w.Key)
		switch r.StatusCode {
		case http.StatusTooManyRequests:
		case http.StatusBadRequest:
			if e := r.Envelope(); e.Code != kernel.CodeInvalidRequest {
				t.Fatalf("%q: %s", s, r.Body)
			}
		default:
			m := toldNumber.FindStringSubmatch(r.Envelope().Message)
			if r.StatusCode != http.StatusNotFound || m == nil {
				t.Fatalf("%q: %d %s", s, r.StatusCode, r.Body)
			}
			n, _ := new(big.Rat).SetString(m[1] + m[2])
			if same, ok := new(big.Rat).SetString(s); !ok || same.Cmp(n) != 0 {
				t.Fatalf("%q became %s", s, n)
			}
		}
	})
}

// FuzzBlockAtTimestamp: the block at or after a moment is not before it, and the one
// before that block is.
func FuzzBlockAtTimestamp(f *testing.F) {
	for _, after := range []time.Duration{0, 1, -1, time.Second / 2, time.Second - 1, time.Second, -time.Second / 2, 1000 * time.Hour, -1000 * time.Hour} {
		f.Add(uint8(7), int64(after))
	}
	f.Fuzz(func(t *testing.T, number uint8, after int64) {
		w := sharedWorld(t, 30)
		head, _ := w.Chain.Head()
		at := time.Unix(int64(w.Chain.BlockAt(uint64(number)%(head+1)).Timestamp), after)
		if at.Unix() < 0 || at.Year() > 9999 {
			return
		}
		r := w.Do(http.MethodGet, "/v1/"+chainID+"/block-at-timestamp?closest=after&timestamp="+url.QueryEscape(at.UTC().Format(time.RFC3339Nano)), w.Key)
		var found api.BlockAtTimestamp
		next := head + 1 // none
		switch r.StatusCode {
		case http.StatusTooManyRequests:
			return
		case http.StatusNotFound:
		case http.StatusOK:
			if err := json.Unmarshal(r.Body, &found); err != nil {
				t.Fatal(err)
			}
			next = found.Block.BlockNumber
			if asked := at.UTC().Format(time.RFC3339Nano); found.Query.TimestampISO != asked {
				t.Fatalf("%s was asked, and %s answered", asked, found.Query.TimestampISO)
			}
			if time.Unix(int64(found.Block.TimestampUnix), 0).Before(at) {
				t.Fatalf("block %d of %d is before %s", next, found.Block.TimestampUnix, at)
			}
		default:
			t.Fatalf("%s: %d %s", at, r.StatusCode, r.Body)
		}
		if next > 0 {
			if before := w.Chain.BlockAt(next - 1).Timestamp; !time.Unix(int64(before), 0).Before(at) {
				t.Fatalf("block %d of %d is not before %s, and %d was found", next-1, before, at, next)
			}
		}
	})
}
