package metrics

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// grafana is the Grafana dashboard in docs.
const grafana = "../../../../docs/grafana.json"

var (
	// aside matches the parts of a query that name no metric: texts, label matchers, ranges, and
	// labels to group by.
	aside = regexp.MustCompile(`"[^"]*"|\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)`)
	word  = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	named = regexp.MustCompile(`\{\{ *(\w+) *\}\}`)
	of    = regexp.MustCompile(`\{([^}]*)\}`)
	equal = regexp.MustCompile(`(\w+) *[=!]`)
)

// functions are the words in queries that are not names of metrics.
var functions = []string{"rate", "increase", "sum", "max", "histogram_quantile", "label_values",
	"run"}

// A query is one of the dashboard, with the text that names its series.
type query struct{ expr, legend string }

// queries returns all queries below a value of JSON.
func queries(v any) (list []query) {
	switch v := v.(type) {
	case map[string]any:
		if expr, ok := v["expr"].(string); ok {
			legend, _ := v["legendFormat"].(string)
			title, _ := v["titleFormat"].(string)
			list = append(list, query{expr, legend + title})
		}
		if text, ok := v["query"].(string); ok && text != "prometheus" {
			list = append(list, query{expr: text})
		}
		for _, inner := range v {
			list = append(list, queries(inner)...)
		}
	case []any:
		for _, inner := range v {
			list = append(list, queries(inner)...)
		}
	}
	return list
}

// unknown returns the metrics and labels in a query that a scrape does not have.
func unknown(q query, scrape string) (names []string) {
	for _, name := range word.FindAllString(aside.ReplaceAllString(q.expr, " "), -1) {
		if !slices.Contains(functions, name) &&
			!regexp.MustCompile(`(?m)^`+name+`(\{| )`).MatchString(scrape) {
			names = append(names, name)
		}
	}
	var labels []string
	for _, m := range named.FindAllStringSubmatch(q.legend, -1) {
		labels = append(labels, m[1])
	}
	for _, m := range of.FindAllStringSubmatch(q.expr, -1) {
		for _, l := range equal.FindAllStringSubmatch(m[1], -1) {
			labels = append(labels, l[1])
		}
	}
	for _, l := range labels {
		// Prometheus itself adds the label instance.
		if l != "instance" && !strings.Contains(scrape, l+`="`) {
			names = append(names, "label "+l)
		}
	}
	return names
}

// TestGrafana: a scrape has all metrics and labels of every query of the dashboard.
func TestGrafana(t *testing.T) {
	b, err := os.ReadFile(grafana)
	if err != nil {
		t.Fatal(err)
	}
	var board any
	if err := json.Unmarshal(b, &board); err != nil {
		t.Fatal(err)
	}
	m, _ := newMeter(t)
	text := scrape(t, m)
	list := queries(board)
	if len(list) < 20 {
		t.Errorf("%d queries", len(list))
	}
	asked := ""
	for _, q := range list {
		asked += q.expr + "\n"
		if names := unknown(q, text); len(names) > 0 {
			t.Errorf("%s: a scrape has no %q", q.expr, names)
		}
	}
	for _, name := range []string{"zofl_loss", "zofl_evaluation_metric", "zofl_replies_total"} {
		if !strings.Contains(asked, name) {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
	for _, wrong := range []query{{expr: "zofl_lost"}, {expr: `rate(zofl_loss{rum="x"}[5m])`},
		{expr: "zofl_loss", legend: "{{ device }}"}} {
		if len(unknown(wrong, text)) == 0 {
			t.Errorf("%+v passes", wrong)
		}
	}
}
