package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"chainexplorer/client"
	"chainexplorer/internal/api"
	"chainexplorer/internal/clientgen"
	"chainexplorer/internal/tstest"
)

// throughClient asks for paths of the API by the operations of a client.
type throughClient interface {
	// call is a reply made of what the client gives back.
	call(t *testing.T, op, path string) reply
	// all are the items of all pages.
	all(t *testing.T, op, path string) ([]json.RawMessage, error)
}

// paramsOf are the parameters of an operation that a path has, below /v1/.
func paramsOf(t *testing.T, op, path string) (*client.Operation, url.Values) {
	t.Helper()
	o, ok := client.OperationOf(op)
	if !ok {
		t.Fatalf("there is no operation %s", op)
	}
	path, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	want, got := strings.Split(strings.TrimPrefix(o.Path, "/v1/"), "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		t.Fatalf("%s is no path of %s", path, op)
	}
	for i, part := range want {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			values.Set(strings.TrimSuffix(name, "}"), got[i])
		}
	}
	return o, values
}

// answered is a reply made of what a client gave back.
func answered(status int, body []byte) reply {
	return reply{Response: &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}}, Body: body}
}

// goClient asks by the methods of the Go client.
type goClient struct{ *client.Chain }

// invoke calls a method, whose name is that of the operation with something after it.
func (c goClient) invoke(t *testing.T, op, after, path string) []reflect.Value {
	t.Helper()
	o, values := paramsOf(t, op, path)
	method := reflect.ValueOf(c.Chain).MethodByName(clientgen.GoName(op) + after)
	args := []reflect.Value{reflect.ValueOf(t.Context())}
	for _, p := range o.Parameters {
		if p.In == "path" && p.Name != "chain" || p.In == "query" && p.Required {
			args = append(args, reflect.ValueOf(values.Get(p.Name)))
			values.Del(p.Name)
		}
	}
	values.Del("chain")
	if method.Type().NumIn() > len(args) {
		query := reflect.New(method.Type().In(len(args)).Elem())
		for name, given := range values {
			switch field := query.Elem().FieldByName(clientgen.GoName(name)); field.Kind() {
			case reflect.Slice:
				field.Set(reflect.ValueOf(given))
			case reflect.Int64:
				n, err := strconv.ParseInt(given[0], 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				field.SetInt(n)
			default:
				field.SetString(given[0])
			}
		}
		args = append(args, query)
	} else if len(values) > 0 {
		t.Fatalf("%s takes no %v", op, values)
	}
	return method.Call(args)
}

func (c goClient) call(t *testing.T, op, path string) reply {
	t.Helper()
	out := c.invoke(t, op, "", path)
	if err, _ := out[1].Interface().(error); err != nil {
		var e *client.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v", path, err)
		}
		body, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return answered(e.Status, body)
	}
	body, err := json.Marshal(out[0].Interface())
	if err != nil {
		t.Fatal(err)
	}
	return answered(http.StatusOK, body)
}

func (c goClient) all(t *testing.T, op, path string) ([]json.RawMessage, error) {
	t.Helper()
	out := []json.RawMessage{}
	for item, failure := range c.invoke(t, op, "All", path)[0].Seq2() {
		if err, _ := failure.Interface().(error); err != nil {
			return nil, err
		}
		text, err := json.Marshal(item.Interface())
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

// tsClient asks by the TypeScript client.
type tsClient struct{ *tstest.Driver }

func (c tsClient) call(t *testing.T, op, path string) reply {
	t.Helper()
	_, params := paramsOf(t, op, path)
	said := c.Ask(map[string]any{"call": op, "params": params})
	switch {
	case said.Code == "":
		return answered(http.StatusOK, said.Answer)
	case said.Status == 0:
		t.Fatalf("%s: %s", path, said.Message)
	}
	return answered(said.Status, fmt.Appendf(nil, `{"code":%q,"requestId":%q}`, said.Code, said.RequestID))
}

func (c tsClient) all(t *testing.T, op, path string) (out []json.RawMessage, err error) {
	t.Helper()
	_, params := paramsOf(t, op, path)
	said := c.Ask(map[string]any{"all": op, "params": params})
	if said.Code != "" {
		return nil, fmt.Errorf("%d %s %s", said.Status, said.Code, said.Message)
	}
	return out, json.Unmarshal(said.Answer, &out)
}

// twins ask by two clients, of which the second must give back what the first does.
type twins struct{ first, second throughClient }

func (c twins) call(t *testing.T, op, path string) reply {
	t.Helper()
	a, b := c.first.call(t, op, path), c.second.call(t, op, path)
	if a.StatusCode != b.StatusCode || a.Envelope().Code != b.Envelope().Code {
		t.Fatalf("%s: %d %s, and the other client says %d %s", path, a.StatusCode, a.Body, b.StatusCode, b.Body)
	}
	if a.StatusCode == http.StatusOK {
		if d := difference(json.RawMessage(a.Body), b.Body); d != "" {
			t.Fatalf("%s: the other client says: %s", path, d)
		}
	}
	return a
}

func (c twins) all(t *testing.T, op, path string) ([]json.RawMessage, error) {
	t.Helper()
	a, err := c.first.all(t, op, path)
	b, other := c.second.all(t, op, path)
	if err := errors.Join(err, other); err != nil {
		return nil, err
	}
	text, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	if d := difference(a, text); d != "" {
		return nil, fmt.Errorf("the other client says: %s", d)
	}
	return a, nil
}

// walk is a list to its end, as the client goes over it.
func (o *oracle) walk(op, path string, limit int) []json.RawMessage {
	o.T.Helper()
	join := "?"
	if strings.Contains(path, "?") {
		join = "&"
	}
	path = fmt.Sprintf("%s/%s%slimit=%d", chainID, path, join, limit)
	items, err := o.through.all(o.T, op, path)
	if err != nil {
		o.T.Fatalf("all of %s: %v", path, err)
	}
	o.checks[op]++
	return items
}

// some compares what most programs ask for, with all pages of it.
func (o *oracle) some() {
	o.T.Helper()
	head, _ := o.Chain.Head()
	o.status()
	blocks, txs := o.newest()
	o.sameList("blocks", blocks, o.pages("listBlocks", "blocks", 7, nil))
	o.sameList("txs", txs, o.pages("listTransactions", "txs", 50, nil))
	for _, n := range []uint64{0, 9, head - 1, head} {
		o.block(o.Chain.BlockAt(n))
	}
	o.events(head)
	all, order := o.deeds()
	for _, i := range []int{0, len(order) / 2, len(order) - 1} {
		o.address(order[i], all, false)
	}
	o.tokens(head)
	o.holdersThrough(head)
	o.absent(head)
}

// holdersThrough compares the holders of every token that has some.
func (o *oracle) holdersThrough(head uint64) {
	o.T.Helper()
	counted := 0
	for _, token := range o.Known.Chain(chainID).Tokens() {
		if o.Chain.SupplyAt(token.Address, head).Sign() == 0 {
			continue
		}
		path := "token/" + token.Address.String() + "/holders"
		var first api.HolderPage
		var items []api.HolderItem
		if err := json.Unmarshal(o.ask("listTokenHolders", chainID+"/"+path+"?limit=4").Body, &first); err != nil {
			o.T.Fatal(err)
		}
		for _, text := range o.walk("listTokenHolders", path, 4) {
			var item api.HolderItem
			if err := json.Unmarshal(text, &item); err != nil {
				o.T.Fatal(err)
			}
			items = append(items, item)
		}
		o.sameHolders(path, token.Address, first, items)
		counted += len(items)
	}
	if counted < 10 {
		o.T.Errorf("only %d holders were counted", counted)
	}
}

// TestClientsTellTheTruth: through the Go client and the TypeScript one, the API says what
// happened on the chain, value by value and page by page, before a fork and after it.
func TestClientsTellTheTruth(t *testing.T) {
	skipRaced(t)
	w := newWorld(t, 44)
	c, err := client.New(client.Options{BaseURL: w.URL, APIKey: w.Partner})
	if err != nil {
		t.Fatal(err)
	}
	o := &oracle{world: w, checks: map[string]int{}, through: goClient{c.Chain(chainID)}}
	t.Run("typescript", func(t *testing.T) { tstest.Tools(t) }) // says so when they are not there
	if tstest.Installed(t) {
		o.through = twins{o.through, tsClient{tstest.NewDriver(t, tstest.Transpiled(t), w.URL, w.Partner, chainID)}}
	}
	for _, step := range []func(){func() {}, func() { o.fork(8) }} {
		step()
		w.Clock.Advance(3 * time.Hour) // long enough for the holders to be counted anew
		w.RunJobs()
		o.some()
	}
	if len(o.checks) < 12 {
		t.Errorf("only %d operations were compared: %v", len(o.checks), o.checks)
	}
}
