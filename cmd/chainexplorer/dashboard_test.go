package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"chainexplorer/internal/edge"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/gateway"
	"chainexplorer/internal/gateway/live"
	"chainexplorer/internal/gateway/upstream"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/recheck"
	"chainexplorer/internal/job"
	"chainexplorer/internal/job/privacypool"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/node"
	"chainexplorer/internal/relay"
	"chainexplorer/internal/store/pebble"
	"chainexplorer/internal/store/postgres"
	"chainexplorer/internal/store/postgres/pgtest"
	"chainexplorer/internal/usage"
	"chainexplorer/internal/verification/controller"
)

var (
	metricDesc = regexp.MustCompile(`fqName: "([^"]+)".*constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)
	constLabel = regexp.MustCompile(`(\w+)="`)
)

// exported is every metric that the program registers, with its labels.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	reg, server := prometheus.NewRegistry(), prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	node.NewMetrics(reg)
	index.NewMetrics(reg)
	job.NewMetrics(reg)
	recheck.NewMetrics(reg)
	kernel.NewMetrics(reg)
	usage.NewMetrics(reg)
	newReceiptFailures(reg)
	controller.NewMetrics(nil, reg)
	relay.NewMetrics(reg)
	gateway.NewMetrics(reg)
	ofChain := prometheus.WrapRegistererWith(prometheus.Labels{"chain": "SN_MAIN"}, reg) // as the gateway does
	upstream.NewMetrics(ofChain)
	live.NewMetrics(ofChain)
	edge.Bound(nil, edge.Options{Name: "api", Registerer: reg})
	embedded, err := pebble.Open(pebble.Options{Dir: t.TempDir(), Tables: catalog.Tables(), Metrics: reg})
	if err != nil {
		t.Fatal(err)
	}
	defer embedded.Close() //nolint:errcheck // empty
	shared, err := postgres.Open(t.Context(), postgres.Options{URL: pgtest.Database(t), Schema: "chain_x", Tables: catalog.Tables(), Metrics: server})
	if err != nil {
		t.Fatal(err)
	}
	defer shared.Close() //nolint:errcheck // empty
	privacypool.RegisterMetrics(reg, embedded, nil, 0)
	found := map[string][]string{}
	for _, r := range []*prometheus.Registry{reg, server} {
		descs := make(chan *prometheus.Desc)
		go func() {
			defer close(descs)
			r.Describe(descs)
		}()
		for d := range descs {
			m := metricDesc.FindStringSubmatch(d.String())
			if m == nil {
				t.Fatalf("%s", d)
			}
			found[m[1]] = strings.Split(m[3], ",")
			for _, l := range constLabel.FindAllStringSubmatch(m[2], -1) {
				found[m[1]] = append(found[m[1]], l[1])
			}
		}
	}
	return found
}

var (
	selector  = regexp.MustCompile(`\{[^}]*\}`)
	interval  = regexp.MustCompile(`\[[^\]]*\]`)
	grouping  = regexp.MustCompile(`\bby\s*\(([^)]*)\)`)
	word      = regexp.MustCompile(`[A-Za-z_:][A-Za-z0-9_:]*\s*\(?`)
	histogram = regexp.MustCompile(`_(bucket|sum|count)$`)
	selected  = regexp.MustCompile(`([A-Za-z_:][A-Za-z0-9_:]*)\{([^}]*)\}`)
	matcher   = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)\s*"`)
)

// metricsIn lists the metrics of an expression: names that are neither functions
// nor labels nor operators.
func metricsIn(expr string) (names []string) {
	rest := grouping.ReplaceAllString(interval.ReplaceAllString(selector.ReplaceAllString(expr, " "), " "), " ")
	for _, w := range word.FindAllString(rest, -1) {
		if w = strings.TrimSpace(w); !strings.HasSuffix(w, "(") && w != "or" && w != "and" {
			names = append(names, w)
		}
	}
	return names
}

// checkExpression holds what an expression names against what the program exports.
func checkExpression(t *testing.T, known map[string][]string, where, expr string) (used []string) {
	t.Helper()
	const fromOutside = " le chain instance job " // labels of Prometheus, and of serve
	names := metricsIn(expr)
	ownName := func(n string) string {
		if _, ok := known[n]; ok {
			return n
		}
		return histogram.ReplaceAllString(n, "")
	}
	if len(names) == 0 {
		t.Errorf("%s: no metric in %s", where, expr)
	}
	var labels []string
	for _, n := range names {
		base := ownName(n)
		own, ok := known[base]
		if !ok {
			t.Errorf("%s: the program has no metric %s", where, n)
		}
		used = append(used, base)
		labels = append(labels, own...)
	}
	for _, s := range selected.FindAllStringSubmatch(expr, -1) {
		for _, m := range matcher.FindAllStringSubmatch(s[2], -1) {
			if label := m[1]; !slices.Contains(known[ownName(s[1])], label) && !strings.Contains(fromOutside, " "+label+" ") {
				t.Errorf("%s: %s has no label %s", where, s[1], label)
			}
		}
	}
	for _, g := range grouping.FindAllStringSubmatch(expr, -1) {
		for label := range strings.SplitSeq(g[1], ",") {
			if label = strings.TrimSpace(label); !slices.Contains(labels, label) && !strings.Contains(fromOutside, " "+label+" ") {
				t.Errorf("%s: no metric of it has the label %s", where, label)
			}
		}
	}
	return used
}

// TestDashboard: what the dashboard asks for is what the program exports.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../../docs/grafana/chainexplorer.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			ID      int
			Type    string
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Name, Type, Definition string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	known := exported(t)
	used, ids := map[string]bool{}, map[int]bool{}
	check := func(where, expr string) {
		for _, name := range checkExpression(t, known, where, expr) {
			used[name] = true
		}
	}
	for _, p := range board.Panels {
		if ids[p.ID] {
			t.Errorf("two panels have the id %d", p.ID)
		}
		ids[p.ID] = true
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %s shows nothing", p.Title)
		}
		for _, target := range p.Targets {
			check(p.Title, target.Expr)
		}
	}
	for _, v := range board.Templating.List {
		if inner, ok := strings.CutPrefix(v.Definition, "label_values("); ok {
			check("variable "+v.Name, inner[:strings.LastIndex(inner, ",")])
		}
	}
	for name := range known {
		if ours := strings.HasPrefix(name, "chainexplorer_"); ours && !used[name] {
			t.Errorf("no panel shows %s", name)
		}
	}
}

// Names without the program's own prefix collide with those of other exporters:
// node_ is taken by the one that watches machines.
func TestMetricsHaveAPrefix(t *testing.T) {
	for name := range exported(t) {
		if !strings.HasPrefix(name, "chainexplorer_") && !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			t.Errorf("metric %s has no prefix", name)
		}
	}
}
