package engine

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/internal/perclass"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// methods are plans for every way from contributions to a record, as changes to the small plan.
var methods = []struct {
	name   string
	fields []string
}{
	{"mean", []string{"weights=samples"}},
	{"half", []string{"precision=half", "max_scalar=60000", "weights=samples"}},
	{"relay", []string{"sharing=per-client", "transport=relay", "weights=samples"}},
	{"half relay", []string{"sharing=per-client", "transport=relay", "precision=half",
		"max_scalar=60000"}},
	{"clipped relay", []string{"sharing=per-client", "transport=relay", "aggregator=clipped-mean",
		"clip=3"}},
	{"relay of 4 bits", []string{"sharing=per-client", "transport=relay", "precision=int4",
		"max_scalar=60000", "steps=2"}},
	{"clipped relay of 2 bits", []string{"sharing=per-client", "transport=relay",
		"weights=samples", "precision=int2", "max_scalar=60000", "aggregator=clipped-mean",
		"clip=3"}},
	{"median", []string{"aggregator=median"}},
	{"trimmed", []string{"aggregator=trimmed-mean", "trim=0.4"}},
	{"clipped", []string{"aggregator=clipped-mean", "clip=3", "weights=samples"}},
	{"scaffold-1", []string{"control=scaffold-1", "weights=samples", "steps=2"}},
	{"scaffold-2", []string{"control=scaffold-2"}},
	{"half scaffold-2", []string{"control=scaffold-2", "precision=half", "max_scalar=60000"}},
}

// contributionOf returns a device's contribution to the open record: scalars of all magnitudes,
// zeros of both signs, and a control variate where there can be one.
func contributionOf(c *Core, device int, rng *rand.Rand) []byte {
	scalars := func(n int) (s wire.Scalars) {
		values := make([]float32, n)
		for i := range values {
			v := float32(rng.NormFloat64()) * float32(math.Ldexp(1, rng.IntN(16)-8))
			if rng.IntN(4) == 0 {
				v = float32(math.Copysign(0, float64(v)))
			}
			values[i] = v
		}
		for block := range slices.Chunk(values, int(c.round.perturbations)) {
			s = c.Plan.Precision.Append(s, block...)
		}
		return s
	}
	r := wire.Reply{
		Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: uint32(1 + device),
		Loss:   float32(device) / 3,
		Values: scalars(c.round.scalars),
	}
	if c.round.survey == survey.Sketch { // shares of classes
		r.Values = wire.AppendScalars(nil, append([]float32{0.5, 0.5}, make([]float32, 62)...)...)
		r.Rest = survey.Answer(survey.Sketch)
		return r.Append(nil)
	}
	if wiregroups.Names(&c.Plan) {
		group, _ := c.policy.Stages.Groups.Of(uint32(device))
		r.Rest = wiregroups.AppendReply(nil, group)
	}
	if c.Plan.Classes > 0 {
		r.Values = perclass.Append(nil, -1, perclass.Part{Class: uint32(device % 2), Count: 7,
			Scalars: r.Values})
	}
	control := wire.ControlVariate{N: c.Point.N}
	if c.Plan.Control == plan.ScaffoldMean && c.N > 1 && device%3 > 0 {
		control.N = 2 + uint64(device)%min(c.N-1, 4)
	}
	if control.N > 0 && c.Plan.SendsControl() {
		n, ok := c.controlScalars(control.N)
		if !ok {
			panic("a round that is none")
		}
		control.Scalars = scalars(n)
		r.Rest = control.Append(nil)
	}
	return r.Append(nil)
}

// TestMethodsDoNotDependOnOrder plays rounds of each method with contributions in different orders,
// and compares the records, which must be the same.
func TestMethodsDoNotDependOnOrder(t *testing.T) {
	const devices, records = 7, 5
	for _, m := range methods {
		t.Run(m.name, func(t *testing.T) {
			orders := rand.New(rand.NewPCG(3, 4))
			var want [][]byte
			for trial := range 20 {
				rng := rand.New(rand.NewPCG(1, 2))
				c := newTestCore(t, methodPlan(t, m.fields, devices), devices)
				for i := range records {
					frames := make([][]byte, devices)
					for d := range frames {
						frames[d] = contributionOf(c, d, rng)
					}
					for _, d := range orders.Perm(devices) {
						c.Step(1, Input{Kind: InReply, ID: ids(devices)[d], Frame: frames[d]})
					}
					if c.phase() != appending {
						t.Fatalf("record %d did not close: %+v", c.N+1, c.counters)
					}
					if trial == 0 {
						want = append(want, c.next.frame)
					}
					if !bytes.Equal(c.next.frame, want[i]) {
						t.Fatalf("trial %d: record %x, want %x", trial, c.next.frame, want[i])
					}
					c.Step(1, Input{Kind: InAppended, N: c.N + 1})
				}
			}
		})
	}
}

// chained are plans with each stage of a chain that methods do not have.
var chained = []struct {
	name   string
	fields []string
}{
	{"bound", []string{"bound=2", "weights=samples", "claim_bound=3"}},
	{"trust", []string{"bound=2", "trust=5", `roots=["d0"]`}},
	{"neighbors", []string{"aggregator=trimmed-mean", "trim=0.2", "liars=3", "quorum=7"}},
	{"bound and clip", []string{"bound=2", "aggregator=clipped-mean", "clip=3"}},
	{"noise", []string{"dp_clip=2", "dp_noise=1", "dp_delta=1e-5", "dp_by=coordinator"}},
	{"groups", []string{"sharing=groups", "transport=relay", "groups=random", "group_size=7",
		"regroup=9", "bound=2"}},
	{"classes", []string{"sharing=groups", "transport=relay", "groups=sketch", "group_size=7",
		"regroup=9", "classes=2", "batch=40", "max_scalar=60000"}},
}

// TestMethodsDoNotAllocate counts the allocations of a reply after earlier rounds have made room.
func TestMethodsDoNotAllocate(t *testing.T) {
	const devices = 14
	for _, m := range slices.Concat(methods, chained) {
		t.Run(m.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			c := newTestCore(t, methodPlan(t, append(m.fields, "perturbations=64"), devices), devices)
			names := ids(devices)
			frames := make([][]byte, devices)
			least := uint64(math.MaxUint64) // other goroutines allocate now and then
			for round := range 12 {
				for d := range frames {
					frames[d] = contributionOf(c, d, rng)
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for i := range devices - 1 {
					c.Step(1, Input{Kind: InReply, ID: names[i], Frame: frames[i]})
					c.Step(1, Input{Kind: InReply, ID: names[i], Frame: frames[i]}) // twice
				}
				runtime.ReadMemStats(&after)
				if c.phase() != collecting || int(c.chain.Taken) != devices-1 {
					t.Fatalf("phase %d, %d counted of %d: %+v", c.phase(), c.chain.Taken, devices-1,
						c.counters)
				}
				c.Step(1, Input{Kind: InReply, ID: names[devices-1], Frame: frames[devices-1]})
				c.Step(1, Input{Kind: InAppended, N: c.N + 1})
				if round >= 5 {
					least = min(least, after.Mallocs-before.Mallocs)
				}
			}
			if least != 0 {
				t.Errorf("%d allocations in %d replies, want 0", least, 2*(devices-1))
			}
		})
	}
}

// TestWrongWidths sends as many bytes as another number of scalars, or scalars of another width,
// would take.
func TestWrongWidths(t *testing.T) {
	for _, m := range methods {
		plan := methodPlan(t, m.fields, 3)
		c := newTestCore(t, plan, 3)
		right := c.steps() * c.Plan.Precision.Bytes(int(c.round.perturbations))
		send := func(size int) {
			r := wire.Reply{Kind: wire.Contribution, N: 2, Tip: c.Hash.Tip(), Weight: 1,
				Values: make(wire.Scalars, size)}
			c.Step(1, Input{Kind: InReply, ID: "d0", Frame: r.Append(nil)})
		}
		refused := uint64(0)
		for size := 0; size <= 4*right; size += 2 {
			if size != right {
				send(size)
				refused++
			}
		}
		if c.counters.WrongCount != refused || c.chain.Taken != 0 {
			t.Errorf("%s: %d replies of wrong length were refused, want %d", m.name,
				c.counters.WrongCount, refused)
		}
		if send(right); c.chain.Taken != 1 {
			t.Errorf("%s: a reply of %d bytes was not counted: %+v", m.name, right, c.counters)
		}
	}
}
