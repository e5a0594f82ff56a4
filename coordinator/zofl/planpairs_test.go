package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/internal/wiretest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// TestPairsRun: whatever two choices a plan can have, a coordinator leads rounds of
// it, devices take part, and all come to the state that a replay of the log has.
func TestPairsRun(t *testing.T) {
	ran, stride := 0, 1
	if testing.Short() {
		stride = 11 // the race detector sees every choice, but not every pair of them
	}
	for i, pair := range wiretest.Pairs() {
		if i%stride != 0 {
			continue
		}
		p, secret := planOfPair(t, pair)
		if valid.Plan(p) != nil {
			continue // plan/testdata/pairs.txt says why
		}
		ran++
		t.Run(pairName(pair), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runPair(t, p, secret) })
		})
	}
	if ran < 3000/stride {
		t.Errorf("only %d pairs ran", ran)
	}
}

// pairName is short where values are keys.
func pairName(pair wiretest.Pair) string {
	short := func(s string) string { return s[:min(len(s), 26)] }
	return short(pair.A) + " with " + short(pair.B)
}

// planOfPair is a plan of 3 devices and 3 rounds, and its secret if it has one.
func planOfPair(t *testing.T, pair wiretest.Pair) (p *plan.Plan, secret []byte) {
	t.Helper()
	p, err := preset.Unbound("decomfl", "pair", 40)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range pair.Settings {
		name, value, _ := strings.Cut(s, "=")
		if err := planfile.Set(p, name, value); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if p.Private() {
		secret = bytes.Repeat([]byte{5}, cli.SecretLen)
		p.KeyCheck = plan.KeyCheck(secret)
	}
	p.Members, p.Target, p.Quorum, p.Rounds, p.StepSize, p.Diverge = 3, 3, 3, 3, 1e-3, 0
	p.GroupSize = min(p.GroupSize, 3)
	return p, secret
}

// runPair leads the run and follows it.
func runPair(t *testing.T, p *plan.Plan, secret []byte) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := bus.NewMemory()
	defer b.Close()
	log := &runlog.Memory{}
	lead, err := coordinator.New(ctx, coordinator.Config{Bus: b, Plan: p, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	var devices, leader sync.WaitGroup
	leader.Go(func() {
		if err := lead.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	var clients []*client.Client
	for i := range 3 {
		cfg := client.Config{Bus: b, Run: p.Run, ID: fmt.Sprint("d", i),
			RunKey: secret, Objective: well{p.Dim, float32(i)}}
		if device, _ := p.Noisy(); device { // which answers nothing that it cannot keep
			store, err := client.OpenStore(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			cfg.Store = store
		}
		c, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
		devices.Go(func() {
			if err := c.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	devices.Wait()
	leader.Wait()
	checkPair(t, replay(t, p, secret, log), clients)
}

// replay is the state that the log makes, after 3 rounds that moved it.
func replay(t *testing.T, p *plan.Plan, secret []byte, log runlog.Log) *replica.Replica {
	t.Helper()
	r, err := source.Replay(t.Context(), source.Stored(log, nil),
		source.Config{Replica: replica.Config{RunKey: secret}})
	if err != nil {
		t.Fatal(err)
	}
	moved := 0
	for _, v := range r.Params() {
		if v != v {
			t.Fatal("a parameter is NaN")
		}
		if v != 0 {
			moved++
		}
	}
	if r.Rounds() != 3 || moved == 0 {
		t.Errorf("%d rounds moved %d parameters", r.Rounds(), moved)
	}
	return r
}

func checkPair(t *testing.T, r *replica.Replica, clients []*client.Client) {
	t.Helper()
	for i, c := range clients {
		if n, digest := c.Digest(); n != r.N() || digest != r.Digest() {
			t.Errorf("device %d is at record %d with digest %x, the log at %d with %x", i, n,
				digest[:4], r.N(), r.Digest())
		}
	}
}

// A well is a bowl of dim parameters around one of value lowest in all.
type well struct {
	dim    uint64
	lowest float32
}

func (w well) Dim() int { return int(w.dim) }

func (w well) Samples() int { return 1 + int(w.lowest) }

func (w well) Loss(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
	sum := 0.0
	for _, v := range x {
		sum += float64(v-w.lowest) * float64(v-w.lowest)
	}
	return sum / 2, nil
}

// ClassCounts implements [objective.Classed]: each device has a class of its own.
func (w well) ClassCounts() []int {
	counts := make([]int, 10)
	counts[int(w.lowest)] = w.Samples()
	return counts
}

// ClassLosses implements [objective.Classed].
func (w well) ClassLosses(ctx context.Context, x []float32, b objective.Batch, sums []float64,
	counts []int) error {
	f, err := w.Loss(ctx, x, b)
	n, class := max(b.Size, 1), int(w.lowest)
	counts[class], sums[class] = n, float64(n)*f
	return err
}
