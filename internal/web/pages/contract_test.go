package pages_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/api"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode/contracts"
)

// contains reports the values that a page lacks.
func (w *world) contains(path, page string, want ...any) {
	w.T.Helper()
	got := values(page)
	for _, v := range want {
		if text := fmt.Sprint(v); !slices.Contains(got, text) {
			w.T.Errorf("%s does not show %s", path, text)
		}
	}
}

// allClasses reads the directory of the API to its end.
func (w *world) allClasses() (out []api.ClassItem) {
	w.T.Helper()
	for cursor := ""; ; {
		var page api.ClassPage
		w.Get("/classes?limit=100"+cursor, &page)
		out = append(out, page.Items...)
		if page.NextCursor == nil {
			return out
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}

// column follows the pages of a list to the end, and returns the values in a column.
func (w *world) column(path, section, column string) (out []string) {
	w.T.Helper()
	for range 1000 {
		s := w.reads(path)
		for _, row := range s.rows[section] {
			out = append(out, row[column][0])
		}
		if s.next == "" {
			return out
		}
		path = strings.TrimPrefix(html.UnescapeString(s.next), "/"+chainID)
	}
	w.T.Fatalf("%s has no end", path)
	return nil
}

// TestContractPages compares the pages of contracts of every class with the API and the
// chain: what they can do, and what code they had.
func TestContractPages(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	head, _ := w.Chain.Head()
	seen := 0
	for _, k := range w.allClasses() {
		var detail api.ClassDetail
		w.Get("/class/"+k.ClassHash.String()+"?instanceLimit=1", &detail)
		if len(detail.Instances.Items) == 0 {
			continue
		}
		address := detail.Instances.Items[0].ContractAddress
		path := "/contract/" + address.String()
		page := w.page(path)
		var c api.Contract
		w.Get(path, &c)
		class, _ := w.Chain.ClassAt(address, head)
		w.contains(path, page, address, class.Hash, k.ClassHash)
		if c.DeployedAtBlock != nil {
			w.contains(path, page, *c.DeployedAtBlock, *c.CreatedOnISO)
		}
		var doors api.Entrypoints
		w.Get(path+"/entrypoints", &doors)
		for _, list := range [][]api.Entrypoint{doors.External, doors.L1Handler, doors.Constructor} {
			for _, d := range list {
				w.contains(path, page, d.Selector)
				if d.Name != nil && !strings.Contains(page, ">"+*d.Name+"<") {
					t.Errorf("%s does not name %s", path, *d.Name)
				}
			}
		}
		var history api.ContractClassPage
		w.Get(path+"/classes", &history)
		for _, e := range history.Items {
			if !strings.Contains(page, "/"+chainID+"/class/"+e.ClassHash.String()) {
				t.Errorf("%s leaves out class %s", path, e.ClassHash)
			}
		}
		if got := w.column(path+"/classes", "", "Class"); len(got) != len(history.Items) {
			t.Errorf("%s/classes lists %d of %d", path, len(got), len(history.Items))
		}
		for _, to := range []string{"/address/", "/contract/"} {
			if !strings.Contains(page, `href="/`+chainID+to+address.String()) {
				t.Errorf("%s does not lead to %s", path, to)
			}
		}
		seen++
	}
	if seen < 10 {
		t.Errorf("only %d contracts were looked at", seen)
	}
}

// TestWhoMayChange holds what a page says about upgrades against the controls of tokens.
func TestWhoMayChange(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	head, _ := w.Chain.Head()
	words := map[string]int{}
	for _, token := range w.Chain.Tokens(head) {
		var c api.TokenControls
		w.Get("/token/"+token.Address.String()+"/controls", &c)
		s := w.reads("/contract/" + token.Address.String())
		text := s.texts["Who may replace the code"]
		status := c.Snapshot.UpgradeControl.Status
		words[status]++
		want := map[string]string{"immutable_class": "Nobody.", "proxy_admin_detected": "can be replaced", "unknown": "unknown"}[status]
		if !strings.Contains(text, want) {
			t.Errorf("%s is %s, and the page says %q", token.Address, status, text)
		}
		if actor := c.Snapshot.UpgradeControl.Actor; actor != nil && !slices.Contains(s.facts["Who may replace the code"], actor.String()) {
			t.Errorf("%s: %s may replace it, and the page says %q", token.Address, actor, text)
		}
	}
	if words["proxy_admin_detected"] == 0 {
		t.Errorf("no token could be replaced: %v", words)
	}
}

// TestClassPages compares the directory and the page of every class with the API, and
// pages through the contracts of the largest one.
func TestClassPages(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	all := w.allClasses()
	for _, sort := range []string{"", "?sort=declared_at_desc", "?sort=origin_asc"} {
		listed := w.column("/classes"+sort, "", "Class")
		if len(listed) != len(all) {
			t.Errorf("%s lists %d of %d classes", sort, len(listed), len(all))
		}
		slices.Sort(listed)
		if len(slices.Compact(listed)) != len(all) {
			t.Errorf("%s lists a class twice", sort)
		}
	}
	for _, k := range all {
		path := "/class/" + k.ClassHash.String()
		page := w.page(path)
		w.contains(path, page, k.ClassHash, *k.InstanceCount)
		var d api.ClassDetail
		w.Get(path, &d)
		if d.CompiledClassHash != nil {
			w.contains(path, page, *d.CompiledClassHash)
		}
		if k.DeclaredBlock != nil {
			w.contains(path, page, *k.DeclaredBlock, *k.DeclaredAtISO)
		}
	}
	if *all[0].InstanceCount <= 4 {
		t.Errorf("no class has contracts for two pages: the largest has %d", *all[0].InstanceCount)
	}
	for _, sort := range []string{"?rows=4", "?rows=4&sort=newest_desc"} {
		got := w.column("/class/"+all[0].ClassHash.String()+sort, "contracts", "Contract")
		if uint64(len(got)) != *all[0].InstanceCount {
			t.Errorf("%s: %d of %d contracts", sort, len(got), *all[0].InstanceCount)
		}
		slices.Sort(got)
		if uint64(len(slices.Compact(got))) != *all[0].InstanceCount {
			t.Error("a contract is listed twice")
		}
	}
}

// TestReadContract calls functions by the form and compares what it shows with the chain,
// at several blocks.
func TestReadContract(t *testing.T) {
	w := sharedWorld(t, truthBlocks)
	head, _ := w.Chain.Head()
	token := contracts.STRK
	path := "/contract/" + token.String() + "/read"
	if page := w.page(path); !strings.Contains(page, `name="arg0"`) || strings.Contains(page, `id="result"`) {
		t.Error("the list of functions has no form, or a result")
	}
	for _, holder := range w.Chain.Holders(token, head)[:3] {
		for _, n := range []uint64{head / 2, head} {
			want := w.Chain.BalanceAt(token, holder.Address, n).String()
			b := w.Chain.BlockAt(n)
			for _, tag := range []string{fmt.Sprint(n), b.Hash.String()} {
				s := w.reads(path + "?" + url.Values{"function": {"balance_of"}, "arg0": {holder.Address.Big().String()}, "block": {tag}}.Encode())
				rows := s.rows["result"]
				if len(rows) != 1 || !slices.Equal(rows[0]["Value"], []string{want}) {
					t.Errorf("balance at %s: %v, want %s", tag, rows, want)
				}
				if !slices.Contains(s.all, b.Hash.String()) {
					t.Errorf("it does not say that it is pinned to %s", b.Hash)
				}
			}
		}
	}
	if page := w.page(path + "?function=name"); !strings.Contains(page, "<bdi class=\"name\">") {
		t.Errorf("a name is not shown as text: %s", clip(page))
	}
	if r := w.Do(http.MethodGet, "/"+chainID+path+"?function=name", ""); r.Header.Get("ETag") == "" && !strings.Contains(r.Header.Get("Cache-Control"), "no") {
		t.Errorf("a reading may be kept: %v", r.Header)
	}
	for query, want := range map[string]struct {
		status int
		text   string
	}{
		"?function=balance_of&arg0=bob":                                {400, "is not a number"},
		"?function=balance_of&arg0=":                                   {400, "is missing"},
		"?function=transfer&arg0=1":                                    {400, "no function"},
		"?function=%3Cb%3E":                                            {400, "no function"},
		"?function=name&block=999999":                                  {404, "not indexed"},
		"?function=name&block=x":                                       {400, "neither a block number"},
		"?function=balance_of":                                         {200, `name="arg0"`},
		"?function=allowance&arg0=1&arg1=0x" + strings.Repeat("f", 64): {400, "does not fit"},
	} {
		if page := html.UnescapeString(w.look("/"+chainID+path+query, want.status)); !strings.Contains(page, want.text) {
			t.Errorf("%s: no %q in %s", query, want.text, clip(page))
		}
	}
	w.look("/"+chainID+"/contract/0xdead/read", 404)
}

// TestReadWithoutNode: the forms stand where no node answers, and say so.
func TestReadWithoutNode(t *testing.T) {
	w := &world{servertest.New(t, 12, func(o *servertest.Options) { o.Chains[0].Node = nil })}
	page := w.look("/"+chainID+"/contract/"+contracts.STRK.String()+"/read?function=name", http.StatusServiceUnavailable)
	if !strings.Contains(page, "has no node to ask") || !strings.Contains(page, `name="arg0"`) {
		t.Error(clip(page))
	}
}
