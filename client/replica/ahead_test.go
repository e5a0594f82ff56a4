package replica

import (
	"math"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// aheadReplica returns a replica of the rule normalized after some rounds.
func aheadReplica(t *testing.T, workers int, edit func(p *plan.Plan)) *Replica {
	t.Helper()
	p := planOf(t, hostilePlans["normalized"])
	edit(p)
	s := newScript(p)
	s.cfg.Workers = workers
	r := New(s.cfg)
	mustApply(t, r, s.records[0])
	for n := range uint64(4) {
		s.round(n + 1)
		mustApply(t, r, s.records[n+1])
	}
	return r
}

// TestAhead: Ahead returns the points of its definition, computed in float64, for any range of
// elements.
func TestAhead(t *testing.T) {
	for _, edit := range []func(p *plan.Plan){
		func(*plan.Plan) {},
		func(p *plan.Plan) {
			p.Dim = 5000
			p.Segments = []plan.Segment{{Name: "a", Len: 4200, StepScale: 3}, {Name: "b", Len: 800}}
		},
	} {
		r := aheadReplica(t, 1, edit)
		d, n := len(r.x), &r.running
		root := (1 - n.P1) * math.Sqrt(n.V/(1-n.P2))
		for _, a := range []float32{0, 1.0 / 1024, 1, 64} {
			whole := make([]float32, d)
			r.Ahead(whole, 0, a)
			for i, got := range whole {
				scale := 1.0
				if len(r.plan.Segments) > 0 && i < 4200 {
					scale = 3
				}
				want := float64(r.x[i]) - float64(a)*scale*float64(r.server.Moment[i])/root
				if math.Abs(float64(got)-want) > 1e-6*(math.Abs(want)+math.Abs(float64(r.x[i]))) {
					t.Fatalf("a = %v, element %d: %v, want %v", a, i, got, want)
				}
			}
			for off := 0; off < d; off += 777 {
				part := make([]float32, min(900, d-off))
				r.Ahead(part, off, a)
				if !sameBits(part, whole[off:off+len(part)]) {
					t.Fatalf("a = %v: elements from %d on differ when read alone", a, off)
				}
			}
		}
	}
}

// Without momentum Ahead returns x, and Slope returns 0.
func TestAheadWithoutMomentum(t *testing.T) {
	for name, plan := range map[string]*plan.Plan{
		"another rule": planOf(t, hostilePlans["relay"]),
		"no round":     planOf(t, hostilePlans["normalized"]),
	} {
		s := newScript(plan)
		r := New(s.cfg)
		mustApply(t, r, s.records[0])
		x := make([]float32, len(r.x))
		r.Ahead(x, 0, 1)
		if !sameBits(x, r.Params()) {
			t.Errorf("%s: ahead is %v, want x", name, x)
		}
		if v := r.Slope(2, []float32{1, 2, 3}, prng.Slot(0)); v != 0 {
			t.Errorf("%s: slope %v", name, v)
		}
	}
}

// TestSlope: Slope equals its definition, computed with directions generated one by one.
func TestSlope(t *testing.T) {
	g := []float32{0.5, -2, 3}
	for name, edit := range map[string]func(p *plan.Plan){
		"normal": func(*plan.Plan) {},
		"long":   func(p *plan.Plan) { p.Dim = 9000; p.Segments = nil },
		"sphere": func(p *plan.Plan) { p.Distribution = plan.Sphere },
		"signs":  func(p *plan.Plan) { p.Distribution = plan.Rademacher },
	} {
		r := aheadReplica(t, 2, edit)
		want, square := 0.0, 0.0
		for p, v := range g {
			z := r.Direction(9, 0, p, prng.Slot(1))
			element := make([]float32, len(r.x))
			for at := 0; at < len(element); at += prng.BlockLen {
				prng.Fill(block(element, at, prng.BlockLen), z.z, uint32(at/prng.BlockLen))
			}
			scale := float64(v) / float64(len(g))
			if r.plan.Distribution == plan.Sphere {
				scale *= float64(r.plan.Dim) / math.Sqrt(z.norm)
			}
			for i, e := range element {
				want += scale * float64(e) * float64(r.server.Moment[i])
			}
		}
		for _, e := range r.server.Moment {
			square += float64(e) * float64(e)
		}
		want /= math.Sqrt(square)
		got := r.Slope(9, g, prng.Slot(1))
		if math.Abs(float64(got)-want) > 1e-5*math.Abs(want) {
			t.Errorf("%s: slope %v, want %v", name, got, want)
		}
		if again := r.Slope(9, g, prng.Slot(1)); again != got {
			t.Errorf("%s: slope %v, then %v", name, got, again)
		}
		before := r.Digest()
		if n := testing.AllocsPerRun(5, func() { r.Slope(9, g, prng.Slot(1)) }); n != 0 &&
			r.plan.Distribution != plan.Sphere {
			t.Errorf("%s: %v allocations", name, n)
		}
		if r.Digest() != before {
			t.Errorf("%s: a slope changes the state", name)
		}
	}
}
