package pages_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/servertest"
)

// file fetches a file: its rows below the heads, and its last row.
func (w *world) file(path string) (rows [][]string, trailer string) {
	w.T.Helper()
	r := w.Do(http.MethodGet, path, "")
	if r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/csv") || r.Header.Get("Cache-Control") != "private, no-store" {
		w.T.Fatalf("%s: %d %v\n%s", path, r.StatusCode, r.Header, clip(string(r.Body)))
	}
	read := csv.NewReader(strings.NewReader(string(r.Body)))
	read.FieldsPerRecord = -1
	all, err := read.ReadAll()
	if err != nil || len(all) < 2 || len(all[len(all)-1]) != 1 {
		w.T.Fatalf("%s: %v\n%s", path, err, clip(string(r.Body)))
	}
	return all[1 : len(all)-1], all[len(all)-1][0]
}

// allTransfers reads a list of the API to its end.
func (w *world) allTransfers(path string) (out []api.TransferItem) {
	w.T.Helper()
	for cursor, pages := "", 0; ; w.onwards(&pages) {
		var page api.TransferPage
		w.Get(path+cursor, &page)
		out = append(out, page.Items...)
		if page.NextCursor == nil {
			return out
		}
		join := "?"
		if strings.Contains(path, "?") {
			join = "&"
		}
		cursor = join + "cursor=" + *page.NextCursor
	}
}

// TestTransfersFile holds the file of a busy address against the list of the API, whole and
// in parts, each of which says where the next begins.
func TestTransfersFile(t *testing.T) {
	w := sharedWorld(t, 40)
	busy := w.busiest()
	for _, filter := range []string{"", "?direction=in", "?direction=out&from_block=&to_block=20"} {
		want := w.allTransfers("/address/" + busy + "/transfers" + strings.ReplaceAll(filter, "from_block=&", ""))
		rows, trailer := w.file("/" + chainID + "/address/" + busy + "/transfers.csv" + filter)
		if len(rows) != len(want) || len(rows) == 0 || !strings.HasPrefix(trailer, "# complete: ") {
			t.Fatalf("%s: %d rows of %d, and %q", filter, len(rows), len(want), trailer)
		}
		for i, item := range want {
			row, way := rows[i], "out"
			if item.ToAddress.String() == busy {
				way = "in"
			}
			if *item.FromAddress == *item.ToAddress {
				way = "self"
			}
			raw := ""
			if item.RawValue != nil {
				raw = *item.RawValue
			}
			status := "unknown"
			if _, known := w.Registry.Token(item.TokenAddress); known {
				status = "known"
			} else if item.TokenSymbol != nil && w.Registry.Imitated(*item.TokenSymbol) || item.TokenName != nil && w.Registry.Imitated(*item.TokenName) {
				status = "lookalike"
			}
			if row[17] != status || row[2] != item.TxHash.String() || row[1] != *item.TimestampISO || row[6] != way || row[7] != item.FromAddress.String() || row[8] != item.ToAddress.String() || row[9] != item.TokenAddress.String() || row[13] != raw {
				t.Fatalf("%s: row %d is %q, want %+v", filter, i, row, item)
			}
		}
		var parts [][]string
		for path := "/" + chainID + "/address/" + busy + "/transfers.csv" + filter; path != ""; {
			some, end := w.file(withRows(path))
			if len(some) > 7 {
				t.Fatalf("%d rows where 7 were asked for", len(some))
			}
			if parts = append(parts, some...); len(some) == 0 || len(parts) > len(rows) {
				t.Fatalf("%s: %d rows after a part of %d, and the whole has %d", path, len(parts), len(some), len(rows))
			}
			_, path, _ = strings.Cut(end, "go on at ")
		}
		if !slices.EqualFunc(parts, rows, slices.Equal) {
			t.Errorf("%s: the parts have %d rows and are not the whole of %d", filter, len(parts), len(rows))
		}
	}
}

// withRows asks for a short file.
func withRows(path string) string {
	if strings.Contains(path, "?") {
		return path + "&rows=7"
	}
	return path + "?rows=7"
}

// busiest is the account with the most transfers.
func (w *world) busiest() string {
	w.T.Helper()
	best, most := "", uint64(0)
	for _, a := range w.Chain.Accounts(20) {
		var s api.AddressSummary
		if w.Get("/address/"+a.String(), &s); *s.TransferCount > most {
			best, most = a.String(), *s.TransferCount
		}
	}
	return best
}

// TestFileRefused: what is wrong is told before the file begins, to a person.
func TestFileRefused(t *testing.T) {
	w := sharedWorld(t, 40)
	a := w.busiest()
	for _, path := range []string{"/address/x/transfers.csv", "/address/" + a + "/transfers.csv?rows=0", "/address/" + a + "/transfers.csv?rows=10001", "/address/" + a + "/transfers.csv?limit=10001", "/address/" + a + "/transfers.csv?limit=0", "/address/" + a + "/transfers.csv?direction=up",
		"/address/" + a + "/transfers.csv?cursor=x", "/token/x/transfers.csv", "/token/" + a + "/transfers.csv?whatever=1", "/token/" + a + "/transfers.csv?rows=-1"} {
		w.look("/"+chainID+path, http.StatusBadRequest)
	}
	// Whatever widens a file without being understood is refused, by every file.
	for _, file := range []string{"/address/" + a + "/transfers.csv?", "/token/" + w.movedToken() + "/transfers.csv?", "/events.csv?event=Transfer&", "/contract/" + w.movedToken() + "/events.csv?event=Transfer&"} {
		w.file("/" + chainID + file + "from_block=4&to_block=5")
		wrong := []string{"from=4&to=5", "from_block=4&from_block=5", "From_block=4", "fromBlock=4", "=4", "as=json", "cursor=&cursor="}
		if strings.Contains(file, "events.csv") {
			wrong = append(wrong, "key0=1", "key16=1", "key01=1", "key=1", "key1=1&key1=2")
		}
		for _, q := range wrong {
			if page := w.look("/"+chainID+file+q, http.StatusBadRequest); strings.Contains(page, "<table") {
				t.Errorf("%s%s is refused with rows", file, q)
			}
		}
	}
	// Nothing complete can be said of what is not there; an address is there without a history.
	for _, path := range []string{"/token/0xdeadbeef/transfers", "/contract/0xdeadbeef/events"} {
		w.look("/"+chainID+path, http.StatusNotFound)
		w.look("/"+chainID+path+".csv", http.StatusNotFound)
	}
	if rows, end := w.file("/" + chainID + "/address/0xdeadbeef/transfers.csv"); len(rows) != 0 || !strings.HasPrefix(end, "# complete: 0 rows as of block ") {
		t.Errorf("an address without a history: %v %s", rows, end)
	}
	if r := w.Do(http.MethodHead, "/"+chainID+"/address/"+a+"/transfers.csv", ""); r.StatusCode != http.StatusOK || len(r.Body) != 0 {
		t.Errorf("HEAD: %d with %d bytes", r.StatusCode, len(r.Body))
	}
}

// movedToken is a token that the chain has shown.
func (w *world) movedToken() string {
	w.T.Helper()
	list := w.allTransfers("/address/" + w.busiest() + "/transfers?limit=5")
	if len(list) == 0 {
		w.T.Fatal("nothing moved")
	}
	return list[0].TokenAddress.String()
}

// TestFilesTellTheirBlock: every file names the block that it is as of, whole or cut, and its
// rows say how far they are final.
func TestFilesTellTheirBlock(t *testing.T) {
	w := sharedWorld(t, 40)
	var head api.Block
	w.Get("/block/latest", &head)
	at := fmt.Sprintf(" rows as of block %d %s", head.BlockNumber, head.BlockHash)
	token := w.movedToken()
	for _, path := range []string{"/address/" + w.busiest() + "/transfers.csv?", "/address/" + w.busiest() + "/transfers.csv?order=asc&", "/token/" + token + "/transfers.csv?", "/events.csv?event=Transfer&", "/events.csv?event=Transfer&order=asc&", "/contract/" + token + "/events.csv?"} {
		rows, whole := w.file("/" + chainID + path)
		if want := fmt.Sprintf("# complete: %d%s", len(rows), at); whole != want {
			t.Errorf("%s ends with %q, want %q", path, whole, want)
		}
		if _, cut := w.file("/" + chainID + path + "rows=1"); !strings.HasPrefix(cut, "# cut after 1"+at+": there are more; go on at ") {
			t.Errorf("%s is cut with %q", path, cut)
		}
	}
	r := w.Do(http.MethodGet, "/"+chainID+"/events.csv?event=Transfer", "")
	names, _, _ := strings.Cut(string(r.Plain()), "\n")
	rows, _ := w.file("/" + chainID + "/events.csv?event=Transfer")
	tiers := map[string]int{}
	for _, row := range rows {
		tiers[row[len(row)-1]]++
	}
	if !strings.HasSuffix(names, ",tier") || tiers["head"]+tiers["finalized"] != len(rows) || len(rows) == 0 || tiers["finalized"] == 0 {
		t.Errorf("the columns %s with tiers %v", names, tiers)
	}
}

// TestFilesCost: files take more of what an address may ask than pages do, and one address
// has few of them at once.
func TestFilesCost(t *testing.T) {
	w := &world{servertest.New(t, 20, func(o *servertest.Options) { o.AnonymousPerMinute = 800 })}
	path := "/" + chainID + "/address/" + w.Chain.Accounts(10)[0].String() + "/transfers.csv"
	answered := 0
	for ; answered < 20; answered++ {
		r := w.Do(http.MethodGet, path, "")
		if r.StatusCode == http.StatusTooManyRequests && r.Header.Get("Retry-After") != "" {
			break
		}
	}
	if answered != 4 { // a burst is a quarter of a minute's
		t.Errorf("%d files out of an allowance of 200 pages", answered)
	}
}

// TestFilesAtOnce: whoever has as many files on the way as an address may have is refused
// another until one ends, and one whose client is gone ends.
func TestFilesAtOnce(t *testing.T) {
	w := servertest.New(t, 10)
	begun, done := make(chan struct{}), make(chan struct{}, 2)
	w.Server.HandleFile(kernel.File{ID: "test", Pattern: "GET /slow.csv", Time: time.Minute,
		Make: func(_ http.ResponseWriter, r *http.Request) error {
			if r.URL.RawQuery == "quick" {
				return nil
			}
			begun <- struct{}{}
			<-r.Context().Done()
			done <- struct{}{}
			return r.Context().Err()
		},
		Refuse: func(w http.ResponseWriter, r *http.Request, e *kernel.Error) {
			kernel.SendError(w, r, e, kernel.RecordOf(w).ID, nil)
		},
	})
	ctx, leave := context.WithCancel(t.Context())
	for range 2 {
		go func() {
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, w.URL+"/slow.csv", nil)
			if r, err := servertest.Transport.RoundTrip(req); err == nil {
				r.Body.Close() //nolint:errcheck // nothing was sent
			}
		}()
		<-begun
	}
	if r := w.Do(http.MethodGet, "/slow.csv", ""); r.StatusCode != http.StatusTooManyRequests || !strings.Contains(string(r.Body), "Your address has 2 requests") {
		t.Errorf("a third: %d %s", r.StatusCode, r.Body)
	}
	leave()
	<-done
	<-done
	// Their seats are free again, as soon as the server has seen that they left.
	for end := time.Now().Add(time.Minute); ; {
		if r := w.Do(http.MethodGet, "/slow.csv?quick", ""); r.StatusCode == http.StatusOK {
			break
		} else if r.StatusCode != http.StatusTooManyRequests || time.Now().After(end) {
			t.Fatalf("after both have left: %d %s", r.StatusCode, r.Body)
		}
	}
}

// TestFileBrokenOff: who hangs up in the middle of a file gets the seat back that it had.
func TestFileBrokenOff(t *testing.T) {
	w := &world{servertest.New(t, 30)}
	path := w.URL + "/" + chainID + "/events.csv?event=Transfer"
	for range 5 { // more than an address has at once
		ctx, leave := context.WithCancel(t.Context())
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
		r, err := servertest.Transport.RoundTrip(req)
		for end := time.Now().Add(time.Minute); err == nil && r.StatusCode == http.StatusTooManyRequests && time.Now().Before(end); { // the seats are given back a moment later
			r.Body.Close() //nolint:errcheck // it was refused
			r, err = servertest.Transport.RoundTrip(req)
		}
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%v %v", err, r)
		}
		if _, err := r.Body.Read(make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
		leave()
		r.Body.Close() //nolint:errcheck // it was left
	}
}

// TestFileZipped: a file is the same when it comes compressed, for those who take that, and
// says what it depends on; and limit is another word for rows.
func TestFileZipped(t *testing.T) {
	w := sharedWorld(t, 40)
	for _, path := range []string{"/address/" + w.busiest() + "/transfers.csv", "/events.csv?event=Transfer", "/events.csv?event=Transfer&limit=7"} {
		plain := w.Do(http.MethodGet, "/"+chainID+path, "", "Accept-Encoding", "identity")
		zipped := w.Do(http.MethodGet, "/"+chainID+path, "", "Accept-Encoding", "br, gzip;q=0.5")
		if plain.Header.Get("Content-Encoding") != "" || zipped.Header.Get("Content-Encoding") != "gzip" || !strings.Contains(strings.Join(plain.Header["Vary"], ","), "Accept-Encoding") {
			t.Fatalf("%s: %v and %v", path, plain.Header, zipped.Header)
		}
		read, err := gzip.NewReader(bytes.NewReader(zipped.Body))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(read)
		if err != nil || !bytes.Equal(body, plain.Body) || len(zipped.Body) >= len(plain.Body) {
			t.Errorf("%s: %d bytes come as %d, which are %d: %v", path, len(plain.Body), len(zipped.Body), len(body), err)
		}
		if lines := bytes.Count(body, []byte("\n")); strings.Contains(path, "limit=7") && (lines != 9 || !bytes.Contains(body, []byte(": there are more; go on at "))) {
			t.Errorf("%s has %d lines: %s", path, lines, body)
		}
	}
}
