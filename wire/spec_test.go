package wire_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

const specFile = "../docs/wire.md"

// generated has the functions that generate parts of the specification from the code.
var generated = map[string]func(*testing.T) string{
	"fields": fieldTable, "choices": choiceTable, "limits": limitTable, "bytes": byteTable,
	"parts": partTable,
}

func fieldTable(*testing.T) string {
	var b strings.Builder
	b.WriteString("| number | name | form | range | c | meaning |\n|---|---|---|---|---|---|\n")
	for _, f := range plan.Fields() {
		change, limits := "", f.Range()
		if f.Changeable {
			change = "c"
		}
		if f.Form() == "choice" {
			limits = ""
		}
		form := map[string]string{"text": "str", "hex": "bin", "whole number": "uint",
			"number": "finite float", "list": "array", "choice": "choice"}
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s | %s | %s |\n", f.Number, f.Name, form[f.Form()],
			limits, change, strings.ReplaceAll(f.Doc, "|", `\|`))
	}
	return b.String()
}

func choiceTable(*testing.T) string {
	var b strings.Builder
	b.WriteString("| field | choices |\n|---|---|\n")
	row := func(name string, choices []string) {
		var list []string
		for number, choice := range choices {
			if choice != "" {
				list = append(list, fmt.Sprintf("%d %s", number, choice))
			}
		}
		fmt.Fprintf(&b, "| %s | %s |\n", name, strings.Join(list, ", "))
	}
	for _, f := range plan.Fields() {
		if f.Form() == "choice" {
			row("`"+f.Name+"`", f.Choices())
		}
	}
	row("fill of a segment",
		[]string{plan.ZeroFill.String(), plan.UniformFill.String(), plan.NormalFill.String()})
	return b.String()
}

func limitTable(*testing.T) string {
	var b strings.Builder
	b.WriteString("| most | |\n|---|---|\n")
	for _, l := range []struct {
		value uint64
		of    string
	}{
		{wire.MaxFrame, "bytes of a frame: give brokers this max_payload"},
		{wire.MaxRecord, "bytes of a record"},
		{plan.MaxScalars, "scalars of a contribution or a term: K*P"},
		{wire.MaxTerms, "terms of a round"},
		{wire.MaxSlots, "slots of a round"},
		{plan.MaxMembers, "members of a roster with slots; slots are below it"},
		{wire.FullThreshold, "sampled"},
		{plan.MaxWeight, "weight"},
		{plan.MaxName, "bytes of a run, an id, a segment's or a metric's name"},
		{wire.MaxReason, "bytes of a text for people"},
		{plan.MaxSegments, "segments"},
		{plan.MaxPoints, "points of a schedule"},
		{plan.MaxMetrics, "metrics"},
		{plan.MaxDim, "parameters, of a model or a segment"},
		{plan.MaxSubspace, "moves that span a subspace"},
		{plan.MaxLate, "rounds for which a late contribution counts"},
		{plan.MaxPool, "directions of a pool"},
		{plan.MaxDense, "elements of a vector that devices send"},
		{wire.MaxPiece, "bytes of a vector in a frame"},
		{plan.MaxFeatures, "random features"},
		{plan.MaxWindow, "losses that a surrogate uses"},
		{64, "bytes of a plan's bin"},
		{255, "keys of a map"},
	} {
		fmt.Fprintf(&b, "| %d | %s |\n", l.value, l.of)
	}
	return b.String()
}

func byteTable(t *testing.T) string {
	p := testPlan(t)
	c := cost.Of(p, cost.Input{Round: 100, IDLen: 8})
	fzoos := planOf(t, "fzoos")
	fzoos.Dim = 300
	f := cost.Of(fzoos, cost.Input{Round: 100, IDLen: 8})
	return fmt.Sprintf("| message | payload | socket |\n|---|---|---|\n"+
		"| announcement | %d | %d |\n| the same repeated, to ten devices that work | %d | %d |\n"+
		"| contribution | %d | %d |\n| record in the log | %d | |\n"+
		"| `fzoos`, d = 300, M = 10000: all that a device sends in a round | %d | %d |\n| all "+
		"that it receives | %d | %d |\n",
		c.Down.Payload, c.Down.Socket, c.Repeat.Payload, c.Repeat.Socket, c.Up.Payload, c.Up.Socket,
		c.Record,
		f.Up.Payload, f.Up.Socket, f.Down.Payload, f.Down.Socket)
}

// partTable returns a table of the bytes of a relay round by purpose: in the long form, in the
// short form, and the lower bound.
func partTable(t *testing.T) string {
	p := planOf(t, "fedzo")
	p.Steps, p.Perturbations, p.Members, p.Target, p.Quorum = 1, 19, 100, 10, 5
	p.Precision, p.MaxScalar = plan.Half, 65504
	in := cost.Input{Round: 1000, IDLen: 8}
	full := cost.AccountOf(p, in).Down
	p.ServerRule, p.ServerBeta1, p.ServerBeta2 = plan.ServerNormalized, 0.9, 0.99
	p.StepDecay, p.Rounds = plan.Cosine, 2000
	short := cost.AccountOf(p, in)
	p.Precision = plan.Int4
	few := cost.AccountOf(p, in)
	var b strings.Builder
	b.WriteString("| received in a round | in full | short | least | short, 4 bits | least |\n" +
		"|---|---|---|---|---|---|\n")
	for _, row := range []struct {
		name string
		part func(cost.Parts) int
	}{
		{"scalars", func(p cost.Parts) int { return p.Values }},
		{"whose they are", func(p cost.Parts) int { return p.Who }},
		{"step sizes", func(p cost.Parts) int { return p.Steps }},
		{"prev or tip", func(p cost.Parts) int { return p.Chain }},
		{"other fields of the announcement", func(p cost.Parts) int { return p.Fields }},
		{"other fields of the record", func(p cost.Parts) int { return p.Record }},
		{"NATS's line", func(p cost.Parts) int { return p.Framing }},
		{"all", cost.Parts.Sum},
	} {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", row.name, row.part(full),
			row.part(short.Down), row.part(short.Floor), row.part(few.Down), row.part(few.Floor))
	}
	return b.String()
}

// TestSpecTables compares the generated tables of the specification with the code.
func TestSpecTables(t *testing.T) {
	file, err := os.ReadFile(specFile)
	if err != nil {
		t.Fatal(err)
	}
	spec := string(file)
	for name, table := range generated {
		mark := fmt.Sprintf("<!-- generated: %s -->\n", name)
		before, after, found := strings.Cut(spec, mark)
		_, after, ended := strings.Cut(after, "<!-- end -->")
		if !found || !ended {
			t.Fatalf("no part %q", name)
		}
		spec = before + mark + table(t) + "<!-- end -->" + after
	}
	if *update {
		if err := os.WriteFile(specFile, []byte(spec), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if spec != string(file) {
		t.Errorf("docs/wire.md is not what the code says: go test ./wire -run TestSpecTables -update, " +
			"then read the difference")
	}
}

var specFrame = regexp.MustCompile("(?s)<!-- frame: (\\S+) -->\n```text\n(.*?)```")

// TestSpecFrames compares the frames in the specification with their vectors.
func TestSpecFrames(t *testing.T) {
	file, err := os.ReadFile(specFile)
	if err != nil {
		t.Fatal(err)
	}
	shown := specFrame.FindAllStringSubmatch(string(file), -1)
	if len(shown) != 8 {
		t.Fatalf("got %d frames, want 8", len(shown))
	}
	for _, m := range shown {
		var digits strings.Builder
		for line := range strings.Lines(m[2]) {
			bytes, _, _ := strings.Cut(line, "  ") // words follow
			digits.WriteString(strings.Join(strings.Fields(bytes), ""))
		}
		if got, want := digits.String(), hex.EncodeToString(vector(t, m[1])); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", m[1], got, want)
		}
	}
}

// testPlan returns a plan that can run.
func testPlan(t testing.TB) *plan.Plan { return planOf(t, "decomfl") }

// planOf returns the plan of a preset, for run mnist over 100 parameters.
func planOf(t testing.TB, name string) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound(name, "mnist", 100)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
