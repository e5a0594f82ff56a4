package reference

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

const (
	plans = 24 // random plans that are compared
	// tolerance is the largest difference of a parameter, relative to
	// 1 + |parameter|: float32 probes at mu = 0.01 cost about 1e-5 of the
	// scalars, which the rounds of a run add up.
	tolerance = 2e-4
	// linear is the same for two float64 computations of one model.
	linear = 1e-9
)

// TestDeComFLAgainstAlgorithms runs production clients and coordinator on
// random plans (K, P, differences, rules, distributions, partial
// participation) and compares the model with the algorithms' own.
func TestDeComFLAgainstAlgorithms(t *testing.T) {
	for seed := range uint64(plans) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			p := randomPlan(t, random)
			x, members := train(t, p)
			want := simulate(t, p, members)
			for i := range x {
				if diff := math.Abs(float64(x[i]) - want[i]); !(diff <= tolerance*(1+math.Abs(want[i]))) {
					t.Fatalf("parameter %d is %v, the reference has %v\nplan: %+v", i, x[i], want[i], p)
				}
			}
		})
	}
}

const clients = 6

func randomPlan(t *testing.T, random *rand.Rand) *wire.Plan {
	t.Helper()
	p, err := wire.Preset("decomfl", fmt.Sprintf("r%d", random.Uint32()), 1+random.Uint64N(300))
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.RunKey {
		p.RunKey[i] = byte(random.Uint32())
	}
	p.Steps, p.Perturbations = 1+random.Uint32N(4), 1+random.Uint32N(10)
	p.Difference = wire.Difference(1 + random.UintN(2))
	p.Distribution = wire.Distribution(1 + random.UintN(2))
	p.Mu, p.Step, p.Rounds = 1e-2, 0.02, 8
	switch p.Rule = wire.Rule(1 + random.UintN(3)); p.Rule {
	case wire.Momentum:
		p.Beta = 0.9
	case wire.TorchMomentum:
		p.Beta, p.Step = 0.7, 0.005
	}
	if random.UintN(2) == 0 {
		p.WeightDecay = 0.1
	}
	p.Members = clients
	p.Target = 1 + random.Uint32N(clients)
	p.Quorum = p.Target
	return p
}

// loss of a client: a smooth bowl, not a quadratic, so that forward and
// central differences disagree.
func loss(client int, x []float64) float64 {
	sum := 0.0
	for i, v := range x {
		e := v - float64((client+i)%3)
		sum += (1+0.1*float64(i%4))*e*e + 0.05*math.Sin(v+float64(client))
	}
	return sum / 10
}

// train runs the production code over the in-memory bus.
func train(t *testing.T, p *wire.Plan) (x []float32, members []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	memory, log := bus.NewMemory(), &coordinator.MemoryLog{}
	defer memory.Close()
	lead, err := coordinator.New(t.Context(), coordinator.Config{Bus: memory, Plan: p, Log: log, Linger: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	leadCtx, stop := context.WithCancelCause(ctx)
	var devices, leads sync.WaitGroup
	leads.Go(func() {
		if err := lead.Run(leadCtx); err != nil && !errors.Is(err, errDone) {
			t.Errorf("coordinator: %v", err)
		}
	})
	all := make([]*client.Client, clients)
	for i := range all {
		all[i], err = client.New(client.Config{
			Bus: memory, Run: p.Run, ID: fmt.Sprintf("c%d", i), RetryMax: time.Second,
			Objective: client.Func(int(p.Dim), func(_ context.Context, x []float32, _ client.Batch) (float64, error) {
				return loss(i, widen(x)), nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		devices.Go(func() {
			if err := all[i].Run(ctx); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
	}
	devices.Wait()
	stop(errDone)
	leads.Wait()
	x = make([]float32, p.Dim)
	if _, err := all[0].Params(x); err != nil {
		t.Fatal(err)
	}
	if members, err = log.Members(); err != nil {
		t.Fatal(err)
	}
	return x, members
}

var errDone = errors.New("done")

// simulate runs Algorithms 3 and 4 with the cohorts that the plan implies.
func simulate(t *testing.T, p *wire.Plan, members []string) []float64 {
	t.Helper()
	d := DeComFL{
		Problem: Problem{Dim: int(p.Dim), Loss: loss, Direction: func(n uint64, k, q int) []float64 {
			z := make([]float32, p.Dim)
			prng.Fill(z, prng.Direction{
				Key: prng.RecordKey(p.RunKey, n), Step: uint16(k), Perturbation: uint16(q),
				Source: prng.Shared, Domain: prng.Directions, Dist: prng.Distribution(p.Distribution),
			}, 0)
			return widen(z)
		}},
		K: int(p.Steps), P: int(p.Perturbations), Mu: float64(p.Mu), Eta: float64(p.Step),
		Central: p.Difference == wire.Central, Beta: float64(p.Beta), Torch: p.Rule == wire.TorchMomentum,
		Decay: float64(p.WeightDecay),
	}
	s := State{make([]float64, p.Dim), make([]float64, p.Dim)}
	for round := range p.Rounds {
		n := round + 2 // record 1 is the plan
		cohort := wire.Cohort{Sampled: uint64(p.Sampled(clients)), Members: clients}
		var sampled []int
		for slot, id := range members {
			if cohort.Has(p.Run, n, 0, uint32(slot), id) {
				var client int
				fmt.Sscanf(id, "c%d", &client)
				sampled = append(sampled, client)
			}
		}
		mean := d.Round(s, n, sampled)
		for i := range mean {
			if !(math.Abs(mean[i]-s.X[i]) <= linear*(1+math.Abs(s.X[i]))) {
				t.Fatalf("round %d: the mean of the local models is %v, the replay of the mean scalars %v", round+1, mean[i], s.X[i])
			}
		}
	}
	return s.X
}

func widen(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}
