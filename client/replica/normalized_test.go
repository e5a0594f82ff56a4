package replica

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/client/replica/internal/server"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// both applies rounds to a replica and to a naive replica, compares the two digests after each
// round, and returns the replica.
func both(t *testing.T, s *script, each func(r *Replica, round int)) *Replica {
	t.Helper()
	r, f := New(s.cfg), newNaive(s)
	mustApply(t, r, s.records[0])
	for i, b := range s.records[1:] {
		mustApply(t, r, b)
		rec, err := wire.DecodeRecord(b)
		if err != nil {
			t.Fatal(err)
		}
		f.round(rec.N, rec.Round)
		if !bytes.Equal(digestOf(r), f.digest()) {
			t.Fatalf("round %d: another state than one element at a time gives", i+1)
		}
		each(r, i+1)
	}
	return r
}

// A round with a step of 0 does not change x, but updates m and V.
func TestNormalizedStepZero(t *testing.T) {
	p := planOf(t, hostilePlans["normalized"])
	p.Late = 0
	s := newScript(p)
	for n := range uint64(6) {
		s.round(n + 1)
		rec, err := wire.DecodeRecord(s.records[n+1])
		if err != nil {
			t.Fatal(err)
		}
		if n%2 == 0 {
			rec.Round.StepSize = 0
		}
		s.chain.n, s.chain.prev = rec.N-1, rec.Prev
		s.records[n+1] = s.chain.add(rec)
	}
	x, m, before := make([]float32, p.Dim), []float32(nil), server.Running{}
	both(t, s, func(r *Replica, round int) {
		if stays := sameBits(x, r.Params()); stays != (round%2 == 1) {
			t.Errorf("round %d: x stays: %v", round, stays)
		}
		if slices.Equal(m, r.server.Moment) || r.running == before {
			t.Errorf("round %d: m, V or the products stay", round)
		}
		x, m, before = slices.Clone(r.Params()), slices.Clone(r.server.Moment), r.running
	})
}

// Late contributions and scalars of 0 do not change V, because they do not show how large slopes
// are.
func TestNormalizedWithoutOwnScalars(t *testing.T) {
	p := planOf(t, hostilePlans["normalized"])
	s := newScript(p)
	late := func(back uint64) wire.Term {
		return wire.Term{Back: back, Source: prng.Slot(2), Scalars: s.random.scalars(3)}
	}
	own := wire.Term{Source: prng.Slot(1), Scalars: s.random.scalars(3)}
	flat := wire.Term{Source: prng.Slot(3), Scalars: wire.AppendScalars(nil, 0, 0, 0)}
	for n, terms := range [][]wire.Term{{flat}, {own}, {late(1)}, {flat}, {own, late(2)}} {
		r := wire.Round{Round: uint64(n + 1), StepSize: 0.5, Perturbations: 3, Terms: terms,
			Contributors: uint32(len(terms))}
		for range terms {
			r.Weights = append(r.Weights, 4)
		}
		s.add(r)
	}
	var x []float32
	var v, p2 float64
	both(t, s, func(r *Replica, round int) {
		if moves := !sameBits(x, r.Params()); round > 1 && !moves {
			t.Errorf("round %d: x stays", round)
		}
		n := r.running
		if counts := n.V != v && n.P2 != p2; counts != (round == 2 || round == 5) && round > 1 {
			t.Errorf("round %d: V %v after %v", round, n.V, v)
		}
		if want := math.Pow(float64(p.ServerBeta1), float64(round)); math.Abs(n.P1-want) > 1e-9 {
			t.Errorf("round %d: p1 = %v, want %v", round, n.P1, want)
		}
		if round == 1 && (n.V != 0 || n.P2 != 1 || r.Params()[0] != 0) {
			t.Errorf("round 1, flat: %+v, x %v", n, r.Params()[0])
		}
		x, v, p2 = slices.Clone(r.Params()), n.V, n.P2
	})
}

// Scalars so small that the rate exceeds float32 do not move x along m. No scalars make an element
// of x NaN.
func TestNormalizedExtremes(t *testing.T) {
	for _, g := range []float32{1e-45, 1e-38, 1e-20, 1e20, 1e38} {
		s := newScript(planOf(t, `{"dim":50,"step":1e18,"server_rule":"normalized",`+
			`"server_beta1":0.9,"server_beta2":0.99}`))
		for n := range uint64(3) {
			s.add(wire.Round{Round: n + 1, StepSize: 1, Perturbations: 1, Contributors: 1,
				Terms: []wire.Term{{Scalars: wire.AppendScalars(nil, g)}}})
		}
		r := both(t, s, func(*Replica, int) {})
		for i, v := range r.Params() {
			if v-v != 0 {
				t.Fatalf("scalars of %v: parameter %d is %v", g, i, v)
			}
		}
	}
}
