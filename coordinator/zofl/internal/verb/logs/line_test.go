package logs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// TestPrintRecord: rounds of every transport and of either width, and of no term, which
// a damaged log can have; a change.
func TestPrintRecord(t *testing.T) {
	round := func(r wire.Round) []byte {
		return (&wire.Record{N: 9, Epoch: 1, Kind: wire.KindRound, Round: &r}).Append(nil)
	}
	var change plan.Change
	for name, value := range map[string]string{"step": "0.005", "weight_decay": "0",
		"step_decay": "inverse-sqrt"} {
		if err := planfile.SetChange(&change, name, value); err != nil {
			t.Fatal(err)
		}
	}
	var search plan.Change
	for name, value := range map[string]string{"step": "auto", "mu": "auto", "server_decay": "0"} {
		if err := planfile.SetChange(&search, name, value); err != nil {
			t.Fatal(err)
		}
	}
	one, halves := wire.AppendScalars(nil, 0.5), plan.Half.Append(nil, 0.5, -2)
	surrogate := plan.Plan{
		Dim:             6,
		ProbeFields:     plan.ProbeFields{Estimator: plan.Surrogate},
		SurrogateFields: plan.SurrogateFields{Features: 50},
		AggregateFields: plan.AggregateFields{Transport: plan.DenseVectors},
	}
	tests := []struct {
		record     []byte
		plan       plan.Plan
		text, json string // parts of the line
	}{
		{round(wire.Round{Round: 8, Perturbations: 1, Terms: []wire.Term{{Scalars: one}}}),
			plan.Plan{},
			" terms=1 scalars=1\n", `"perturbations":1,"terms":[{"scalars":[0.5]}]`},
		{round(wire.Round{Round: 8, Terms: []wire.Term{{Source: 1, Scalars: halves},
			{Source: 4, Scalars: halves}}}), plan.Plan{
			AggregateFields: plan.AggregateFields{Precision: plan.Half},
		},
			" terms=2 scalars=4 slots=[0 3]\n",
			`[{"slot":0,"scalars":[0.5,-2]},{"slot":3,"scalars":[0.5,-2]}]`},
		{round(wire.Round{Round: 8, Perturbations: 2, Terms: []wire.Term{{Source: 1,
			Scalars: plan.Int4.Append(plan.Int4.Append(nil, 1, -1), 0, 0)}}}),
			plan.Plan{
				ProbeFields:     plan.ProbeFields{Steps: 2},
				AggregateFields: plan.AggregateFields{Precision: plan.Int4},
			},
			" terms=1 scalars=4 slots=[0]\n", `"scalars":[1.09375,-1.09375,0,0]`},
		{round(wire.Round{Round: 8, Perturbations: 9, Terms: []wire.Term{{Source: 1,
			Scalars: plan.Int4.Append(nil, 1, -1)}}}), // does not fit
			plan.Plan{
				ProbeFields:     plan.ProbeFields{Steps: 2},
				AggregateFields: plan.AggregateFields{Precision: plan.Int4},
			},
			" terms=1 scalars=0 slots=[0]\n", `"scalars":null`},
		{round(wire.Round{Round: 8, Terms: []wire.Term{{Source: 1, Scalars: one}},
			Weights: []uint32{600}}), plan.Plan{},
			" slots=[0]\n", `[{"slot":0,"weight":600,"scalars":[0.5]}]`},
		{round(wire.Round{Round: 8, Phase: 2,
			Terms: []wire.Term{{Scalars: halves}, {Back: 1, Scalars: halves}}}),
			plan.Plan{AggregateFields: plan.AggregateFields{Precision: plan.Half}},
			" phase=2\n", `"phase":2,"terms":[{"scalars":[0.5,-2]},{"back":1,"scalars":[0.5,-2]}]`},
		{round(wire.Round{Round: 8, Slots: []uint32{2, 5}, Population: 7,
			Terms: []wire.Term{{Scalars: one}}}), plan.Plan{},
			" slots=[2 5]\n", `"population":7,"slots":[2,5]`},
		{round(wire.Round{Round: 8}), plan.Plan{}, "round=8 ", `"round":8`},
		{round(wire.Round{Round: 8, Factor: 0.25}), plan.Plan{}, " factor=0.25\n", `"factor":0.25`},
		{round(wire.Round{Round: 8, Phase: 1, Object: bytes.Repeat([]byte{0xab}, wire.ObjectLen)}),
			surrogate,
			" object=" + strings.Repeat("ab", wire.ObjectLen) + " elements=6 phase=1\n",
			`"object":"` + strings.Repeat("ab", wire.ObjectLen) + `","elements":6`},
		{round(wire.Round{Round: 8, Phase: 2, Object: bytes.Repeat([]byte{0xab}, wire.ObjectLen)}),
			surrogate,
			" elements=50 phase=2\n", `"elements":50}`},
		{(&wire.Record{N: 9, Epoch: 1, Kind: wire.KindChange, Change: &change}).Append(nil),
			plan.Plan{},
			` weight_decay=0 step=0.005 step_decay="inverse-sqrt"`,
			`"change":{"weight_decay":0,"step":0.005,"step_decay":"inverse-sqrt"}`},
		{(&wire.Record{N: 9, Epoch: 1, Kind: wire.KindChange, Change: &search}).Append(nil),
			plan.Plan{}, " mu=auto step=auto server_decay=0\n", `"change":{"mu":0,"step":0,`},
	}
	for i, test := range tests {
		for asJSON, want := range map[bool]string{true: test.json, false: test.text} {
			var out strings.Builder
			if err := printRecord(&out, test.record, &test.plan, asJSON); err != nil ||
				!strings.Contains(out.String(), want) {
				t.Errorf("row %d: %q, %v, want %q in it", i, out.String(), err, want)
			}
		}
	}
}
