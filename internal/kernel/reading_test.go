package kernel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"chainexplorer/internal/kernel"
)

type readInput struct {
	Chain string   `path:"chain"`
	Order string   `query:"order" enum:"desc,asc" default:"desc"`
	Word  string   `query:"word" maxLength:"4"`
	Both  string   `query:"both" maxLength:"9" pattern:"^[a-z]+$"`
	Needs string   `query:"needs" required:"true" doc:"A letter."`
	Lists []string `query:"lists,explode"`
	Short []string `query:"short,explode" maxItems:"2"`
	Mark  string   `header:"X-Mark" pattern:"^[a-z]+$"`
	Body  struct {
		Mode  string `json:"mode,omitempty" enum:"whole,part" default:"whole"`
		Count uint8  `json:"count,omitempty"`
		Inner struct {
			Name string `json:"name,omitempty" default:"nobody"`
		} `json:"inner,omitempty"`
	}

	marks int
}

func (in *readInput) CheckHeaders(h http.Header) *huma.ErrorDetail {
	if in.marks = len(h["X-Mark"]); in.marks > 1 {
		return &huma.ErrorDetail{Location: "header.X-Mark", Message: "it can be given once"}
	}
	return nil
}

type readOutput struct {
	Link   string `header:"Link"`
	Status int
	Body   struct {
		Saw string `json:"saw"`
	}
}

// TestReading fills every kind of field from a request, and tells all that is wrong with one.
func TestReading(t *testing.T) {
	s := serve(t)
	route := pagedRoute("read", http.MethodPost, kernel.Page{})
	kernel.Register(s.k, route, func(_ context.Context, in *readInput) (*readOutput, error) {
		out := &readOutput{Link: "<x>", Status: http.StatusAccepted}
		out.Body.Saw = fmt.Sprint(in.Chain, " ", in.Order, " ", in.Word, " ", in.Needs, " ", in.Lists, " ", in.Short, " ", in.Mark, in.marks, " ", in.Body.Mode, " ", in.Body.Count, " ", in.Body.Inner.Name)
		return out, nil
	})
	long := `{"count":7` + strings.Repeat(" ", 89) + `}` // as many bytes as the route takes
	for _, tt := range []struct {
		query, body string
		marks       []string
		status      int
		want        string
	}{
		{"needs=a", "{}", nil, 202, "X desc  a [] [] 0 whole 0 nobody"},
		{"needs=a&order=asc&word=w&lists=b,c&lists=d&short=e", `{"mode":"part","inner":{"name":"n"}}`, []string{"m"}, 202, "X asc w a [b,c d] [e] m1 part 0 n"},
		{"needs=a&word=four", "{}", nil, 202, "X desc four a"},
		{"needs=a&word=%C3%BC%C3%BC%C3%BC%C3%BC", "{}", nil, 202, "X desc üüüü a"}, // four of two bytes
		{"needs=a&word=%C3%BC%C3%BC%C3%BC%C3%BC%C3%BC", "{}", nil, 400, "query.word: expected length <= 4"},
		{"needs=a&both=UP", "{}", nil, 400, "query.both: expected string to match pattern"},
		{"needs=a", long, nil, 202, "X desc  a [] [] 0 whole 7 nobody"},
		{"needs=a", long + " ", nil, 413, "larger than 100 bytes"},
		{"", "{}", nil, 400, "query.needs: required query parameter is missing"},
		{"needs=a&order=up&word=toolong&short=1&short=2&short=3", `{"mode":"none"}`, []string{"M"}, 400,
			`query.order: expected value to be one of "desc, asc"; query.word: expected length <= 4; query.short: expected array length <= 2; header.X-Mark: expected string to match pattern ^[a-z]+$; body.mode: expected value to be one of "whole, part"`},
		{"needs=a", "{}", []string{"a", "b"}, 400, "header.X-Mark: it can be given once"},
		{"needs=a", "", nil, 400, "body: it is not JSON: it ends too early."},
		{"needs=a", `{"count":300}`, nil, 400, "body.count: the value is out of range"},
		{"needs=a", `{"other":1}`, nil, 400, "body.other: unexpected property"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/v1/X/read?"+tt.query, strings.NewReader(tt.body))
		r.Header.Set(kernel.HeaderKey, s.key)
		r.Header["X-Mark"] = tt.marks
		w := httptest.NewRecorder()
		s.k.ServeHTTP(w, r)
		var got struct{ Saw, Message string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != tt.status || !strings.Contains(got.Saw+got.Message, tt.want) {
			t.Errorf("?%s %s %v: %d %s, want %d %s", tt.query, tt.body, tt.marks, w.Code, w.Body, tt.status, tt.want)
		}
	}
}

// TestInputsThatCannotBeRead are mistakes in the program.
func TestInputsThatCannotBeRead(t *testing.T) {
	refused := func(what, why string, register func(*kernel.Server)) {
		t.Helper()
		s := serve(t)
		defer func() {
			if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), why) {
				t.Errorf("%s: %v, want %s", what, p, why)
			}
		}()
		register(s.k)
	}
	refused("a number in the query", "parameter n is a int", func(k *kernel.Server) {
		kernel.Register(k, pagedRoute("wrong", http.MethodGet, kernel.Page{}), func(context.Context, *struct {
			chainPath
			N int `query:"n"`
		}) (*counted, error) {
			return sized(0)
		})
	})
	refused("a default that is no text", "field N has a default", func(k *kernel.Server) {
		kernel.Register(k, pagedRoute("wrong", http.MethodPost, kernel.Page{}), func(context.Context, *struct {
			chainPath
			Body struct {
				N int `json:"n,omitempty" default:"1"`
			}
		}) (*counted, error) {
			return sized(0)
		})
	})
	refused("a body of any size", "says not how large", func(k *kernel.Server) {
		kernel.Register(k, pagedRoute("wrong", http.MethodGet, kernel.Page{}), func(context.Context, *struct {
			chainPath
			Body struct{}
		}) (*counted, error) {
			return sized(0)
		})
	})
}
