package runlog

import (
	"context"
	"math"
	"reflect"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// take takes values of two devices each, after records 1, 2, ...
func take(b *Best, values ...float64) {
	for i, v := range values {
		b.Take(BestRecord{Record: Claim{N: uint64(i + 1)}, Value: v, Devices: 2}, 0)
	}
}

func TestBestTakes(t *testing.T) {
	b := &Best{Metric: "accuracy"}
	take(b, 0.5, math.NaN(), 0.25, 0.75, 0.75, math.Inf(1))
	if last := b.Last(); last == nil || last.Record.N != 5 || last.Value != 0.75 || b.Since != 1 {
		t.Errorf("the best is %+v, since %d", last, b.Since)
	}
	b = &Best{Metric: "loss", Lowest: true}
	take(b, 0.5, 0.25, 0.75)
	if last := b.Last(); last.Record.N != 2 || b.Since != 1 {
		t.Errorf("the lowest is %+v, since %d", last, b.Since)
	}
	if b.Take(BestRecord{Record: Claim{N: 3}, Value: 0, Devices: 2}, 0); b.Last().Record.N != 2 {
		t.Error("a second value of a record counts")
	}
	for n := uint64(4); n < 9; n++ {
		b.Take(BestRecord{Record: Claim{N: n}, Value: 0.25, Devices: 2}, 0)
	}
	if last := b.Last(); len(b.Records) != 3 || b.Records[1].Record.N != 2 || last.Record.N != 8 ||
		b.Since != 6 {
		t.Errorf("of equal values %+v are left, since %d, want the first and the last", b.Records,
			b.Since)
	}
	if (*Best)(nil).Last() != nil {
		t.Error("nil has a best record")
	}
}

// An evaluation of few devices does not count, and no longer counts once others have many more.
func TestBestOfFew(t *testing.T) {
	b := &Best{Metric: "accuracy"}
	for i, of := range []struct {
		devices  uint32
		value    float64
		n        uint64 // of the best then
		counting bool
	}{
		{1, 0.99, 1, true}, {3, 0.5, 2, true}, {1, 0.9, 2, false}, {2, 0.6, 4, true},
		{8, 0.4, 5, true}, {3, 0.9, 5, false}, {4, 0.7, 7, true},
	} {
		counts, _ := b.Take(BestRecord{Record: Claim{N: uint64(i + 1)}, Value: of.value,
			Devices: of.devices}, 0)
		if b.Last().Record.N != of.n || counts != of.counting {
			t.Errorf("value %d: counts %v, and record %d is the best, want %+v", i+1, counts,
				b.Last().Record.N, of)
		}
	}
}

// Only the last records are kept, so that the text of decisions has a bound.
func TestBestForgets(t *testing.T) {
	b := &Best{Metric: "accuracy"}
	for n := range uint64(3 * mostBest) {
		b.Take(BestRecord{Record: Claim{N: n + 1, Tip: wire.Tip{1}}, Round: math.MaxInt64,
			Value: float64(n) + 0.12345678, Devices: math.MaxUint32}, 0)
	}
	if len(b.Records) != mostBest || b.Last().Record.N != 3*mostBest {
		t.Errorf("%d records, up to %d", len(b.Records), b.Last().Record.N)
	}
	if _, err := (&Decisions{Best: b}).Text(); err != nil {
		t.Error(err)
	}
}

// vectorOfBest is the text of decisions with a best record.
const vectorOfBest = "zofl decisions 1\n" +
	`{"best":{"metric":"accuracy","since":3,"most":4,"at":150,"records":[{"record":` +
	`"120:0102ff0000000000","round":118,"value":0.953,"devices":4}]}}` + "\n" + "59932d15\n"

func TestBestVector(t *testing.T) {
	d := Decisions{Best: &Best{Metric: "accuracy", Since: 3, Most: 4, At: 150,
		Records: []BestRecord{{Record: Claim{120, wire.Tip{1, 2, 0xff}}, Round: 118, Value: 0.953,
			Devices: 4}}}}
	text, err := d.Text()
	if err != nil || string(text) != vectorOfBest || d.None() {
		t.Errorf("the text is\n%s%v, want\n%s", text, err, vectorOfBest)
	}
	got, err := ReadDecisions([]byte(vectorOfBest))
	if err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("it is read as %+v, %v, want %+v", got, err, d)
	}
	var log Memory
	if err := log.Decide(context.Background(), d); err != nil {
		t.Fatal(err)
	}
}

func TestLossMean(t *testing.T) {
	var m LossMean
	for round := uint64(4); round <= 40; round++ {
		mean, ok := m.Add(round, float32(round))
		if want := round%LossRounds == 0 && round > 10; ok != want || ok && mean != float64(round)-4.5 {
			t.Errorf("round %d: %v, %v", round, mean, ok)
		}
	}
}

func TestEnds(t *testing.T) {
	p := &plan.Plan{}
	b := &Best{Metric: "f1", Since: 5, Records: []BestRecord{{Record: Claim{N: 9}, Value: 0.5}}}
	for patience, want := range map[uint32]bool{0: false, 4: true, 5: true, 6: false} {
		if p.Patience = patience; (b.Ends(p) != "") != want {
			t.Errorf("patience %d after %d evaluations: %q", patience, b.Since, b.Ends(p))
		}
	}
}
