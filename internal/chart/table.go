package chart

import "html/template"

// Table is the numbers of a chart. The first cell of a row says what the others are of.
type Table struct {
	// Title is the chart's.
	Title string
	Head  []string
	Rows  [][]string
}

const tableTemplate = `{{define "table"}}<details class="numbers"><summary>The numbers</summary>
<div class="scroll" role="region" tabindex="0" aria-label="The numbers: {{.Title}}"><table>
<thead><tr>{{range $i, $h := .Head}}<th scope="col"{{if $i}} class="num"{{end}}>{{$h}}</th>{{end}}</tr></thead>
<tbody>{{range .Rows}}<tr>{{range $i, $c := .}}{{if $i}}<td class="num">{{$c}}</td>{{else}}<th scope="row">{{$c}}</th>{{end}}{{end}}</tr>
{{end}}</tbody></table></div></details>
{{end}}`

// HTML is the table, folded away.
func (t Table) HTML() (template.HTML, error) { return render("table", t) }
