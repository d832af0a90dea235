package pages

import (
	"fmt"
	"html/template"
	"net/url"
	"strconv"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/web"
)

// instanceRows is how many contracts of a class its page shows, unless rows says otherwise.
const instanceRows = 25

// classView is the data of a class's page.
type classView struct {
	L      *look
	K      *api.ClassDetail
	By     *transaction.Record // the declaration; nil where it is not known
	Label  string              // its official name, "" for none
	Source template.HTML
	ABI    abiView
	Pager  pager
	Sorts  []tab
}

// classPage says where a class comes from, what it can do, and which contracts have it.
// Rows read: the class, those of the transactions of the block that declared it, and one for
// each contract shown.
func classPage(l *look) (*sheet, error) {
	q := url.Values{"instanceLimit": {strconv.Itoa(instanceRows)}}
	if rows := l.query.Get("rows"); rows != "" {
		q.Set("instanceLimit", kernel.Clip(rows, 10))
	}
	sort := l.query.Get("sort")
	if sort != "" {
		q.Set("instanceSort", kernel.Clip(sort, 40))
	}
	if c := l.query.Get("cursor"); c != "" {
		q.Set("instanceCursor", kernel.Clip(c, 2000))
	}
	k, err := ask[api.ClassDetail](l, "getClass", q, l.r.PathValue("hash"))
	if err != nil {
		return nil, err
	}
	d, err := class.Describe(l.ctx, l.reader, k.ClassHash)
	if err != nil {
		return nil, err
	}
	v := &classView{L: l, K: k, Source: l.source(&k.SourceFacts, &k.ClassHash), ABI: abiOf(d, ""), Pager: l.pagerOf(k.Instances.NextCursor)}
	if k.DeclaredBlock != nil {
		if v.By, err = transaction.DeclareOf(l.ctx, l.reader, *k.DeclaredBlock, k.ClassHash); err != nil {
			return nil, err
		}
	}
	if v.By != nil {
		l.shows("getTransaction", url.Values{"logLimit": {"1"}}, v.By.Hash.String())
	}
	v.Label, _ = l.served.Registry.ClassName(k.ClassHash)
	v.Sorts = l.sorts("sort", sort, [][2]string{{"", "by address"}, {"newest_desc", "newest first"}})
	return &sheet{title: "Class " + shorten(k.ClassHash.String()), description: fmt.Sprintf("Class %s on %s: what it can do, where it was declared, and the contracts that have it.", k.ClassHash, l.Chain),
		trail: []web.Link{{Text: l.Chain, Href: l.Href()}, {Text: "Classes", Href: l.Href("classes")}}, name: "class.html", data: v}, nil
}

// Declarer is who declared the class; nil where that is not known.
func (v *classView) Declarer() *felt.Felt {
	if v.By == nil {
		return nil
	}
	from, _ := v.By.Ends()
	return from
}

// sorts are links to the orders of a list; the first is the usual one.
func (l *look) sorts(name, now string, orders [][2]string) (out []tab) {
	for _, o := range orders {
		q := url.Values{}
		for k, values := range l.query {
			if k != "cursor" && k != name {
				q[k] = values
			}
		}
		if o[0] != "" {
			q.Set(name, o[0])
		}
		out = append(out, tab{o[1], withQuery(l.r.URL.EscapedPath(), q), o[0] == now})
	}
	return out
}

// standardWords are how people write the standard of a token.
func standardWords(kind string) string {
	switch kind {
	case "erc20", "erc721", "erc1155":
		return "ERC-" + kind[3:] + " token"
	}
	return "token of an unknown standard"
}

// UsedFor is what a class is for, in words.
func (l *look) UsedFor(f api.ClassFacts) string {
	switch {
	case f.IsAccount == nil:
		return "unknown: not fetched yet"
	case *f.IsAccount:
		return "account"
	case f.TokenKind != nil:
		return standardWords(*f.TokenKind)
	case f.IsProxy != nil && *f.IsProxy:
		return "proxy"
	}
	return "contract"
}

// Language is what a class was written in, as far as its kind tells.
func (l *look) Language(kind *string) template.HTML {
	switch {
	case kind == nil:
		return l.Unknown("The class has neither been declared nor fetched.")
	case *kind == "sierra":
		return "Cairo, as Sierra"
	}
	return "Cairo 0"
}

// classListView is the data of the directory of classes.
type classListView struct {
	L     *look
	Rows  []api.ClassItem
	Names []string
	Sorts []tab
	Pager pager
}

// Words say what speaks for the source of a class.
func (v *classListView) Words(c api.ClassItem) string { return sourceWords(&c.SourceFacts) }

// classesPage is the directory of classes. Rows read: one for each shown.
func classesPage(l *look) (*sheet, error) {
	q := url.Values(l.limited("limit", 50))
	sort := l.query.Get("sort")
	if sort != "" {
		q.Set("sort", kernel.Clip(sort, 40))
	}
	list, err := ask[api.ClassPage](l, "listClasses", q)
	if err != nil {
		return nil, err
	}
	v := &classListView{L: l, Rows: list.Items, Pager: l.pagerOf(list.NextCursor),
		Sorts: l.sorts("sort", sort, [][2]string{{"", "most contracts"}, {"declared_at_desc", "newest"}, {"origin_asc", "oldest"}})}
	for i := range list.Items {
		name, _ := l.served.Registry.ClassName(list.Items[i].ClassHash)
		v.Names = append(v.Names, name)
	}
	return &sheet{title: "Classes", description: "Every class that a block of " + l.Chain + " named: the code that contracts run.",
		trail: []web.Link{{Text: l.Chain, Href: l.Href()}}, name: "classes.html", data: v}, nil
}
