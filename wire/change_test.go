package wire_test

import (
	"math"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// fullPlan returns a plan without zero fields, which cannot run.
func fullPlan(t testing.TB) *plan.Plan {
	t.Helper()
	r, err := wire.DecodeRecord(vector(t, "record-plan-all-92"))
	if err != nil {
		t.Fatal(err)
	}
	return r.Plan
}

// TestChangeCarriesEveryField: each changeable field survives encoding and decoding, also with the
// value zero.
func TestChangeCarriesEveryField(t *testing.T) {
	full := fullPlan(t)
	for _, f := range plan.Fields() {
		if !f.Changeable {
			continue
		}
		for _, values := range []*plan.Plan{full, {}} {
			c := &plan.Change{Fields: []uint64{f.Number}, Values: *values}
			r, err := wire.DecodeRecord(
				(&wire.Record{N: 2, Kind: wire.KindChange, Change: c}).Append(nil))
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			got, want := *full, *full
			r.Change.Apply(&got)
			c.Apply(&want)
			a, b := (&wire.Record{N: 1, Kind: wire.KindPlan, Plan: &got}).Append(nil),
				(&wire.Record{N: 1, Kind: wire.KindPlan, Plan: &want}).Append(nil)
			if string(a) != string(b) {
				t.Errorf("%s: got %+v\nwant %+v", f.Name, got, want)
			}
		}
	}
}

// TestMinusZero: an encoded plan has no -0, so that 0 has only one encoding.
func TestMinusZero(t *testing.T) {
	p := testPlan(t)
	p.WeightDecay = float32(math.Copysign(0, -1))
	p.Segments = []plan.Segment{{Name: "a", Len: 100, MuScale: float32(math.Copysign(0, -1))}}
	r, err := wire.DecodeRecord((&wire.Record{N: 1, Kind: wire.KindPlan, Plan: p}).Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	if math.Signbit(float64(r.Plan.WeightDecay)) ||
		math.Signbit(float64(r.Plan.Segments[0].MuScale)) {
		t.Errorf("got -0: %+v", r.Plan)
	}
}
