package pages_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"chainexplorer/internal/api"
)

// everyPage is a page of each kind that a chain has, by what its path begins with.
func everyPage(w *world) map[string]string {
	w.T.Helper()
	tx := w.Chain.BlockAt(20).Transactions[0].Hash.String()
	var classes struct{ Items []struct{ ClassHash string } }
	w.Get("/classes?limit=1", &classes)
	var messages api.MessagePage
	w.Get("/messages?limit=1", &messages)
	account := w.Chain.Accounts(20)[0].String()
	token := ""
	for _, x := range w.Chain.Tokens(19) {
		if _, known := w.Registry.Token(x.Address); known {
			token = x.Address.String()
		}
	}
	base := "/" + chainID
	return map[string]string{
		"home": "/", "search": "/search", "status": "/status", "verification": "/verification",
		"chain": base, "blocks": base + "/blocks", "txs": base + "/txs", "block": base + "/block/20",
		"tx": base + "/tx/" + tx, "calls": base + "/tx/" + tx + "/calls", "tx transfers": base + "/tx/" + tx + "/transfers", "tx events": base + "/tx/" + tx + "/events", "trace": base + "/tx/" + tx + "/trace",
		"address": base + "/address/" + account, "holdings": base + "/address/" + account + "/holdings", "activity": base + "/address/" + account + "/activity",
		"transfers": base + "/address/" + account + "/transfers", "transactions": base + "/address/" + account + "/transactions", "balance": base + "/address/" + account + "/balance",
		"tokens": base + "/tokens", "token": base + "/token/" + token, "token transfers": base + "/token/" + token + "/transfers", "holders": base + "/token/" + token + "/holders",
		"pools": base + "/token/" + token + "/pools", "supply": base + "/token/" + token + "/supply",
		"messages": base + "/messages", "message": base + "/message/" + messages.Items[0].MessageHash, "privacy pool": base + "/privacy-pool", "pool list": base + "/privacy-pool/deposits",
		"contract": base + "/contract/" + token, "contract classes": base + "/contract/" + token + "/classes", "contract events": base + "/contract/" + token + "/events", "read": base + "/contract/" + token + "/read",
		"class": base + "/class/" + classes.Items[0].ClassHash, "classes": base + "/classes", "events": base + "/events?event=Transfer",
	}
}

// with adds parameters to an address.
func with(path, params string) string {
	if strings.Contains(path, "?") {
		return path + "&" + params
	}
	return path + "?" + params
}

// remarks are what a page says of its parameters.
func remarks(page string) (out []string) {
	for _, m := range remark.FindAllStringSubmatch(page, -1) {
		out = append(out, html.UnescapeString(m[1]))
	}
	return out
}

var (
	remark = regexp.MustCompile(`<p class="remark" role="note">([^<]*)</p>`)
	inPage = regexp.MustCompile(`(?:href|action)="(/[^"#]*\?[^"#]*)`)
	field  = regexp.MustCompile(`<(?:input|select|textarea)[^>]* name="([^"]+)"`)
)

// TestParametersNotUnderstood: every page is made without the parameters that it does not
// know, and says so, bounded and escaped; and no link and no field of a page leads to such a
// remark.
func TestParametersNotUnderstood(t *testing.T) {
	w := sharedWorld(t, 60)
	seen := map[string]bool{}
	for kind, path := range everyPage(w) {
		page := w.look(path, http.StatusOK)
		if said := remarks(page); said != nil {
			t.Errorf("%s: nothing was asked for, and it says %q", kind, said)
		}
		page = w.look(with(path, "limit=3&%3Cb%3E"+strings.Repeat("x", 900)+"=1"), http.StatusOK)
		said := remarks(page)
		if len(said) != 1 || len(said[0]) > 400 || kind != "home" && kind != "status" && !strings.Contains(said[0], "“limit”") || strings.Contains(page, "<b>xx") {
			t.Errorf("%s says %q", kind, said)
		}
		for _, m := range inPage.FindAllStringSubmatch(page, -1) {
			to := html.UnescapeString(m[1])
			u, err := url.Parse(to)
			if err != nil {
				t.Fatal(err)
			}
			names := u.Query()
			names.Del("as")
			shape := kind
			for name := range names {
				shape += " " + name
			}
			if seen[shape] || strings.HasPrefix(to, "/search?") || strings.HasPrefix(to, "/v1/") || strings.Contains(to, ".csv") || strings.Contains(to, "balance?") {
				continue
			}
			seen[shape] = true
			if r := w.Do(http.MethodGet, to, "", "Accept", "text/html"); remarks(string(r.Plain())) != nil {
				t.Errorf("%s leads to %s, which says %q", kind, to, remarks(string(r.Plain())))
			}
		}
		_, body, _ := strings.Cut(page, "<main")
		for _, m := range field.FindAllStringSubmatch(body, -1) {
			if name := m[1]; kind != "home" && kind != "privacy pool" && !strings.HasPrefix(name, "arg") && name != "calldata" {
				r := w.Do(http.MethodGet, strings.Split(path, "?")[0]+"?"+name+"=", "", "Accept", "text/html")
				if said := remarks(string(r.Plain())); said != nil {
					t.Errorf("%s has a field %s, and says %q", kind, name, said)
				}
			}
		}
	}
	account := w.Chain.Accounts(20)[0].String()
	for path, want := range map[string]string{
		"/blocks?at=&at=x&cursor=":                               "“at” can be given once",
		"/blocks?att=1&b=2&c=3&d=4&e=5&f=":                       "“att”, “b”, “c”, “d”, “e” and 1 more, and was made without. It takes at and cursor.",
		"/txs?as=xml":                                            "“as”",
		"/events?event=Transfer&key01=1":                         "“key01”",
		"/address/" + account + "?block=5&block=6&token=&blok=7": "“blok”",
	} {
		if said := strings.Join(remarks(w.page(path)), " "); !strings.Contains(said, want) {
			t.Errorf("%s says %q, want %q", path, said, want)
		}
	}
	// What counts is the first, as it says.
	if page := w.page("/address/" + account + "?block=5&block=6"); !strings.Contains(page, `value="5"`) || strings.Contains(page, `value="6"`) {
		t.Error("of two blocks the page is not as of the first")
	}
	if page := w.look("/"+chainID+"/events?from_block=3&to_block=9", http.StatusBadRequest); !strings.Contains(page, "Name a contract or an event") || !strings.Contains(page, "from_block=3&amp;to_block=9") {
		t.Error("a range alone is not told what it needs")
	}
}

// TestRefusalsInSentences: whatever a page refuses it tells people in a sentence that names
// what they gave, without the names that programs use; programs are told as ever.
func TestRefusalsInSentences(t *testing.T) {
	w := sharedWorld(t, 60)
	pages := everyPage(w)
	none := "0xdead00dead"
	large := "0x" + strings.Repeat("f", 64)
	type refusal struct {
		path   string
		status int
		says   string
	}
	list := []refusal{
		{pages["address"] + "?block=99999", 404, "Block 99999 is not indexed; the newest is 59."},
		{pages["holdings"] + "?block=99999", 404, "Block 99999 is not indexed"},
		{pages["address"] + "?block=" + none, 404, "No indexed block has the hash " + none},
		{pages["read"] + "?block=99999", 404, "Block 99999 is not indexed"},
		{"/" + chainID + "/block/99999", 404, "Block 99999 is not indexed"},
		{"/" + chainID + "/block/" + large, 400, `The block is wrong: "` + large},
		{"/" + chainID + "/block/00x", 400, `The block is wrong: "00x" is neither the number of a block nor its hash.`},
		{"/" + chainID + "/tx/" + none, 404, "No indexed transaction has the hash " + none},
		{"/" + chainID + "/class/" + none, 404, "No indexed block names the class " + none},
		{"/" + chainID + "/token/" + none, 404, "No token is known at " + none},
		{"/" + chainID + "/message/0x" + strings.Repeat("0", 60) + "dead", 404, "No indexed message has the hash"},
		{"/" + chainID + "/privacy-pool/none", 404, "no such list"},
		{pages["blocks"] + "?at=yesterday", 400, `The moment is wrong: "yesterday"`},
		{pages["blocks"] + "?at=1970-01-01", 404, "No indexed block"},
		{pages["calls"] + "?from=x", 400, `The place in the list is wrong: "x"`},
		{pages["address"] + "?token=x", 400, `The token is wrong: "x"`},
		{pages["balance"] + "?token=x", 400, `The token is wrong: "x"`},
		{pages["activity"] + "?type=x", 400, "The kind is wrong: it is none of those that can be chosen."},
		{pages["transactions"] + "?type=x", 400, `The kind is wrong: "x" is none of`},
		{pages["transfers"] + "?direction=up", 400, "The direction is wrong: it is none of those that can be chosen."},
		{pages["transfers"] + "?token=x", 400, `The token is wrong: "x"`},
		{pages["transfers"] + "?type=x", 400, `The kind is wrong: "x"`},
		{pages["transfers"] + "?since=x", 400, `The first day is wrong: "x" is not a date`},
		{pages["transfers"] + "?since=2026-01-02&until=2026-01-01", 400, `The first day is wrong: it is after the last day.`},
		{pages["transfers"] + "?until=x", 400, `The last day is wrong: "x" is not a date`},
		{pages["token transfers"] + "?address=x", 400, `The address is wrong: "x"`},
		{pages["token transfers"] + "?from_block=9&to_block=3", 400, "The first block is wrong: it is above the last block."},
		{pages["token transfers"] + "?to_block=x", 400, `The last block is wrong: "x"`},
		{pages["tokens"] + "?before=x", 400, `The place in the list is wrong: "x"`},
		{pages["messages"] + "?direction=x", 400, "The direction is wrong"},
		{pages["messages"] + "?txHash=x", 400, `The hash of the transaction is wrong: "x"`},
		{pages["messages"] + "?contract=x", 400, `The address is wrong: "x"`},
		{pages["class"] + "?sort=x", 400, "The order is wrong"},
		{pages["classes"] + "?sort=x", 400, "The order is wrong"},
		{pages["events"] + "&order=x", 400, "The order is wrong"},
		{pages["events"] + "&from_block=9&to_block=3", 400, "The first block is wrong: it is above the last block."},
		{pages["events"] + "&contract=x", 400, `The contract is wrong: "x"`},
		{pages["events"] + "&key1=x&from_block=1&to_block=9", 400, `Key 1 is wrong: "x"`},
		{pages["verification"] + "?q=x", 400, `"x"`},
		{pages["verification"] + "?chain=x", 400, `"x" is not served here`},
		{pages["transfers"] + ".csv?rows=x", 400, `The number of rows is wrong: "x"`},
		{pages["transfers"] + ".csv?limit=x", 400, `The number of rows is wrong: "x"`},
		{pages["transfers"] + ".csv?limit=5&rows=5", 400, "mean the same"},
		{pages["contract events"] + ".csv?evnt=Transfer", 400, "There is no parameter “evnt” here"},
		{pages["contract events"] + ".csv?event=Transfer&event=Approval", 400, "The parameter “event” can be given once"},
		{pages["transfers"] + ".csv?whatever=1", 400, "There is no parameter “whatever” here"},
	}
	for _, kind := range []string{"address", "tx", "class", "token", "contract", "message"} {
		page := pages[kind]
		list = append(list, refusal{page[:strings.LastIndex(page, "/")] + "/zz", 400, `is wrong: "zz" is not 0x and 1 to 64 hex digits`})
	}
	for _, kind := range []string{"address", "holdings", "balance", "supply", "read"} {
		for _, text := range []string{"1e3", "5.0", "-1", "+5", "1_0"} {
			path := with(pages[kind], "block="+url.QueryEscape(text))
			if kind == "balance" {
				path = with(path, "token=0x1")
			}
			list = append(list, refusal{path, 400, `The block is wrong: "` + text + `" is neither the number of a block nor its hash.`})
		}
	}
	for _, kind := range []string{"token transfers", "events", "contract events"} {
		list = append(list, refusal{with(pages[kind], "from_block=1e1"), 400, `The first block is wrong: "1e1" is not the number of a block.`})
	}
	for _, kind := range []string{"blocks", "txs", "block", "holdings", "activity", "transfers", "transactions", "token transfers", "messages", "message", "pool list", "contract classes", "contract events", "class", "classes", "events"} {
		list = append(list, refusal{with(pages[kind], "cursor=x"), 400, ""})
	}
	for _, c := range list {
		page := w.look(c.path, c.status)
		said := html.UnescapeString(tags.ReplaceAllString(told(page), ""))
		if !strings.Contains(said, c.says) || said == "" {
			t.Errorf("%s says %q, want %q", c.path, said, c.says)
		}
		said, _, _ = strings.Cut(said, " It takes ") // names that are to be typed
		if bad := machine.FindString(said); bad != "" || !strings.HasSuffix(said, ".") || said == strings.ToLower(said[:1])+said[1:] && said[0] != '"' {
			t.Errorf("%s says %q, with %q: that is no sentence for people", c.path, said, bad)
		}
		if strings.Contains(c.path, "block=99999") && (!strings.Contains(page, "<h1>No such block on") && !strings.Contains(page, "<h1>Not found on") || strings.Contains(page, "an address may be mistyped")) {
			t.Errorf("%s does not tell that it is the block that is missing: %s", c.path, page[strings.Index(page, "<main"):])
		}
	}
	r := w.Do(http.MethodGet, "/v1/"+chainID+"/block/zz", w.Key)
	if !strings.Contains(string(r.Body), "path.number_or_hash: ") {
		t.Errorf("a program is told %s", r.Body)
	}
}

// told is why a page could not be made, or a form not be answered.
func told(page string) string {
	if text := problem.FindString(page); text != "" {
		return text
	}
	return lead.FindString(page)
}

var (
	lead    = regexp.MustCompile(`<p class="lead">[^<]*</p>`)
	problem = regexp.MustCompile(`<p class="problem">[^<]*</p>`)
	tags    = regexp.MustCompile(`<[^>]*>`)
	machine = regexp.MustCompile(`\b(path|query|body|header)\.|[a-z]_[a-z]|[a-z][A-Z]|topic\d|\broute\b`)
)

// TestOneSpelling: what is spelt with zeros in front or capitals is sent on for good to its
// one page, sub-pages and parameters included.
func TestOneSpelling(t *testing.T) {
	w := sharedWorld(t, 60)
	pages := everyPage(w)
	pages["block"] = "/" + chainID + "/block/" + w.Chain.BlockAt(20).Hash.String()
	pages["events"] = pages["contract events"] + "?event=Transfer&from_block=1"
	pages["file"] = pages["transfers"] + ".csv"
	for kind, path := range pages {
		at := strings.Index(path, "/0x")
		if at < 0 {
			continue
		}
		end := at + 1 + len(hexDigits.FindString(path[at+1:]))
		id := path[at+1 : end]
		other := "0X000" + strings.ToUpper(id[2:])
		if kind == "message" {
			other = "0x" + strings.ToUpper(strings.TrimLeft(id[2:], "0"))
		} else if len(other) > 66 {
			other = "0X" + strings.ToUpper(id[2:])
		}
		if other == id {
			continue
		}
		r := w.Do(http.MethodGet, path[:at+1]+other+path[end:], "", "Accept", "text/html")
		if to := r.Header.Get("Location"); r.StatusCode != http.StatusPermanentRedirect || to != path {
			t.Errorf("%s: %s leads to %q with %d", kind, other, to, r.StatusCode)
		}
	}
}

var hexDigits = regexp.MustCompile(`^0x[0-9a-f]*`)
