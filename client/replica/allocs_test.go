package replica

import (
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A worker repeats all calls of a device, with the same memory.
type worker struct {
	t       *testing.T
	s       *script
	r       *Replica
	records [][]byte
	local   Local
	own     wire.Scalars // zeros
	probe   []float32
	z       []Direction
	points  Points
	dst     [4][]float32
	g       [2]float32
}

func newWorker(t *testing.T, s *script) *worker {
	w := &worker{t: t, s: s, r: New(s.cfg), records: s.records}
	w.apply()
	w.local = Local{X: slices.Clone(w.r.Params()), M: slices.Clone(w.r.Momentum())}
	if s.plan.Control != plan.NoControl {
		w.local.Correction = make([]float32, s.plan.Dim)
	}
	w.own = make(wire.Scalars, s.plan.Precision.Bytes(int(s.plan.Perturbations)))
	w.probe = make([]float32, s.plan.Dim)
	w.points = Points{X: w.local.X, Mu: 1, Central: true}
	w.dst[0], w.dst[3] = w.probe, slices.Clone(w.probe)
	return w
}

func (w *worker) apply() {
	if _, err := w.r.ApplyAll(w.records[:1]); err != nil {
		w.t.Fatal(err)
	}
	w.records = w.records[1:]
	w.s.supply(w.t, w.r)
}

// round does a device's work for each record of a round, then applies the record.
func (w *worker) round() {
	for r, before := w.r, w.r.Rounds(); r.Rounds() == before; w.apply() {
		var own wire.ControlVariate
		if r.Phase() == 2 && r.plan.Control == plan.ScaffoldPoint {
			own = wire.ControlVariate{N: r.pending.n, Scalars: w.own}
		}
		if r.plan.Control != plan.NoControl && r.Phase() != 1 && !r.dense() {
			if err := r.Correct(w.local.Correction, own); err != nil {
				w.t.Fatal(err)
			}
		}
		n := r.N() + 1
		r.Probe(w.probe, w.local.X, 0, 1, n, 0, 1, 0)
		w.z = r.Directions(w.z[:0], n, 0, 0, 2, 0)
		w.points.Z = w.z
		r.PerturbAll(w.dst[:], 0, len(w.probe), &w.points)
		if r.dense() {
			r.Estimate(w.local.X, n, 0, w.g[:], 0)
			continue
		}
		r.Advance(&w.local, n, 0, w.g[:], 0.1)
	}
}

var sink []Object // keeps the allocation of a Missing result alive

// After warming up, no method allocates memory, except to decode a record, to ask for its object
// and to hash the object.
func TestMethodsDoNotAllocate(t *testing.T) {
	const warm, runs = 16, 4
	for _, g := range readGolden(t) {
		p := planOf(t, g.settings)
		if p.Distribution == plan.LowRank {
			continue // its probes keep the signs of a step's directions, of each step anew
		}
		p.PerturbationSchedule = nil
		s := newScript(p)
		s.cfg.Workers = 2
		for n := range uint64(warm + runs + 1) {
			s.round(n + 1)
		}
		w := newWorker(t, s)
		for range warm {
			w.round()
		}
		var rec wire.Record
		tail := w.records
		decode := testing.AllocsPerRun(1, func() {
			for _, b := range tail {
				if err := rec.Decode(b); err != nil {
					t.Fatal(err)
				}
				if rec.Round != nil && len(rec.Round.Object) > 0 {
					sink = []Object{{}}
					wire.HashObject(s.objects[[wire.ObjectLen]byte(rec.Round.Object)])
				}
			}
		})
		if got := testing.AllocsPerRun(runs, w.round); got > decode/(runs+1) {
			t.Errorf("%s: %v allocations a round, want at most the %v of decoding",
				g.name, got, decode/(runs+1))
		}
	}
}
