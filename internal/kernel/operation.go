package kernel

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// outputs is where an answer has its parts.
type outputs struct {
	status int // field Status; -1 without
	body   int // field Body; -1 without
	usual  int // the status of one that says none
	header map[int]string
}

// describeInput adds what a route takes to its operation, and says how that is read.
func (s *Server) describeInput(op *huma.Operation, t reflect.Type) *inputs {
	schemas := s.huma.OpenAPI().Components.Schemas
	in := &inputs{headers: reflect.PointerTo(t).Implements(reflect.TypeFor[HeaderChecker]())}
	in.describeParameters(op, schemas, t, nil)
	if f, ok := t.FieldByName("Body"); ok {
		in.schema = huma.SchemaFromField(schemas, f, hintOf(t, f.Name, op.OperationID+"Request"))
		in.required = f.Type.Kind() != reflect.Pointer
		in.body = f.Index
		in.bodyFields(f.Type, f.Index)
		op.RequestBody = &huma.RequestBody{Required: in.required, Content: map[string]*huma.MediaType{JSONType: {Schema: in.schema}}}
		in.schema.PrecomputeMessages()
	}
	if f, ok := t.FieldByName("RawBody"); ok {
		in.raw, in.required = f.Index, true
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			f.Tag.Get("contentType"): {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}
	}
	return in
}

// describeParameters finds them in a struct and in those that it embeds, in the order of
// their fields.
func (in *inputs) describeParameters(op *huma.Operation, schemas huma.Registry, t reflect.Type, path []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(path), i)
		switch p, ok := parameterOf(f); {
		case !f.IsExported() || f.Name == "Body":
		case f.Anonymous:
			in.describeParameters(op, schemas, f.Type, at)
		case ok:
			p.field, p.schema = at, huma.SchemaFromField(schemas, f, "")
			p.checked, p.longest = checks(p.schema), longest(p.schema)
			in.parameters = append(in.parameters, p)
			described := &huma.Param{Name: p.name, In: p.in, Description: p.schema.Description, Required: p.required, Schema: p.schema}
			if p.in == "query" {
				described.Explode = &p.list
			}
			op.Parameters = append(op.Parameters, described)
		}
	}
}

// describeOutput adds what a route answers to its operation, and says where that is.
func (s *Server) describeOutput(op *huma.Operation, t reflect.Type) *outputs {
	schemas := s.huma.OpenAPI().Components.Schemas
	out := &outputs{status: -1, body: -1, usual: op.DefaultStatus, header: map[int]string{}}
	described := &huma.Response{}
	for i := range t.NumField() {
		switch f := t.Field(i); f.Name {
		case "Status":
			out.status = i
		case "Body":
			out.body = i
			described.Headers = map[string]*huma.Param{}
			described.Content = map[string]*huma.MediaType{JSONType: {Schema: huma.SchemaFromField(schemas, f, hintOf(t, f.Name, op.OperationID+"Response"))}}
		}
	}
	switch {
	case out.usual != 0:
	case out.body >= 0:
		out.usual = http.StatusOK
	default:
		out.usual = http.StatusNoContent
	}
	op.DefaultStatus = out.usual
	for i := range t.NumField() {
		if f := t.Field(i); i != out.status && i != out.body {
			name := f.Tag.Get("header")
			out.header[i] = name
			described.Headers[name] = &huma.Header{Schema: huma.SchemaFromField(schemas, f, "")}
		}
	}
	described.Description = http.StatusText(out.usual)
	op.Responses = map[string]*huma.Response{strconv.Itoa(out.usual): described}
	failure := schemas.Schema(reflect.TypeFor[Envelope](), true, "Envelope")
	for _, status := range op.Errors {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status), Content: map[string]*huma.MediaType{JSONType: {Schema: failure}}}
	}
	return out
}

// hintOf names the schema of a field whose type has no name.
func hintOf(t reflect.Type, field, other string) string {
	if t.Name() != "" {
		return t.Name() + field
	}
	return other
}

// write sends an answer.
func (o *outputs) write(w http.ResponseWriter, v reflect.Value) error {
	for i, name := range o.header {
		w.Header().Set(name, v.Field(i).String())
	}
	status := o.usual
	if o.status >= 0 {
		status = int(v.Field(o.status).Int())
	}
	if o.body < 0 {
		w.WriteHeader(status)
		return nil
	}
	w.Header()["Content-Type"] = typeJSON
	w.WriteHeader(status)
	if status == http.StatusNoContent {
		return nil
	}
	return writeJSON(w, v.Field(o.body).Addr().Interface())
}
