package replica

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/replica/internal/digest"
	"github.com/zofl/zofl/internal/isa/isatest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// eventfulScript returns a golden run with changes, a rollback and an end.
func eventfulScript(t testing.TB, g golden) *script {
	t.Helper()
	s := newScript(planOf(t, g.settings))
	field := "weight_decay"
	switch s.plan.ServerRule {
	case plan.ServerNormalized:
		field = "server_decay"
	case plan.ServerCMA:
		field = "diverge"
	}
	for n := range uint64(g.rounds) {
		s.round(n + 1)
		switch n {
		case 1:
			s.change(field, "0.0078125")
		case 2:
			s.change(field, "0")
		case 3:
			s.records = append(s.records, s.chain.add(wire.Record{Kind: wire.KindRollback, To: s.chain.n}))
		}
	}
	s.records = append(s.records,
		s.chain.add(wire.Record{Kind: wire.KindEnd, End: &wire.End{Reason: wire.EndRequested}}))
	return s
}

// changeable reports whether the plan is valid after eventfulScript's changes.
func changeable(p *plan.Plan) bool {
	q := *p
	q.WeightDecay = 1
	return valid.Plan(&q) == nil || p.ServerRule == plan.ServerNormalized ||
		p.ServerRule == plan.ServerCMA
}

// For every method ApplyAll gives the same state as Apply of each record, however the records are
// divided among calls.
func TestMethodsApplyAll(t *testing.T) {
	replays(t)
	for _, g := range readGolden(t) {
		if p := planOf(t, g.settings); !changeable(p) {
			continue // a pool with step scales
		}
		s := eventfulScript(t, g)
		one := New(s.cfg)
		for _, record := range s.records {
			s.apply(t, one, record)
		}
		for split := 1; split <= len(s.records); split++ {
			r := New(s.cfg)
			for part := range slices.Chunk(s.records, split) {
				if n, err := r.ApplyAll(part); n != len(part) || err != nil {
					t.Fatalf("%s, by %d: %d applied, %v", g.name, split, n, err)
				}
			}
			s.supply(t, r)
			if stateOf(r) != stateOf(one) {
				t.Errorf("%s, by %d: %+v, one by one %+v", g.name, split, stateOf(r), stateOf(one))
			}
		}
	}
}

// Every instruction set gives the golden bits.
func TestMethodsInstructions(t *testing.T) {
	replays(t)
	isatest.Each(t, func(t *testing.T) {
		for _, g := range readGolden(t) {
			r := replay(t, g, func(_ Config, r *Replica) *Replica { return r })
			if got := fmt.Sprintf("%x", digestOf(r)); got != g.digest {
				t.Errorf("%s: digest %s, want %s", g.name, got, g.digest)
			}
		}
	})
}

// Any number of workers gives the same bits as one worker, on models large enough to divide among
// workers.
func TestMethodsWorkers(t *testing.T) {
	most := 3
	if testing.Short() {
		most = 2 // two workers suffice for the race detector
	}
	for _, g := range readGolden(t) {
		p := planOf(t, g.settings)
		if len(p.Segments) > 0 {
			continue
		}
		if p.Dim = workFor + 4099; p.ServerRule == plan.ServerCMA && p.Covariance == plan.FullCovariance {
			p.Dim = 250
		}
		p.InitialDigest, p.Features = nil, min(p.Features, 100) // they fit another number of parameters
		s := newScript(p)
		for n := range uint64(min(g.rounds, int(p.SubspaceMoves)+2)) {
			s.round(n + 1)
		}
		var want [32]byte
		for workers := 1; workers <= most; workers++ {
			cfg := s.cfg
			cfg.Workers = workers
			r := New(cfg)
			if n, err := r.ApplyAll(s.records); err != nil {
				t.Fatalf("%s: record %d: %v", g.name, n, err)
			}
			s.supply(t, r)
			if workers == 1 {
				want = r.Digest()
			} else if r.Digest() != want {
				t.Errorf("%s: %d workers have another state", g.name, workers)
			}
		}
	}
}

// A device is the only contributor, in slot 3. The device makes every local step itself.
type device struct {
	r     *Replica
	local Local
	own   wire.ControlVariate
}

// work makes the local steps of a record with these scalars.
func (d *device) work(scalars wire.Scalars, count int, eta float32) {
	r, p := d.r, d.r.Plan()
	d.local.X, d.local.M = slices.Clone(r.Params()), slices.Clone(r.Momentum())
	if p.Control != plan.NoControl {
		d.local.Correction = make([]float32, p.Dim)
		if err := r.Correct(d.local.Correction, d.own); err != nil {
			panic(err)
		}
	}
	steps := int(p.Steps)
	values := p.Precision.Values(scalars, steps, count)
	for k := range steps {
		g := values[k*count : (k+1)*count]
		r.Advance(&d.local, r.N()+1, k, g, eta)
	}
}

// After its steps a device that contributes alone has the same bits as the replica after the
// record, whatever the device's weight, unless a server rule or a rebase follows.
func TestMethodsDevice(t *testing.T) {
	for _, g := range readGolden(t) {
		p := planOf(t, g.settings)
		if p.ServerRule != plan.ServerMean || p.Pool > 0 && p.Rebase == 1 ||
			p.Transport == plan.DenseVectors {
			continue
		}
		s := newScript(p)
		d := &device{r: New(s.cfg)}
		mustApply(t, d.r, s.records[0])
		if p.Sharing != plan.SharedDirections {
			d.local.Source = prng.Slot(3)
		}
		for n := range uint64(g.rounds) {
			round := wire.Round{Round: n + 1, StepSize: p.StepSizeAt(n + 1),
				Perturbations: p.PerturbationsAt(n + 1), Contributors: 1}
			if p.Control == plan.ScaffoldMean {
				round.Population = 2 + uint32(n)
			}
			if p.Phases() == 2 {
				first := round
				first.Phase, round.Phase = 1, 2
				first.Terms = []wire.Term{{Scalars: s.random.travel(p.Precision, int(round.Perturbations))}}
				s.add(first)
				mustApply(t, d.r, s.records[len(s.records)-1])
				if p.Control == plan.ScaffoldPoint {
					d.own = wire.ControlVariate{N: d.r.N(),
						Scalars: s.random.travel(p.Precision, int(round.Perturbations))}
				}
			}
			term := wire.Term{Source: d.local.Source,
				Scalars: s.scalars(p.Steps, round.Perturbations)}
			d.work(term.Scalars, int(round.Perturbations), round.StepSize)
			round.Terms = []wire.Term{term}
			if len(d.own.Scalars) > 0 {
				round.Terms = append(round.Terms,
					wire.Term{Back: d.r.N() + 1 - d.own.N, Scalars: d.own.Scalars})
			}
			if p.Weights == plan.BySamples {
				round.Weights = []uint32{777_777}
			}
			s.add(round)
			mustApply(t, d.r, s.records[len(s.records)-1])
			if p.Control == plan.ScaffoldMean {
				d.own = wire.ControlVariate{N: d.r.N(), Scalars: term.Scalars}
			}
			if p.Pool > 0 && (n+1)%uint64(p.Rebase) == 0 {
				continue
			}
			if !sameBits(d.local.X, d.r.Params()) || !sameBits(d.local.M, d.r.Momentum()) {
				t.Errorf("%s: round %d: the device and the record differ", g.name, n+1)
				break
			}
		}
	}
}

// sameBits compares bits, all NaNs being equal.
func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(v, w float32) bool { return digest.Bits(v) == digest.Bits(w) })
}

// Perturb writes x + mu S z in the order of docs/replay.md, for any range and every kind of
// direction. So does PerturbAll for all points of a step.
func TestMethodsProbe(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	for _, g := range readGolden(t) {
		s := scriptOf(t, g)
		r, f := New(s.cfg), newNaive(s)
		for _, b := range s.records {
			s.apply(t, r, b)
		}
		f.x, f.basis, f.rounds = r.Params(), r.basis, r.Rounds()
		if f.x[0] != f.x[0] {
			continue // diverged
		}
		const mu = 0.37
		n, dim := r.N()+1, int(s.plan.Dim)
		z := []Direction{r.Direction(n, 1, 2, 4), r.Direction(n, 1, 3, 4)}
		plus, minus := f.probe(mu, n, 1, 3, 4), f.probe(-mu, n, 1, 3, 4)
		for _, off := range []int{0, 1, 4095, 4096} {
			off = min(off, dim-1)
			got := make([]float32, dim-off)
			r.Perturb(got, f.x, off, -mu, &z[1])
			if !sameBits(got, minus[off:]) {
				t.Errorf("%s: the probe at %d differs from the written order", g.name, off)
			}
			other := make([]float32, dim-off)
			r.PerturbAll([][]float32{nil, nil, got, other}, off, dim-off,
				&Points{X: f.x, Mu: mu, Z: z, Central: true})
			if !sameBits(got, plus[off:]) || !sameBits(other, minus[off:]) {
				t.Errorf("%s: the points at %d differ from the written order", g.name, off)
			}
		}
	}
}

// probe returns x + mu S z.
func (f *naive) probe(mu float32, n uint64, k, q int, source uint32) []float32 {
	x, t := slices.Clone(f.x), f.term(1, n, k, q, source)
	for i := range x {
		a := mu * f.segment(i).MuScale
		if b, ok := f.box(i); ok {
			a = mu * float32(f.segment(i).MuScale*(b.High-b.Low))
		}
		along := a
		switch {
		case f.p.Distribution == plan.Sphere:
			along = float32(float64(a) / math.Sqrt(squares(t.z)))
		case t.coefs != nil:
			along = a * float32(math.Sqrt(1-float64(f.p.SubspaceShare)))
		}
		x[i] += float32(along * t.z[i])
		for c, v := range t.coefs {
			b := a * v
			x[i] += float32(b * f.basis[c][i])
		}
		x[i] = f.boxed(i, x[i])
	}
	return x
}

// segment returns the segment of element i.
func (f *naive) segment(i int) plan.Segment {
	for _, s := range f.p.Layout() {
		if i < int(s.Len) {
			return s
		}
		i -= int(s.Len)
	}
	panic("no segment")
}

// A pool's file holds only its coefficients after a rebase, and vectors too at other times.
func TestPoolFile(t *testing.T) {
	p := planOf(t, `{"dim":5000,"pool":7,"rebase":2,"rule":"momentum","beta":0.5}`)
	s := newScript(p)
	r := New(s.cfg)
	for n := range uint64(4) {
		s.round(n + 1)
	}
	for i, b := range s.records {
		mustApply(t, r, b)
		file := fileOf(t, r, History{})
		head := prefixLen + 8 + 16 + 8 + 8 + 8 + 8 + 4 + 3*4 + len(r.PlanRecord()) + 4 + 4 + 8*2*8
		if i == 0 || i%2 == 1 {
			head += 2 * 4 * 5000
		}
		if want := head + 2*sumLen; len(file) != want || !strings.HasPrefix(string(file), stateMagic2) {
			t.Errorf("after %d rounds: %d bytes, want %d", i, len(file), want)
		}
	}
	file := fileOf(t, r, History{})
	if _, _, err := load(Config{Run: p.Run}, file); !errors.Is(err, ErrDim) {
		t.Errorf("a file without vectors and no Dim: got %v, want %v", err, ErrDim)
	}
	if again, _, err := load(Config{Run: p.Run, Dim: 5000}, file); err != nil ||
		stateOf(again) != stateOf(r) {
		t.Errorf("got %v, want the state", err)
	}
}

// Without vectors, the file of a pool with a given start loads only if Config.Initial is
// set.
func TestPoolFileOfGiven(t *testing.T) {
	s := newScript(planOf(t, `{"dim":50,"pool":7,"rebase":1,"initial":"given"}`))
	s.round(1)
	r := New(s.cfg)
	for _, b := range s.records {
		mustApply(t, r, b)
	}
	if _, _, err := load(Config{Run: "golden", Dim: 50},
		fileOf(t, r, History{})); !errors.Is(err, ErrInitial) {
		t.Errorf("got %v, want %v", err, ErrInitial)
	}
}

// Loading the state of a private run needs the run key, and the digest of the state depends on the
// run key.
func TestPrivate(t *testing.T) {
	p := basePlan()
	p.Dim, p.RunKey, p.KeyCheck = 5000, nil, plan.KeyCheck(secret)
	s := newScript(p)
	s.round(1)
	r := New(s.cfg)
	for _, b := range s.records {
		mustApply(t, r, b)
	}
	if r.Digest() == Digest(r.Params()) {
		t.Error("the digest of a private run is not keyed")
	}
	file := fileOf(t, r, History{})
	for _, key := range [][]byte{nil, []byte("another"), slices.Repeat([]byte{8}, 32)} {
		if _, _, err := load(Config{Run: p.Run, RunKey: key}, file); !errors.Is(err, ErrState) ||
			!errors.Is(err, plan.ErrRunKey) {
			t.Errorf("key %x: got %v, want %v", key, err, plan.ErrRunKey)
		}
		if err := New(Config{Run: p.Run,
			RunKey: key}).Apply(s.records[0]); !errors.Is(err, plan.ErrRunKey) {
			t.Errorf("key %x: record 1: got %v, want %v", key, err, plan.ErrRunKey)
		}
	}
}
