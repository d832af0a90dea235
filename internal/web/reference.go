package web

import (
	"fmt"
	"html/template"
	"strings"
)

// Reference is the API reference: an overview, or the operations of one family.
// Beside either stands the list of all operations.
type Reference struct {
	Title    string
	Lead     string
	Families []Family
	Overview []Section // of the first page
	Current  *Family   // of a page of one family
}

// Family is a group of operations, which has a page of its own.
type Family struct {
	Name, Href string
	Purpose    string
	Operations []Operation
}

// Operation is one entry of the reference.
type Operation struct {
	ID, Method, Path     string
	Summary, Description string
	Certification        string
	Tier, Scope          string
	Class, Audience      string
	Evidence             string
	Parameters           []Parameter
	Answer               string // name of the answer's type
	Fields               []Field
	Example              Code
	Failures             []Failure
}

// Parameter is an input of an operation.
type Parameter struct {
	Name, In, Type string
	Required       bool
	Default        string
	Bounds         string
	Description    string
}

// Field is a field of an answer. Parent is the path to the object that holds
// it, such as items[]. , and empty at the top.
type Field struct {
	Parent, Name string
	Type         string
	Description  string
}

// Failure is an error that an operation can answer with.
type Failure struct {
	Status     int
	Code, Slug string
	Title      string
}

// longAnswer is from how many fields an answer is folded.
const longAnswer = 16

// Long reports whether the answer's fields are better folded.
func (o Operation) Long() bool { return len(o.Fields) >= longAnswer }

// Tone is the style of the certification's tag.
func (o Operation) Tone() string {
	if o.Certification == "certified" {
		return "good"
	}
	return "warn"
}

// Body renders the reference below a page's layout.
func (r Reference) Body() (template.HTML, error) { return render("reference.html", r) }

// Markdown appends the operation, its title at the given heading level.
func (o Operation) Markdown(b *strings.Builder, level int) {
	fmt.Fprintf(b, "%s %s %s\n\n%s: %s\n\n", strings.Repeat("#", level), o.Method, o.Path, o.ID, o.Summary)
	if o.Description != "" {
		b.WriteString(o.Description + "\n\n")
	}
	fmt.Fprintf(b, "Certification %s; tier %s; scope %s; class %s; evidence: %s.\n\n", o.Certification, o.Tier, o.Scope, o.Class, o.Evidence)
	if len(o.Parameters) > 0 {
		t := Table{Head: []string{"Parameter", "In", "Type", "Required", "Default", "Bounds", "Meaning"}}
		for _, p := range o.Parameters {
			required := "no"
			if p.Required {
				required = "yes"
			}
			t.Rows = append(t.Rows, []string{p.Name, p.In, p.Type, required, p.Default, p.Bounds, p.Description})
		}
		t.Markdown(b)
	}
	fmt.Fprintf(b, "```\n%s\n```\n\nAnswer %s:\n\n", o.Example.Text, o.Answer)
	for _, f := range o.Fields {
		fmt.Fprintf(b, "- `%s%s` %s", f.Parent, f.Name, f.Type)
		if f.Description != "" {
			b.WriteString(": " + f.Description)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nFailures:")
	for i, f := range o.Failures {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(b, " %d %s", f.Status, f.Code)
	}
	b.WriteString(".\n\n")
}
