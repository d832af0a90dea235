package gateway_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"chainexplorer/internal/servertest"
)

// TestPackedBodies: one that weighs more than it says is refused before all of it was unpacked, which would take
// longer than anything else that can be asked for in as many bytes.
func TestPackedBodies(t *testing.T) {
	w := newWorld(t, 8)
	pack := func(level int, text string) string {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, level)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(z, text)
		z.Close() //nolint:errcheck // a buffer
		return b.String()
	}
	call := request("1", "starknet_blockNumber", "")
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = " \t\r\n"[rand.IntN(4)]
	}
	for name, c := range map[string]struct {
		body string
		want string
	}{
		"small":                         {pack(gzip.BestCompression, call), `"result":7`},
		"what cannot be made smaller":   {pack(gzip.NoCompression, string(noise)+call), `"result":7`},
		"in parts":                      {strings.Repeat(pack(gzip.BestSpeed, string(noise[:1<<10])), 100) + pack(gzip.BestSpeed, call), `"result":7`},
		"with a little of nothing":      {strings.Repeat(pack(gzip.BestSpeed, ""), 1000) + pack(gzip.BestSpeed, call), `"result":7`},
		"with a lot of nothing":         {strings.Repeat(pack(gzip.BestSpeed, ""), 10_000) + pack(gzip.BestSpeed, call), "larger as gzip than what it stands for"},
		"with a lot of nothing behind":  {pack(gzip.BestSpeed, call) + strings.Repeat(pack(gzip.BestSpeed, ""), 10_000), "larger as gzip than what it stands for"},
		"larger than a body may be":     {pack(gzip.BestCompression, strings.Repeat(" ", 9<<20)+call), "larger than 8388608 bytes"},
		"with a length that is not its": {strings.Replace(pack(gzip.BestSpeed, call), "\x00\x00\x00\x00", "\x00\x00\x00", 1), "is not, or was cut off"},
	} {
		if r := w.post(rpcPath, w.Key, c.body, "Content-Encoding", "gzip"); !strings.Contains(string(r.Plain()), c.want) {
			t.Errorf("%s: status %d: %.300s, want %s", name, r.StatusCode, r.Plain(), c.want)
		}
	}
}

// TestLongAnswersPassUntouched is about results and errors around the sizes from which
// they are sent in another way: by themselves, or compressed.
func TestLongAnswersPassUntouched(t *testing.T) {
	var said string
	w, _ := scriptedWorld(t, func(_ *http.Request, method string, _ json.RawMessage) (string, bool) {
		return said, method == "starknet_getStateUpdate"
	})
	body := request(`"\u0061"`, "starknet_getStateUpdate", `["latest"]`)
	for _, size := range []int{0, 16 << 10, 32<<10 - 9, 32<<10 - 8, 32 << 10, 300 << 10} {
		for _, said = range []string{
			`"result":{"a" : 1.50,"b":"` + strings.Repeat("x", size) + `"}`,
			`"error":{"code":24,"message":"\u0062` + strings.Repeat("y", size) + `", "data":1e1}`,
		} {
			want := `{"jsonrpc":"2.0","id":"\u0061",` + said + `}`
			for _, encoding := range []string{"identity", "gzip"} {
				r := w.post(rpcPath, w.Key, body, "Accept-Encoding", encoding)
				if got := string(r.Plain()); r.StatusCode != http.StatusOK || got != want {
					t.Errorf("%d bytes, %s: status %d, %d bytes %.80q…, want %d bytes %.80q…", size, encoding, r.StatusCode, len(got), got, len(want), want)
				}
				if encoding == "identity" && r.ContentLength != int64(len(want)) {
					t.Errorf("%d bytes: Content-Length %d, want %d", size, r.ContentLength, len(want))
				}
			}
		}
	}
}

// TestSmallBatchesAtOnce holds that a batch is given the memory that its methods can
// fill, and not that of the largest batch.
func TestSmallBatchesAtOnce(t *testing.T) {
	servertest.Watched(t)
	const batches = 24
	var mu sync.Mutex
	asked := map[string]bool{}
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	defer release()
	w, _ := scriptedWorld(t, func(r *http.Request, method string, params json.RawMessage) (string, bool) {
		if method != "starknet_getNonce" {
			return "", false
		}
		mu.Lock()
		if asked[string(params)] = true; len(asked) == batches {
			release() // nobody is answered before all have come this far
		}
		mu.Unlock()
		select {
		case <-held:
		case <-r.Context().Done():
		}
		return `"result":"0x1"`, true
	})
	var work sync.WaitGroup
	for i := range batches {
		work.Go(func() {
			r := w.post(rpcPath, w.Key, "["+request("1", "starknet_getNonce", fmt.Sprintf(`["latest","0x%x"]`, i))+"]")
			if want := `[{"jsonrpc":"2.0","id":1,"result":"0x1"}]`; string(r.Body) != want {
				t.Errorf("status %d: %s", r.StatusCode, r.Body)
				release()
			}
		})
	}
	work.Wait()
}
