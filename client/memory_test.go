package client_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
)

// null is an objective whose loss costs nothing.
func null(dim int) objective.Objective {
	return objective.Func(dim, func(_ context.Context, x []float32, _ objective.Batch) (float64,
		error) {
		return float64(x[0]), nil
	})
}

// nullStream reads all parameters into one block.
func nullStream(dim int) objective.Objective {
	block := make([]float32, 4096)
	return objective.Stream(dim, func(_ context.Context, x *objective.Point,
		_ objective.Batch) (float64, error) {
		for off := 0; off < dim; off += len(block) {
			if err := x.Read(block[:min(len(block), dim-off)], off); err != nil {
				return 0, err
			}
		}
		return float64(block[0]), nil
	})
}

// heap returns the bytes in use, and all bytes allocated so far.
func heap() (used, total int64) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.TotalAlloc)
}

// A device holds the vectors that the design promises, and little else: x; each vector that the
// rule replicates; for a flat objective the vector that the app sees; and for K > 1 a local iterate
// of x and of the rule's vectors, and with control variates the correction. After the first rounds,
// the device allocates no more vectors.
func TestMemory(t *testing.T) {
	const dim, slack = 1 << 20, 256 << 10 // bytes
	flat, stream, batched := null(dim), nullStream(dim), newBowls(dim, 0)
	blocks := [][]float32{make([]float32, 4096), make([]float32, 4096)}
	batched.mood = func(x *objective.Points, losses []float64) (err error) {
		clear(losses)
		for off := 0; off < dim && err == nil; off += 4096 {
			err = x.Read(blocks, off)
		}
		return err
	}
	sphere := func(p *plan.Plan) {
		p.Sharing, p.Transport, p.Distribution = plan.PerClient, plan.Relay, plan.Sphere
	}
	scaffold1 := func(p *plan.Plan) { p.Control = plan.ScaffoldPoint }
	scaffold2 := func(p *plan.Plan) { p.Control = plan.ScaffoldMean }
	tests := []struct {
		name      string
		objective objective.Objective
		steps     uint32
		rule      plan.Rule
		edit      func(*plan.Plan)
		vectors   int64
	}{
		{"stream", stream, 1, plan.SGD, nil, 1},
		{"flat", flat, 1, plan.SGD, nil, 2},
		{"batched", batched, 1, plan.SGD, nil, 1},
		{"batched, K=2", batched, 2, plan.SGD, nil, 2},
		{"stream, K=2", stream, 2, plan.SGD, nil, 2},
		{"flat, K=2", flat, 2, plan.SGD, nil, 3},
		{"flat, momentum", flat, 1, plan.TorchMomentum, nil, 3},
		{"flat, momentum, K=2", flat, 2, plan.TorchMomentum, nil, 5},
		{"stream, own spheres, K=2", stream, 2, plan.SGD, sphere, 2},
		{"stream, scaffold-1", stream, 1, plan.SGD, scaffold1, 1},
		{"stream, scaffold-1, K=2", stream, 2, plan.SGD, scaffold1, 3},
		{"flat, scaffold-2, momentum, K=2", flat, 2, plan.TorchMomentum, scaffold2, 7},
		{"stream, amsgrad, K=2", stream, 2, plan.SGD, func(p *plan.Plan) {
			p.ServerRule, p.ServerStep, p.ServerEpsilon = plan.ServerAMSGrad, 0.1, 1e-8
		}, 5},
		{"stream, subspace", stream, 1, plan.SGD, subspaced, 6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := testPlan(dim)
				p.Steps, p.Perturbations, p.Rule, p.Distribution = tt.steps, 1, tt.rule,
					plan.Rademacher
				p.Difference = plan.Central
				if tt.rule != plan.SGD {
					p.Beta = 0.9
				}
				if tt.edit != nil {
					tt.edit(p)
				}
				h := newHost(t, p)
				before, _ := heap()
				d := h.device("d0", tt.objective)
				h.round()
				h.round() // or its second phase
				used, total := heap()
				if got, want := used-before, 4*dim*tt.vectors; got < want-slack ||
					got > want+slack {
					t.Errorf("%d bytes, %.3f vectors, want %d vectors",
						got, float64(got)/(4*dim), tt.vectors)
				}
				h.round()
				if _, after := heap(); after-total > slack {
					t.Errorf("%d bytes allocated in a round, want at most %d", after-total, slack)
				}
				d.stop()
				runtime.KeepAlive(d.Client)
			})
		})
	}
}

// BenchmarkRound measures a round of one device over the bus, whose loss costs nothing. The device
// applies a record and makes 20 queries: K=1, P=10, central.
func BenchmarkRound(b *testing.B) {
	for _, dim := range []int{28_938, 1_206_590} {
		for name, o := range map[string]objective.Objective{"flat": null(dim),
			"stream": nullStream(dim)} {
			b.Run(fmt.Sprintf("%s/d=%d", name, dim),
				func(b *testing.B) { benchmarkRound(b, dim, o) })
		}
	}
}

func benchmarkRound(b *testing.B, dim int, o objective.Objective) {
	p := testPlan(dim)
	p.Difference, p.Perturbations = plan.Central, 10
	h := newHost(b, p)
	waits, replied := make(chan struct{}, 1), make(chan struct{}, 1)
	h.subscribe(subjects.AllReplies(runName), func(bus.Message) { replied <- struct{}{} })
	c, err := client.New(client.Config{
		Bus: h.bus, Run: runName, ID: "d0", Objective: o,
		Recorder: client.RecorderFunc(func(p client.Progress) error {
			if p.State == client.Waiting {
				select {
				case waits <- struct{}{}:
				default:
				}
			}
			return nil
		}),
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); c.Run(ctx) }()
	<-waits
	step := func() {
		a := h.announcement()
		h.publish(subjects.Announce(runName, 0), a.Append(nil))
		<-replied
		h.commit()
	}
	step() // buffers grow
	b.SetBytes(4 * int64(dim))
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
	cancel()
	<-ended
}
