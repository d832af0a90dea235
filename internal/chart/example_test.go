package chart_test

import (
	"fmt"
	"html/template"
	"strings"

	"chainexplorer/internal/chart"
)

// show prints how a drawing begins.
func show(html template.HTML, err error) {
	line, _, _ := strings.Cut(string(html), "\n")
	if opening, _, long := strings.Cut(line, ">"); long {
		line = opening + ">"
	}
	fmt.Println(line, err)
}

func ExampleArea() {
	show(chart.Area{ID: "fees", Title: "Fees per day", Axis: "Day", Unit: "STRK", Points: []chart.Point{
		{At: 1, Label: "Nov 1", Value: "12.5"},
		{At: 2, Label: "Nov 2"}, // not known
		{At: 3, Label: "Nov 3", Value: "0"},
	}}.HTML())
	// Output: <figure class="chart"> <nil>
}

func ExampleSteps() {
	show(chart.Steps{ID: "balance", Title: "Balance", Axis: "Block", Unit: "STRK", Points: []chart.Point{
		{At: 100, Label: "100", Value: "5"},
		{At: 250, Label: "250", Value: "4.999999999999999999"},
	}, Until: 300, UntilLabel: "now"}.HTML())
	// Output: <figure class="chart"> <nil>
}

func ExampleSpark() {
	show(chart.Spark{Title: "Transactions per block", Points: []chart.Point{{At: 1, Value: "40"}, {At: 2, Value: "65"}}}.HTML())
	// Output: <svg class="spark" role="img" aria-label="Transactions per block. Lowest 40, highest 65, last known 65." viewBox="0 0 1000 1000" preserveAspectRatio="none"> <nil>
}

func ExampleBars() {
	c := chart.Bars{ID: "days", Title: "Deposits per day", Parts: []chart.Part{{Name: "deposits", Class: "bar"}}, Bars: []chart.Bar{{Label: "Nov 1", Title: "Nov 1: 7", Counts: []int64{7}}}}
	show(c.HTML())
	show(c.Table().HTML())
	// Output:
	// <figure class="chart"> <nil>
	// <details class="numbers"> <nil>
}

func ExampleHistogram() {
	show(chart.Histogram{ID: "sizes", Title: "Sizes", Unit: "STRK", Of: "transfers", Buckets: []chart.Bucket{{From: "0", To: "10", Count: 90}, {From: "10", Count: 4}}}.HTML())
	// Output: <figure class="chart"> <nil>
}

func ExampleDistribution() {
	show(chart.Distribution{ID: "holders", Title: "Who holds it", Ranks: []chart.Rank{{First: 1, Percent: "12.5"}, {First: 10, Percent: "45"}, {First: 100, Percent: "91.3"}}}.HTML())
	// Output: <figure class="chart"> <nil>
}

func ExampleFlow() {
	alice := chart.Party{Text: "0x1234…abcd", Href: "/address/0x1234", Key: "the bytes of the address"}
	show(chart.Flow{ID: "flow", Title: "Where the tokens went", Arrows: []chart.Arrow{{From: alice, To: chart.Party{Text: "burned"}, Amount: "5 STRK"}}}.HTML())
	// Output: <figure class="flow" aria-labelledby="flow-title"> <nil>
}

func ExampleFinality() {
	show(chart.Finality{Title: "Finality of block 123", Marks: []chart.Mark{
		{Name: "Accepted on L2", State: chart.Reached, Note: "3 min ago"},
		{Name: "Finalized by depth", State: chart.Waiting, Note: "12 of 64 blocks"},
		{Name: "Accepted on L1"}, // not known
	}}.HTML())
	// Output: <ol class="finality" aria-label="Finality of block 123"> <nil>
}

func ExampleRibbon() {
	show(chart.Ribbon{Title: "Newest blocks", Boxes: []chart.Box{
		{Key: "123", Href: "/block/123", Text: "Block 123, 45 transactions, accepted on L2", Name: "123", Note: "45 tx", Full: new(0.4), Marks: 1},
	}}.HTML())
	// Output: <ol class="ribbon" aria-label="Newest blocks"> <nil>
}

func ExampleTimeline() {
	show(chart.Timeline{ID: "classes", Title: "Classes", Events: []chart.Event{{At: 100, When: "block 100", Name: "Deployed"}, {At: 900, When: "block 900", Name: "Upgraded", Href: "/class/0x1"}}}.HTML())
	// Output: <figure class="timeline" aria-labelledby="classes-title"> <nil>
}

func ExampleLanes() {
	show(chart.Lanes{ID: "message", Title: "Where the message is", Left: "Ethereum", Right: "Starknet", Stops: []chart.Stop{{Name: "Sent", State: chart.Reached}, {Right: true, Name: "Received", State: chart.Waiting}}}.HTML())
	// Output: <figure class="lanes" aria-labelledby="message-title"> <nil>
}

func ExampleIdenticon() {
	show(chart.Identicon([]byte("the bytes of an address")), nil)
	// Output: <svg class="ident hue10" viewBox="0 0 5 5" aria-hidden="true"> <nil>
}
