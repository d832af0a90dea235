package kernel

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// What a request brings is read into the struct that its handler takes. Which field is
// which parameter is worked out once, when the route is registered; a request costs a look
// at each of them. Schemas are Huma's, and so are the checks against them, so that what is
// refused is what the document forbids.

// parameter is a field that is filled from the path, the query or a header.
type parameter struct {
	in, name string
	at       string // what a refusal calls it, such as query.order
	field    []int
	list     bool // takes several values, each given by itself
	limit    bool // is a Limit
	required bool
	usual    string // where nothing is given
	schema   *huma.Schema
	checked  bool // the schema forbids something
	longest  int  // text of so many bytes at most is never forbidden; 0 where that cannot be said
}

// inputs is how requests of one route are read.
type inputs struct {
	parameters []parameter
	body, raw  []int // fields Body and RawBody; nil of an input without
	schema     *huma.Schema
	required   bool // there must be a body
	defaults   []bodyDefault
	limits     [][]int // fields of the type BodyLimit
	headers    bool    // is a HeaderChecker
}

// bodyDefault is the text of a field of the body that was left out.
type bodyDefault struct {
	field []int
	text  string
}

// HeaderChecker is an input that looks at the headers itself, after its parameters are read.
type HeaderChecker interface {
	// CheckHeaders returns what is wrong with them, as Huma tells it, or nil.
	CheckHeaders(http.Header) *huma.ErrorDetail
}

// parameterOf reads the tags of a field; false for one that is no parameter.
func parameterOf(f reflect.StructField) (parameter, bool) {
	p := parameter{usual: f.Tag.Get("default"), limit: f.Type == reflect.TypeFor[Limit]()}
	for _, in := range []string{"path", "query", "header"} {
		if text := f.Tag.Get(in); text != "" {
			name, option, _ := strings.Cut(text, ",")
			p.in, p.name, p.list = in, name, option == "explode"
			break
		}
	}
	if p.in == "" {
		return p, false
	}
	if kind := f.Type.Kind(); !p.limit && kind != reflect.String && !(p.list && f.Type == reflect.TypeFor[[]string]()) {
		panic(fmt.Sprintf("kernel: parameter %s is a %s: there are texts, lists of them (explode) and limits", p.name, f.Type))
	}
	p.at, p.required = p.in+"."+p.name, p.in == "path" || f.Tag.Get("required") == "true"
	return p, true
}

// checks says whether the schema of a parameter forbids any text.
func checks(s *huma.Schema) bool {
	return s.MaxLength != nil || s.MinLength != nil || s.Pattern != "" || len(s.Enum) > 0 || s.Items != nil || s.MaxItems != nil || s.MinItems != nil ||
		s.Type != huma.TypeString || (s.Format != "" && s.Format != FeltFormat)
}

// longest is how long text may be that a schema forbids only for its length.
func longest(s *huma.Schema) int {
	if s.MaxLength == nil {
		return 0
	}
	other := *s
	other.MaxLength = nil
	if checks(&other) {
		return 0
	}
	return *s.MaxLength // in characters, none of which takes less than a byte
}

// bodyFields finds what has to be filled in after a body was decoded.
func (in *inputs) bodyFields(t reflect.Type, path []int) {
	if t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		at := append(slices.Clone(path), i)
		text := f.Tag.Get("default")
		switch {
		case f.Type == reflect.TypeFor[BodyLimit]():
			in.limits = append(in.limits, at)
			continue
		case text != "" && f.Type.Kind() == reflect.String:
			in.defaults = append(in.defaults, bodyDefault{at, text})
		case text != "" && (f.Type.Kind() != reflect.Bool || text != "false"):
			panic(fmt.Sprintf("kernel: field %s has a default and is a %s: texts have", f.Name, f.Type))
		}
		in.bodyFields(f.Type, at)
	}
}

// read fills an input from its request, and says all that is wrong with it.
func (s *Server) read(in *inputs, r *http.Request, req *Request, v reflect.Value) *Error {
	var wrong []error
	for i := range in.parameters {
		wrong = s.readParameter(&in.parameters[i], r, req, v, wrong)
	}
	status := http.StatusUnprocessableEntity
	if in.body != nil || in.raw != nil {
		text, err := io.ReadAll(r.Body) // it is in memory: see takeBody
		if err != nil {
			return &Error{Code: CodeInternal, Message: "Something went wrong on our side.", Cause: fmt.Errorf("read the body: %w", err)}
		}
		if len(text) == 0 && in.required {
			return humaFailure(http.StatusBadRequest, "request body is required", wrong)
		}
		if in.raw != nil {
			v.FieldByIndex(in.raw).SetBytes(text)
		}
		if in.schema != nil && len(text) > 0 {
			status, wrong = s.readFields(in, r.Header.Get("Content-Type"), req.Route.Verbatim, text, v, wrong)
		}
		for _, at := range in.limits {
			v.FieldByIndex(at).Addr().Interface().(*BodyLimit).page = req.Route.Page
		}
	}
	if in.headers {
		if detail := v.Addr().Interface().(HeaderChecker).CheckHeaders(r.Header); detail != nil {
			wrong = append(wrong, detail)
		}
	}
	if len(wrong) > 0 {
		return humaFailure(status, "validation failed", wrong)
	}
	return nil
}

// readParameter fills one field. The query was looked at before: see checkQuery.
func (s *Server) readParameter(p *parameter, r *http.Request, req *Request, v reflect.Value, wrong []error) []error {
	var text string
	var texts []string
	switch p.in {
	case "path":
		text = r.PathValue(p.name)
	case "query":
		if texts = req.query[p.name]; len(texts) > 0 {
			text = texts[0]
		}
	case "header":
		text = r.Header.Get(p.name)
	}
	if text == "" && p.usual != "" {
		text, texts = p.usual, []string{p.usual}
	}
	f := v.FieldByIndex(p.field)
	if p.limit {
		l := f.Addr().Interface().(*Limit)
		if l.page = req.Route.Page; text == "" {
			return wrong
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return append(wrong, &huma.ErrorDetail{Location: p.at, Message: "invalid integer", Value: text})
		}
		l.value, l.given = n, true
		return wrong
	}
	switch {
	case text == "" && p.required:
		return append(wrong, &huma.ErrorDetail{Location: p.at, Message: "required " + p.in + " parameter is missing", Value: ""})
	case text == "":
		return wrong
	case p.list:
		f.Set(reflect.ValueOf(texts))
	default:
		f.SetString(text)
	}
	if !p.checked || !p.list && len(text) <= p.longest {
		return wrong
	}
	var value any = text
	if p.list {
		value = texts
	}
	path := huma.NewPathBuffer(make([]byte, 0, 64), 0)
	path.Push(p.in)
	path.Push(p.name)
	var found huma.ValidateResult
	huma.Validate(s.huma.OpenAPI().Components.Schemas, p.schema, path, huma.ModeWriteToServer, value, &found)
	return append(wrong, found.Errors...)
}

// readFields decodes a body. What the schema forbids is told in its words; what it passes
// and the decoder refuses, such as a number that is too large, in the decoder's.
func (s *Server) readFields(in *inputs, kind string, verbatim bool, text []byte, v reflect.Value, wrong []error) (int, []error) {
	if kind == "" {
		kind = JSONType
	}
	status, valid := http.StatusUnprocessableEntity, true
	fault := func(err error) []error {
		return append(wrong, &huma.ErrorDetail{Location: "body", Message: err.Error(), Value: string(text)})
	}
	if !verbatim {
		var parsed any
		if err := s.huma.Unmarshal(kind, text, &parsed); err != nil {
			if status = http.StatusBadRequest; errors.Is(err, huma.ErrUnknownContentType) {
				status = http.StatusUnsupportedMediaType
			}
			wrong, valid = fault(err), false
		} else {
			path := huma.NewPathBuffer(make([]byte, 0, 128), 0)
			path.Push("body")
			var found huma.ValidateResult
			huma.Validate(s.huma.OpenAPI().Components.Schemas, in.schema, path, huma.ModeWriteToServer, parsed, &found)
			wrong, valid = append(wrong, found.Errors...), len(found.Errors) == 0
		}
	}
	if in.body == nil {
		return status, wrong
	}
	if err := s.huma.Unmarshal(kind, text, v.FieldByIndex(in.body).Addr().Interface()); err != nil {
		if valid {
			wrong = fault(err)
		}
		return status, wrong
	}
	for _, d := range in.defaults {
		if f := v.FieldByIndex(d.field); f.IsZero() {
			f.SetString(d.text)
		}
	}
	return status, wrong
}
