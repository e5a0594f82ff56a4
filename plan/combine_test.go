package plan_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/wiretest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
)

const pairsFile = "testdata/pairs.txt"

// fieldMarks are the cells of the table for each refused field.
var fieldMarks = map[string]string{
	"": ".", "transport": "t", "roster": "r", "pool": "p", "control": "c", "aggregator": "a",
	"weights": "w", "prox": "x",
	"rule": "l", "server_rule": "v", "precision": "h", "sharing": "s", "boxes": "b",
	"estimator":  "e",
	"correction": "g", "correction_at": "i",
	"late": "d", "async": "y", "mu_auto": "m",
	"step_auto": "z", "groups": "o", "dp_clip": "q",
	"secure": "f", "dp_of": "j", "classes": "C", "group_size": "O",
	"secure_lists": "L", "key_check": "K",
	"cohort": "D", "prior": "P", "length_fit": "S", "close": "n",
	"difference": "A", "distribution": "B", "steps": "E", "weight_decay": "F", "mu": "M",
	"covariance": "V", "perturbations_auto": "R",
}

// planOfPair returns a plan with the two choices of a pair.
func planOfPair(t *testing.T, pair wiretest.Pair) *plan.Plan {
	t.Helper()
	p := planOf(t, "decomfl")
	for _, s := range pair.Settings {
		name, value, _ := strings.Cut(s, "=")
		if err := planfile.Set(p, name, value); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return p
}

const pairHeader = "# What goes with what. " +
	"A cell is what becomes of a plan with the choices of its row and its" + `
# column, all else as in the preset decomfl with 3 steps, and the numbers that they need
# (sharing=per-client needs transport=relay, and the other way round; rule=adam, boxes and
# estimator=surrogate need transport=dense, correction and correction_at estimator=surrogate):
#   .  it can run      -  two values of one field
#   t r p c a w x  it is refused: transport, roster, pool, control, aggregator, weights, prox
` + "#   l v h s b e g i  rule, server_rule, precision, sharing, boxes, " +
	"estimator, correction, correction_at\n" +
	"#   d y m z  late, async, mu_auto, step_auto\n" +
	"#   o  groups\n" +
	"#   q  dp_clip\n" +
	"#   f  secure\n" +
	"#   j  dp_of\n" +
	"#   C O  classes, group_size\n" +
	"#   L K  secure_lists, key_check\n" +
	"#   A B E F M V R  difference, distribution, steps, weight_decay, mu, covariance, " +
	"perturbations_auto\n"

// pairTable returns a triangular table: a row for each choice, and a column for each choice before
// it.
func pairTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString(pairHeader)
	verdicts := map[[2]string]string{}
	for _, pair := range wiretest.Pairs() {
		verdicts[[2]string{pair.A, pair.B}] = fieldMarks[refusedField(t, pair)]
	}
	names := wiretest.Choices()
	for i, row := range names {
		fmt.Fprintf(&b, "%2d %-26s", i+1, short(row))
		for _, column := range names[:i] {
			mark, known := verdicts[[2]string{row, column}]
			if !known {
				mark = "-"
			}
			b.WriteString("  " + mark)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%29s", "")
	for i := range names[1:] {
		fmt.Fprintf(&b, " %2d", i+1)
	}
	b.WriteString("\n")
	return b.String()
}

// short returns a choice without its value if the value is long.
func short(choice string) string {
	name, _, _ := strings.Cut(choice, "=")
	if len(choice) > 26 {
		return name
	}
	return choice
}

// refusedField returns the field that the refusal of a pair names, or "" if the pair can run.
func refusedField(t *testing.T, pair wiretest.Pair) string {
	err := plancheck.Validate(planOfPair(t, pair))
	if err == nil {
		return ""
	}
	var fault *plan.Error
	if !errors.As(err, &fault) {
		t.Fatalf("%s with %s: %v", pair.A, pair.B, err)
	}
	if fieldMarks[fault.Field] == "" || fault.Value == nil || !strings.Contains(fault.Remedy, "=") {
		t.Errorf("%s with %s: field %s, value %v, remedy %q", pair.A, pair.B, fault.Field,
			fault.Value, fault.Remedy)
	}
	return fault.Field
}

// TestPairs compares the pairs of choices that can run with the table.
func TestPairs(t *testing.T) {
	got := pairTable(t)
	if *update {
		if err := os.WriteFile(pairsFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(pairsFile)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what plans say: go test ./plan -run TestPairs -update, then read the "+
			"difference\n%s", pairsFile, got)
	}
}

// TestPairsHaveEveryChoice: no value of an orthogonal field is left out.
func TestPairsHaveEveryChoice(t *testing.T) {
	dependent := []string{"initial", "key_scheme", "step_decay", "stop_when",
		"best_when"} // they exclude nothing
	named := wiretest.Choices()
	for _, f := range plan.Fields() {
		if slices.Contains(dependent, f.Name) {
			continue
		}
		for _, choice := range f.Choices() {
			if choice != "" && !slices.Contains(named, f.Name+"="+choice) {
				t.Errorf("%s=%s is in no pair: add it to wiretest/pairs.go", f.Name, choice)
			}
		}
	}
}
