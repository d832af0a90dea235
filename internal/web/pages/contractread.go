package pages

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// maxCalldata is how many felts a call may have, as the route takes.
const maxCalldata = 256

// readView is the data of the page that calls functions.
type readView struct {
	L *look
	contractHead
	// Where is the block that is read at, and Chosen what the visitor asked for.
	Where   *api.Entrypoints
	Chosen  string
	Missing string
	Proxy   bool
	Forms   []readForm
	Others  int // views that are left out
	Result  *readResult
}

// readForm is a function that can be called.
type readForm struct {
	Name      string
	Signature template.HTML
	Fields    []readField
	// Raw says that the arguments cannot be written one by one: calldata is asked for.
	Raw bool
	// Open says that this is the function that was called.
	Open bool
}

// readField is an argument in a form.
type readField struct {
	ID, Name, Label, Hint, Value string
	Type                         template.HTML
	Bool, Long                   bool
	Problem                      string
}

// readResult is what a call came to: values, or why there are none.
type readResult struct {
	Name     string
	Answer   *api.ContractRead
	Fields   []abi.Field
	Decoded  bool
	Why      string // why the result was not decoded
	Failure  string
	Cure     string
	AgainURL string
}

// contractReadPage lists the functions of a contract that change nothing, and calls one.
// The block is pinned by its hash, and the functions are those of the class that the
// contract had there.
func contractReadPage(l *look) (*sheet, error) {
	h, err := l.contractOf("/read")
	if err != nil {
		return nil, err
	}
	v := &readView{L: l, contractHead: h}
	if v.Chosen, err = l.block("block"); err != nil {
		return nil, err
	}
	s := &sheet{title: "Read contract " + h.called(), description: fmt.Sprintf("Functions of contract %s on %s that can be read, at a block of your choice.", h.C.Address, l.Chain),
		trail: l.contractTrail(h, true), name: "contractread.html", data: v}
	tag := v.Chosen
	if tag == "" {
		tag = "latest"
	}
	v.Where, err = ask[api.Entrypoints](l, "getContractEntrypoints", url.Values{"block_tag": {tag}}, h.C.Address.String())
	if e := (*kernel.Error)(nil); errors.As(err, &e) && e.Code == kernel.CodeServiceUnavailable {
		v.Missing = "The code of its class has not been fetched from a node yet: what can be read is not known."
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	l.shows("getClass", url.Values{"instanceLimit": {"1"}}, v.Where.ClassHash.String())
	d, err := class.Describe(l.ctx, l.reader, v.Where.ClassHash)
	if err != nil || d == nil {
		v.Missing = "What can be read of its class is not known."
		return s, err
	}
	v.Proxy = d.Proxy
	name := l.query.Get("function")
	v.list(d, name)
	if name == "" {
		return s, nil
	}
	door, ok := d.View(name)
	if !ok {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "The contract has no function %q that can be read at block %d.", kernel.Clip(name, 80), v.Where.BlockNumber)
	}
	if !v.filled() {
		return s, nil // somebody followed a link to the form
	}
	return v.call(s, d, door)
}

// filled says that the form that is open has no fields, or was sent.
func (v *readView) filled() bool {
	for i := range v.Forms {
		if f := &v.Forms[i]; f.Open {
			return len(f.Fields) == 0 || v.L.query.Has(f.Fields[0].Name)
		}
	}
	return false
}

// list makes the forms of the functions; that of chosen holds what was typed.
func (v *readView) list(d *class.Description, chosen string) {
	external := byName(d.External)
	for i := range external {
		door := &external[i]
		if door.Mutability != class.View {
			continue
		}
		open := door.Name == chosen
		if len(v.Forms) >= shownDoors && !open {
			v.Others++
			continue
		}
		v.Forms = append(v.Forms, v.form(d, door, open))
	}
}

func (v *readView) form(d *class.Description, door *class.Door, open bool) readForm {
	f := readForm{Name: door.Name, Signature: signature(door, ""), Open: open}
	arguments, known := d.Takes(door).Arguments(abi.External, door.Selector)
	for i, a := range arguments {
		if a.Input == abi.InputNone {
			known = false
			break
		}
		n := strconv.Itoa(i)
		field := readField{ID: "f-" + door.Selector.String()[2:] + "-" + n, Name: "arg" + n, Label: a.Label, Type: typeHTML(a.Type), Hint: hint(&a), Bool: a.Input == abi.InputBool, Long: a.Input == abi.InputLiteral}
		if open {
			field.Value = v.L.query.Get(field.Name)
		}
		f.Fields = append(f.Fields, field)
	}
	if !known {
		f.Raw, f.Fields = true, []readField{{ID: "f-" + door.Selector.String()[2:] + "-raw", Name: "calldata", Label: "calldata", Long: true, Hint: "the felts of all arguments, with spaces between"}}
		if open {
			f.Fields[0].Value = v.L.query.Get("calldata")
		}
	}
	return f
}

// hint says how an argument is written.
func hint(a *abi.Argument) string {
	switch a.Input {
	case abi.InputText:
		return "a text"
	case abi.InputFelt:
		return "a number, 0x…, or up to 31 characters in 'single quotes'"
	case abi.InputLiteral:
		return "such as " + a.Example
	}
	return "a number, or 0x…"
}

// call prepares the question, which is put when the view is closed.
func (v *readView) call(s *sheet, d *class.Description, door *class.Door) (*sheet, error) {
	v.Result = &readResult{Name: door.Name}
	calldata, err := v.arguments(d, door)
	if wrong := (*abi.ArgumentError)(nil); errors.As(err, &wrong) {
		s.status = http.StatusBadRequest
		v.Result.Failure = "The argument " + err.Error() + "."
		v.blame(wrong)
		return s, nil
	}
	if err != nil {
		s.status = http.StatusBadRequest
		v.Result.Failure = plainly(err.Error())
		if e := (*kernel.Error)(nil); errors.As(err, &e) {
			v.Result.Failure = plainly(e.Message)
		}
		return s, nil
	}
	q := url.Values{"selector": {door.Selector.String()}, "block_tag": {v.Where.BlockTag.String()}}
	for _, f := range calldata {
		q.Add("calldata", f.String())
	}
	again := url.Values{}
	for name, values := range v.L.query {
		again[name] = values
	}
	again.Set("block", v.Where.BlockTag.String())
	v.Result.AgainURL = withQuery(v.L.r.URL.EscapedPath(), again)
	gives := d.Gives(door)
	s.await = func() error {
		answer, err := ask[api.ContractRead](v.L, "readContract", q, v.C.Address.String())
		if e := (*kernel.Error)(nil); errors.As(err, &e) && e.Code != kernel.CodeInternal {
			s.status = kernel.Codes[e.Code].Status
			v.Result.Failure, v.Result.Cure = sentence(e.Message), kernel.Codes[e.Code].Cure
			return nil
		}
		if err != nil {
			return err
		}
		v.Result.Answer = answer
		v.Result.decode(gives, door)
		return nil
	}
	return s, nil
}

// blame marks the field that is wrong.
func (v *readView) blame(e *abi.ArgumentError) {
	for i := range v.Forms {
		if f := &v.Forms[i]; f.Open && !f.Raw && e.Index < len(f.Fields) {
			f.Fields[e.Index].Problem = e.Problem
		}
	}
}

// arguments are the felts of what was typed.
func (v *readView) arguments(d *class.Description, door *class.Door) ([]felt.Felt, error) {
	for i := range v.Forms {
		f := &v.Forms[i]
		if !f.Open {
			continue
		}
		if f.Raw {
			return rawCalldata(f.Fields[0].Value)
		}
		texts := make([]string, len(f.Fields))
		for k := range f.Fields {
			texts[k] = f.Fields[k].Value
		}
		return d.Takes(door).Encode(abi.External, door.Selector, texts, maxCalldata)
	}
	return nil, errors.New("the function is not known")
}

// rawCalldata reads felts with spaces or commas between them.
func rawCalldata(text string) (out []felt.Felt, err error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' || r == '\r' || r == '\t' })
	if len(words) > maxCalldata {
		return nil, kernel.Fail(kernel.CodeInvalidRequest, "A call takes at most %d felts.", maxCalldata)
	}
	for _, w := range words {
		f, err := kernel.FeltOf("calldata", w)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// decode reads the felts of an answer by the types of the ABI.
func (r *readResult) decode(gives *abi.Calls, door *class.Door) {
	if r.Answer.ResultTruncated {
		r.Why = "The result is longer than what is shown, and is not decoded."
		return
	}
	out := gives.Decode(abi.External, door.Selector, r.Answer.Result)
	switch {
	case out.Status == abi.Decoded:
		r.Decoded, r.Fields = true, out.Fields
	case out.UnavailableReason == abi.PayloadShapeMismatch:
		r.Why = "The result does not have the form that the ABI describes, and is shown as it is."
	default:
		r.Why = "The ABI does not describe the result in a way that can be decoded; it is shown as it is."
	}
}
