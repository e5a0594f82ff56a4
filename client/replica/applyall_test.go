package replica

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zofl/zofl/prng"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// history returns the records of a run with records of all kinds in many orders: long sequences of
// rounds, another P, changes, a rollback, the end.
func history(t *testing.T, p *plan.Plan) [][]byte {
	t.Helper()
	c, random, n := newChain(p.Run), lcg(5), uint64(0)
	records := [][]byte{c.plan(p)}
	rounds := func(count int, perturbations uint32) {
		for range count {
			n++
			scalars := random.scalars(int(p.Steps) * int(perturbations))
			records = append(records, c.round(n, 0.01, perturbations, scalars))
		}
	}
	change := func(field, value string) {
		var ch plan.Change
		if err := planfile.SetChange(&ch, field, value); err != nil {
			t.Fatal(err)
		}
		records = append(records, c.add(wire.Record{Kind: wire.KindChange, Change: &ch}))
	}
	rounds(3, p.Perturbations)
	change("weight_decay", "0.25")
	rounds(maxMoves+2, 1)
	change("weight_decay", "0")
	records = append(records, c.add(wire.Record{Kind: wire.KindRollback, To: c.n}))
	rounds(2, p.Perturbations)
	rounds(2, p.Perturbations+8)
	return append(records,
		c.add(wire.Record{Kind: wire.KindEnd, End: &wire.End{Reason: wire.EndRequested}}))
}

// variants calls f with plans that together have every choice on which a step depends.
func variants(f func(name string, p *plan.Plan)) {
	for _, dist := range []plan.Distribution{plan.Normal, plan.Rademacher} {
		for _, rule := range []plan.Rule{plan.SGD, plan.Momentum, plan.TorchMomentum} {
			for _, dim := range []uint64{1, 4095, 4096, 4097, 9000} {
				p := basePlan()
				p.Distribution, p.Rule, p.Dim = dist, rule, dim
				p.Steps, p.Perturbations = 1+uint32(dim%2), 1+uint32(dim%5)
				if rule != plan.SGD {
					p.Beta = 0.9
				}
				if dim == 9000 {
					p.Segments = layouts["several"]
				}
				f(fmt.Sprint(dist, rule, dim), p)
			}
		}
	}
}

// ApplyAll has the result of applying one record after another, for any number of workers
// and however the records are divided among calls.
func TestApplyAll(t *testing.T) {
	variants(func(name string, p *plan.Plan) {
		t.Run(name, func(t *testing.T) {
			records := history(t, p)
			one := New(Config{Run: p.Run})
			for _, record := range records {
				mustApply(t, one, record)
			}
			for workers := range 5 {
				r, left := New(Config{Run: p.Run, Workers: workers}), records
				for n := []int{len(left), 1, 7, 60}[workers%4]; len(left) > 0; n = n*5%71 + 1 {
					n = min(n, len(left))
					if applied, err := r.ApplyAll(left[:n]); applied != n || err != nil {
						t.Fatalf("%d workers: %d records applied, %v, want %d", workers, applied, err, n)
					}
					left = left[n:]
				}
				if stateOf(r) != stateOf(one) || !slices.Equal(r.Params(), one.Params()) {
					t.Errorf("%d workers: %+v, one by one %+v", workers, stateOf(r), stateOf(one))
				}
			}
		})
	})
}

// A round with more terms than may be pending is applied without other rounds.
func TestApplyAllOfManyTerms(t *testing.T) {
	p := basePlan()
	p.Dim, p.Steps = 10, 3
	c, random := newChain(p.Run), lcg(6)
	records := [][]byte{c.plan(p)}
	for i, perturbations := range []uint32{5, maxTerms/3 - 5, 1, maxTerms, 2, maxTerms / 3, 1} {
		records = append(records,
			c.round(uint64(i+1), 0.01, perturbations, random.scalars(3*int(perturbations))))
	}
	one, all := New(Config{Run: p.Run}), New(Config{Run: p.Run})
	for _, record := range records {
		mustApply(t, one, record)
	}
	if n, err := all.ApplyAll(records); n != len(records) || err != nil ||
		stateOf(all) != stateOf(one) {
		t.Errorf("%d applied, %v: %+v, want %+v", n, err, stateOf(all), stateOf(one))
	}
}

// At a faulty record ApplyAll returns the error of Apply, and leaves the state before that record.
// Apply and ApplyAll can continue from this state.
func TestApplyAllStopsAtFault(t *testing.T) {
	p := smallPlan()
	p.Dim, p.Steps, p.Perturbations = 5000, 2, 3
	good := history(t, p)
	forged := newChain("golden")
	forged.n = 8
	bad := map[string][]byte{
		"cut off":      good[8][:len(good[8])-1],
		"out of order": good[1],
		"fork":         forged.round(8, 1, 1, wire.AppendScalars(nil, 1, 2)),
		// set below, to follow the record before it
		"rollback elsewhere": nil, "step 0": nil, "bad change": nil,
	}
	for at := 2; at < 12; at++ {
		one := New(Config{Run: p.Run})
		for _, record := range good[:at] {
			mustApply(t, one, record)
		}
		before := stateOf(one)
		here := chain{one.N(), one.Hash()}
		next := func(r wire.Record) []byte { c := here; return c.add(r) }
		bad["rollback elsewhere"] = next(wire.Record{Kind: wire.KindRollback, To: here.n - 1})
		bad["step 0"] = next(wire.Record{Kind: wire.KindRound, Round: &wire.Round{
			Round: 1, Perturbations: 1, Terms: []wire.Term{{Scalars: wire.AppendScalars(nil, 1, 2)}}}})
		var tooMany plan.Change
		if err := planfile.SetChange(&tooMany, "quorum", "7"); err != nil { // above the target
			t.Fatal(err)
		}
		bad["bad change"] = next(wire.Record{Kind: wire.KindChange, Change: &tooMany})
		for name, record := range bad {
			want := one.Apply(record)
			if want == nil || stateOf(one) != before {
				t.Fatalf("%s after %d records: Apply accepted it", name, at)
			}
			all := New(Config{Run: p.Run, Workers: 2})
			applied, err := all.ApplyAll(slices.Concat(good[:at], [][]byte{record}, good[at:]))
			if applied != at || err == nil || err.Error() != want.Error() {
				t.Errorf("%s after %d records: %d applied and %v, want %v", name, at, applied, err, want)
			}
			if stateOf(all) != before {
				t.Errorf("%s after %d records: %+v, want %+v", name, at, stateOf(all), before)
			}
			if n, err := all.ApplyAll(good[at:]); n != len(good)-at || err != nil {
				t.Errorf("%s after %d records: continuing applies %d records: %v", name, at, n, err)
			}
		}
	}
}

// After warming up, operations allocate nothing.
func TestOperationsDoNotAllocate(t *testing.T) {
	const perturbations, runs = 9, 20
	for _, workers := range []int{1, 2, 3} {
		for name, segments := range layouts {
			p := basePlan()
			p.Dim, p.Rule, p.Beta = 9000, plan.TorchMomentum, 0.9
			if p.Segments = segments; segments == nil {
				p.Dim = workFor + 4096 // enough to share out
			}
			r, c := New(Config{Run: p.Run, Workers: workers}), newChain(p.Run)
			mustApply(t, r, c.plan(p))
			random, records := lcg(7), [][]byte(nil)
			for n := range uint64(3 * (runs + 2)) {
				records = append(records, c.round(n+1, 0.01, perturbations, random.scalars(perturbations)))
			}
			plus := make([]float32, p.Dim)
			dst := [][]float32{make([]float32, p.Dim-1), make([]float32, p.Dim-1), nil, plus[1:]}
			points := &Points{X: r.Params(), Mu: 1, Central: true}
			local := &Local{X: slices.Clone(r.Params()), M: slices.Clone(r.Momentum())}
			x := local.X
			g := make([]float32, perturbations)
			step := func() {
				n := r.N() + 1
				r.Probe(plus, x, 0, 1, n, 0, 1, prng.Shared)
				r.Probe(plus[7:], x, 7, 1, n, 0, 2, prng.Shared)
				points.Z = append(points.Z[:0], r.Direction(n, 0, 3, prng.Shared),
					r.Direction(n, 0, 4, prng.Shared))
				r.PerturbAll(dst, 1, len(dst[0]), points)
				r.Advance(local, n, 0, g, 0.1)
				if err := r.Apply(records[0]); err != nil {
					t.Fatal(err)
				}
				if _, err := r.ApplyAll(records[1:3]); err != nil {
					t.Fatal(err)
				}
				records = records[3:]
			}
			if got := testing.AllocsPerRun(runs, step); got != 0 {
				t.Errorf("%d workers, %s: %v allocations", workers, name, got)
			}
		}
	}
}
