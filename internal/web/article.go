package web

import (
	"fmt"
	"html/template"
	"strings"
)

// Article is a guide: it renders as a page for people and as Markdown for
// programs that read. Its texts may carry the markup of prose.go.
type Article struct {
	Title    string
	Lead     string
	Sections []Section
}

// Section is a part of an article with a heading.
type Section struct {
	ID     string // anchor; unique on its page
	Title  string
	Blocks []Block
}

// Block is one of: a paragraph, a list, a table, an example.
type Block struct {
	Text  string
	List  []string
	Table *Table
	Code  *Code
}

// Table is a table whose first column names the rows.
type Table struct {
	Head []string
	Rows [][]string
}

// Code is an example, shown as it is.
type Code struct {
	Text string
	// Status is what the service answers to an example request; 0 when the
	// example is not a request.
	Status int
}

// Body renders the article below a page's layout.
func (a Article) Body() (template.HTML, error) { return render("article.html", a) }

// Markdown appends the article, its title at the given heading level.
func (a Article) Markdown(b *strings.Builder, level int) {
	fmt.Fprintf(b, "%s %s\n\n", strings.Repeat("#", level), a.Title)
	if a.Lead != "" {
		b.WriteString(a.Lead + "\n\n")
	}
	for _, s := range a.Sections {
		s.Markdown(b, level+1)
	}
}

// Markdown appends the section.
func (s Section) Markdown(b *strings.Builder, level int) {
	fmt.Fprintf(b, "%s %s\n\n", strings.Repeat("#", level), s.Title)
	for _, block := range s.Blocks {
		block.markdown(b)
	}
}

func (k Block) markdown(b *strings.Builder) {
	switch {
	case k.Code != nil:
		fmt.Fprintf(b, "```\n%s\n```\n\n", k.Code.Text)
	case k.Table != nil:
		k.Table.Markdown(b)
	case len(k.List) > 0:
		for _, item := range k.List {
			b.WriteString("- " + item + "\n")
		}
		b.WriteString("\n")
	default:
		b.WriteString(k.Text + "\n\n")
	}
}

// Markdown appends the table.
func (t Table) Markdown(b *strings.Builder) {
	row := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
	row(t.Head)
	b.WriteString(strings.Repeat("|---", len(t.Head)) + "|\n")
	for _, r := range t.Rows {
		row(r)
	}
	b.WriteString("\n")
}
