package client_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// methods are plans that cover all that a device does differently from DeComFL.
var methods = []struct {
	name string
	edit func(*plan.Plan)
}{
	{"fedzo", func(p *plan.Plan) {
		p.Sharing, p.Transport, p.Distribution, p.Steps = plan.PerClient, plan.Relay, plan.Sphere, 2
	}},
	{"per client, rademacher, by samples", func(p *plan.Plan) {
		p.Sharing, p.Transport, p.Distribution, p.Steps = plan.PerClient, plan.Relay,
			plan.Rademacher, 3
		p.Weights, p.Difference = plan.BySamples, plan.Central
	}},
	{"zo-adafl", func(p *plan.Plan) {
		p.Distribution, p.Steps, p.Perturbations = plan.Sphere, 3, 1
		p.ServerRule, p.ServerStep, p.ServerBeta1, p.ServerBeta2 = plan.ServerAMSGrad, 0.1, 0.9,
			0.99
		p.ServerEpsilon, p.ServerV0 = 1e-8, 1e-5
	}},
	{"zofedht", func(p *plan.Plan) {
		subspaced(p)
		p.Sharing, p.Transport = plan.PerClient, plan.Relay
	}},
	{"zofedht, shared", subspaced},
	{"fedprox", func(p *plan.Plan) { p.Steps, p.Prox = 4, 0.5 }},
	{"scaffold-1", func(p *plan.Plan) {
		p.Control, p.Steps, p.Difference = plan.ScaffoldPoint, 3, plan.Central
	}},
	{"scaffold-1, sphere, half", func(p *plan.Plan) {
		p.Control, p.Steps, p.Distribution, p.Perturbations = plan.ScaffoldPoint, 2, plan.Sphere, 3
		p.Precision, p.MaxScalar = plan.Half, 65504
	}},
	{"scaffold-1, K=1", func(p *plan.Plan) { p.Control = plan.ScaffoldPoint }},
	{"svrg", func(p *plan.Plan) { p.Control, p.Steps, p.Cohort = plan.SVRG, 3, 1 }},
	{"svrg, sphere, half", func(p *plan.Plan) {
		p.Control, p.Steps, p.Distribution, p.Difference = plan.SVRG, 2, plan.Sphere, plan.Central
		p.Precision, p.MaxScalar = plan.Half, 65504
	}},
	{"scaffold-2", func(p *plan.Plan) { p.Control, p.Steps = plan.ScaffoldMean, 3 }},
	{"scaffold-2, momentum", func(p *plan.Plan) {
		p.Control, p.Steps, p.Rule, p.Beta = plan.ScaffoldMean, 2, plan.TorchMomentum, 0.5
	}},
	{"scaffold-2, K=1, sphere", func(p *plan.Plan) {
		p.Control, p.Distribution = plan.ScaffoldMean, plan.Sphere
	}},
	{"half", func(p *plan.Plan) { p.Precision, p.MaxScalar, p.Steps = plan.Half, 65504, 2 }},
	{"4 bits", func(p *plan.Plan) { fewBits(p, plan.Int4, 10) }},
	{"2 bits", func(p *plan.Plan) { fewBits(p, plan.Int2, 7) }},
	{"8 bits, two steps", func(p *plan.Plan) { fewBits(p, plan.Int8, 5); p.Steps = 2 }},
	{"pool", func(p *plan.Plan) { p.Pool, p.Rebase, p.Steps = 7, 3, 2 }},
	{"pool of given parameters", func(p *plan.Plan) {
		p.Pool, p.Rebase, p.Segments = 7, 3, nil
		give(p, ramp(int(p.Dim)))
	}},
	{"yogi, momentum", func(p *plan.Plan) {
		p.Rule, p.Beta, p.Steps = plan.Momentum, 0.9, 2
		p.ServerRule, p.ServerStep, p.ServerBeta1, p.ServerBeta2, p.ServerEpsilon = plan.ServerYogi,
			0.1, 0.9, 0.99, 1e-3
	}},
	{"normalized", func(p *plan.Plan) {
		p.Sharing, p.Transport, p.Distribution = plan.PerClient, plan.Relay, plan.Rademacher
		p.ServerRule, p.ServerBeta1, p.ServerBeta2, p.ServerDecay = plan.ServerNormalized, 0.9, 0.99,
			0.1
	}},
	{"private", func(p *plan.Plan) {
		p.RunKey, p.KeyCheck, p.Steps = nil, plan.KeyCheck(secret), 2
	}},
}

// fewBits gives a plan directions by device, and scalars of few bits.
func fewBits(p *plan.Plan, precision plan.Precision, perturbations uint32) {
	p.Sharing, p.Transport = plan.PerClient, plan.Relay
	p.Precision, p.MaxScalar, p.Perturbations = precision, plan.MaxHalf, perturbations
}

// secret is the run key of private runs.
var secret = []byte("thirty-two bytes, to be kept to us")[:32]

func subspaced(p *plan.Plan) {
	p.Distribution, p.Difference, p.Steps = plan.Subspace, plan.Central, 2
	p.SubspaceMoves, p.SubspaceShare = 2, 0.5
}

// eachMethod runs a test for every method, with a host of its plan in a bubble.
func eachMethod(t *testing.T, dim int, f func(t *testing.T, h *host)) {
	for _, tt := range methods {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := testPlan(dim)
				p.Members, p.Target = 3, 3
				tt.edit(p)
				h := newHost(t, p)
				h.entrust()
				f(t, h)
			})
		})
	}
}

// member makes a device of h, with the run key in a private run.
func (h *host) member(i int, edits ...func(*client.Config)) *device {
	h.t.Helper()
	return h.device(fmt.Sprintf("d%d", i), bowlLoss(int(h.plan.Dim), i), append(edits, h.key)...)
}

// entrust gives the host the secrets that the devices of its plan need.
func (h *host) entrust() {
	if h.plan.Private() {
		h.runKey = secret
	}
	if h.plan.Initial == plan.Given {
		h.initial = ramp(int(h.plan.Dim))
	}
}

func (h *host) key(c *client.Config) { c.RunKey, c.Initial = h.runKey, h.initial }

// ramp returns a vector of different elements.
func ramp(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i%11) / 7
	}
	return x
}

// Devices with different losses, some of which miss a round now and then, keep the same bits as the
// witness. The devices send what the paper's algorithm says: rounded scalars along their own
// directions or shared ones, with the control variate of their last contribution that a record
// includes.
func TestMethods(t *testing.T) {
	const dim, devices = 300, 3
	eachMethod(t, dim, func(t *testing.T, h *host) {
		var all []*device
		for i := range devices {
			all = append(all, h.member(i))
		}
		fleet := newVariates(devices)
		for range 8 {
			w, n := h.witness(h.last()), h.last()+1
			a := h.announcement()
			absent := fmt.Sprintf("d%d", n%(devices+1))
			replies := h.roundOf(func(r reply) bool { return r.id != absent })
			for _, r := range replies {
				fleet.check(t, h, w, &a, r)
			}
			for _, r := range replies {
				fleet.note(w, r, r.id != absent)
			}
			fleet.closed(h, w)
		}
		h.announce()
		for _, d := range all {
			h.agrees(d, h.last())
		}
	})
}

// variates holds, for each device, the contribution that is its control variate. We compare what
// devices compute from it with the paper in papers/reference, and what replicas do with it in
// package replica.
type variates struct {
	of    []wire.ControlVariate
	point []wire.Scalars // ScaffoldPoint: of the first phase, by device
	first uint64         // ScaffoldPoint: its record
}

func newVariates(devices int) *variates {
	return &variates{of: make([]wire.ControlVariate, devices), point: make([]wire.Scalars, devices)}
}

func number(id string) (i int) {
	fmt.Sscanf(id, "d%d", &i)
	return i
}

// check compares a contribution with what the algorithm says.
func (v *variates) check(t *testing.T, h *host, w *replica.Replica, a *wire.Announcement, r reply) {
	t.Helper()
	p, i := h.plan, number(r.id)
	source := uint32(prng.Shared)
	want := wire.ControlVariate{}
	if p.Sharing == plan.PerClient {
		source = prng.Slot(h.slots[r.id])
	}
	switch {
	case w.Phase() == 2 && p.Control == plan.ScaffoldPoint:
		want = wire.ControlVariate{N: v.first, Scalars: v.point[i]}
	case p.Control == plan.ScaffoldMean:
		want = v.of[i]
	}
	got, ok := r.Control()
	if ok != (want.N > 0) || got.N != want.N || string(got.Scalars) != string(want.Scalars) {
		t.Errorf("%s: record %d: control variate %v, want %v", r.id, r.N, got, want)
	}
	if w.Phase() == 2 || p.Control == plan.ScaffoldMean {
		return // corrected
	}
	if p.Distribution == plan.Subspace || p.Pool > 0 || p.Private() {
		return // directions that this file does not make
	}
	e := algorithm4(w, a.N, float64(a.StepSize), int(a.Perturbations), r.id, i, source)
	sent := p.Precision.Values(r.Values, len(e.scalars)/int(a.Perturbations), int(a.Perturbations))
	if len(sent) != len(e.scalars) {
		t.Fatalf("%s: %d bytes of scalars, want %d scalars", r.id, len(r.Values), len(e.scalars))
	}
	tolerance := scalarTolerance
	if p.Precision == plan.Half {
		tolerance = 2e-3 // 2^-11 of each scalar, and the effect of earlier errors
	}
	if p.Precision.Quantized() {
		quantize(p.Precision, e.scalars, int(a.Perturbations))
		tolerance = 1e-6
		if p.Steps > 1 {
			tolerance = 0.05 // the device moved by what it sent, with an error of r/64
		}
	}
	for j, g := range e.scalars {
		if got := sent[j]; !near(got, g, tolerance) {
			t.Errorf("%s: record %d: g[%d] = %v, want %v", r.id, r.N, j, got, g)
		}
	}
}

// quantize rounds the scalars of each step, n of them, to what a precision sends.
func quantize(precision plan.Precision, scalars []float64, n int) {
	for at := range slices.Chunk(scalars, n) {
		block := make([]float32, len(at))
		for i, g := range at {
			block[i] = float32(g)
		}
		precision.Round(block)
		for i, c := range block {
			at[i] = float64(c)
		}
	}
}

// note stores a device's contribution if it becomes the device's control variate.
func (v *variates) note(w *replica.Replica, r reply, counted bool) {
	switch i := number(r.id); {
	case w.Phase() == 1:
		v.point[i] = r.Values
	case w.Phase() == 0 && counted:
		v.of[i] = wire.ControlVariate{N: r.N, Scalars: r.Values}
	}
}

// closed notes the record that the host committed.
func (v *variates) closed(h *host, w *replica.Replica) {
	if w.Phase() == 1 {
		v.first = h.last()
	}
}
