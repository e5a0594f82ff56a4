package main

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/wire"
)

// TestPrintRound: of every transport, of either width, and of none, which a damaged
// log can have.
func TestPrintRound(t *testing.T) {
	round := func(r wire.Round) []byte {
		return (&wire.Record{N: 9, Epoch: 1, Kind: wire.KindRound, Round: &r}).Append(nil)
	}
	halves := wire.Half.Append(nil, 0.5, -2)
	tests := []struct {
		record    []byte
		precision wire.Precision
		want      []string
	}{
		{round(wire.Round{Round: 8, Terms: []wire.Term{{Scalars: wire.AppendScalars(nil, 0.5)}}}), wire.Single,
			[]string{`"terms":[{"scalars":[0.5]}]`}},
		{round(wire.Round{Round: 8, Terms: []wire.Term{{Source: 1, Scalars: halves}, {Source: 4, Scalars: halves}}}), wire.Half,
			[]string{`{"slot":0,"scalars":[0.5,-2]}`, `{"slot":3,"scalars":[0.5,-2]}`}},
		{round(wire.Round{Round: 8, Phase: 2, Terms: []wire.Term{{Scalars: halves}, {Back: 1, Scalars: halves}}}), wire.Half,
			[]string{`"phase":2`, `{"back":1,"scalars":[0.5,-2]}`}},
		{round(wire.Round{Round: 8}), wire.Single, []string{`"round":8`}},
	}
	for i, test := range tests {
		var out strings.Builder
		if err := printRecord(&out, test.record, test.precision, true); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("row %d: %s lacks %s", i, out.String(), want)
			}
		}
		out.Reset()
		if err := printRecord(&out, test.record, test.precision, false); err != nil || !strings.HasPrefix(out.String(), "9 round") {
			t.Errorf("row %d: %q, %v", i, out.String(), err)
		}
	}
}
