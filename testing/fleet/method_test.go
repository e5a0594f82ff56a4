package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/testing/bowl"
)

// options are settings that no preset has, each on top of a preset.
var options = []struct {
	name, preset string
	edit         func(*plan.Plan)
}{
	{"half", "decomfl",
		func(p *plan.Plan) { p.Precision, p.MaxScalar, p.Steps = plan.Half, 65504, 2 }},
	{"groups", "fedzo", byGroups},
	{"groups by sketch, normalized", "fedzo", func(p *plan.Plan) {
		byGroups(p)
		p.Groups, p.Steps = grouping.Sketch, 1
		p.ServerRule, p.ServerBeta1, p.ServerBeta2 = plan.ServerNormalized, 0.9, 0.99
		p.ServerDecay = 0.02
	}},
	{"groups by sketch, weights", "fedzo", func(p *plan.Plan) {
		byGroups(p)
		p.Groups, p.Weights = grouping.Sketch, plan.BySamples
	}},
	{"groups, 4 bits, two steps", "fedzo", func(p *plan.Plan) {
		byGroups(p)
		// A device that stops ends its group's attempt, so a round has to be short.
		p.Precision, p.MaxScalar, p.Steps, p.Perturbations = plan.Int4, 65504, 2, 3
	}},
	{"groups by sketch, 2 bits, step=auto", "zofl", func(p *plan.Plan) {
		byGroups(p)
		p.Groups, p.Precision = grouping.Sketch, plan.Int2
	}},
	{"groups by classes, 8 bits", "fedzo", func(p *plan.Plan) {
		groupsByClass(p)
		p.Precision, p.MaxScalar = plan.Int8, 65504
	}},
	{"groups by classes, 2 bits, step=auto", "zofl", func(p *plan.Plan) {
		groupsByClass(p)
		p.Precision = plan.Int2
	}},
	{"groups as devices are, 8 bits", "fedzo", func(p *plan.Plan) {
		byGroups(p)
		p.Groups, p.GroupSize, p.Precision, p.MaxScalar = grouping.Auto, 0, plan.Int8, 65504
		p.Weights = plan.BySamples
	}},
	{"groups that devices draw", "fedzo", func(p *plan.Plan) {
		byGroups(p)
		p.Roster, p.Weights = plan.OpenRoster, plan.BySamples
	}},
	{"groups that many devices draw, 8 bits", "zofl", func(p *plan.Plan) {
		byGroups(p)
		p.Target, p.Quorum = grouping.MaxDevices+2, 2 // few of these devices are present
	}},
	{"groups, half, median", "fedzo", func(p *plan.Plan) {
		byGroups(p)
		p.Aggregator, p.Precision, p.MaxScalar = plan.Median, plan.Half, 65504
	}},
	{"4 bits, two steps", "fedzo", func(p *plan.Plan) {
		p.Precision, p.MaxScalar, p.Steps, p.Perturbations = plan.Int4, 65504, 2, 19
	}},
	{"2 bits, clipped, momentum", "fedzo", func(p *plan.Plan) {
		p.Precision, p.MaxScalar, p.Steps, p.Perturbations = plan.Int2, 65504, 1, 10
		p.Aggregator, p.Clip, p.Weights, p.Rule, p.Beta = plan.ClippedMean, 0.5, plan.BySamples,
			plan.Momentum, 0.9
	}},
	{"8 bits, normalized", "fedzo", func(p *plan.Plan) {
		p.Precision, p.MaxScalar = plan.Int8, 65504
		p.Distribution, p.Steps, p.Difference = plan.Rademacher, 1, plan.Forward
		p.ServerRule, p.ServerBeta1, p.ServerBeta2, p.StepSize = plan.ServerNormalized, 0.9, 0.99,
			0.05
	}},
	{"pool", "decomfl", func(p *plan.Plan) { p.Pool, p.Rebase, p.Steps = 16, 4, 2 }},
	{"median", "decomfl", func(p *plan.Plan) { p.Aggregator, p.Steps = plan.Median, 2 }},
	{"private", "decomfl", func(p *plan.Plan) { p.RunKey, p.KeyCheck = nil, plan.KeyCheck(secret) }},
	{"private, scaffold-2", "scaffold-2",
		func(p *plan.Plan) { p.RunKey, p.KeyCheck = nil, plan.KeyCheck(secret) }},
	{"scaffold-1, half", "scaffold-1",
		func(p *plan.Plan) { p.Precision, p.MaxScalar = plan.Half, 65504 }},
	{"normalized, cosine", "fedzo", func(p *plan.Plan) {
		p.Distribution, p.Steps, p.Difference = plan.Rademacher, 1, plan.Forward
		p.ServerRule, p.ServerBeta1, p.ServerBeta2, p.ServerDecay = plan.ServerNormalized, 0.9, 0.99,
			0.03
		p.StepDecay, p.Floor, p.StepSize = plan.Cosine, 0.05, 0.05
	}},
	{"adam, slow root", "decomfl", func(p *plan.Plan) {
		p.ServerRule, p.ServerStep, p.ServerEpsilon = plan.ServerAdam, 1e-3, 1e-8
		p.StepDecay = plan.SlowSqrt
	}},
	{"scaffold-2, momentum, amsgrad", "scaffold-2", func(p *plan.Plan) {
		p.Rule, p.Beta = plan.Momentum, 0.9
		p.ServerRule, p.ServerStep, p.ServerBeta1, p.ServerBeta2 = plan.ServerAMSGrad, 0.01, 0.9, 0.99
		p.ServerEpsilon = 1e-6
	}},
}

// byGroups makes the devices of a relayed plan share directions in groups of two.
func byGroups(p *plan.Plan) {
	p.Sharing, p.Groups, p.GroupSize, p.Regroup = plan.GroupDirections, grouping.Random, 2, 3
	p.Target, p.OverSample = 4, 1
}

var secret = make([]byte, 32)

func init() { rand.Read(secret) }

// TestMethods runs every preset and every option through the coordinator, with devices that miss
// rounds, stop and come back, join late, or follow passively. All devices end with the bits of the
// log, and the coordinator drops no message because of its content.
func TestMethods(t *testing.T) {
	dim := uint64(5000)
	if testing.Short() {
		dim = 500 // the race detector makes vector operations slow
	}
	run := func(name, method string, edit func(*plan.Plan)) {
		t.Run(name, func(t *testing.T) {
			p, err := preset.Unbound(method, "methods", dim)
			if err != nil {
				t.Fatal(err)
			}
			p.Steps, p.Perturbations = min(p.Steps, 3), min(p.Perturbations, 4)
			p.StepSize, p.Mu, p.Rounds, p.DigestEvery, p.Diverge = 1e-3, 1e-3, 30, 4, 0
			if p.Estimator == plan.Surrogate { // the surrogate's numerics have their own tests
				p.Features, p.Window, p.Candidates, p.Active, p.Around = 20, 10, 5, 2, 2
			}
			if p.Members > 1 {
				p.Members, p.Target, p.Quorum = 4, 2, 1
			}
			if p.Difference == plan.NoDifference {
				p.Mu = 0
			}
			edit(p)
			if err := valid.Plan(p); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { newMethodRun(t, p).play() })
		})
	}
	for _, info := range preset.List() {
		run(info.Name, info.Name, func(*plan.Plan) {})
	}
	for _, o := range options {
		run(o.name, o.preset, o.edit)
	}
}

// A methodRun is a run of a plan over the bus in memory.
type methodRun struct {
	t    *testing.T
	plan *plan.Plan
	bus  *bus.Memory
	log  *runlog.Memory
	lead *coordinator.Coordinator
	all  sync.WaitGroup
	dir  string

	rounds chan uint64 // rounds that are finished

	mu      sync.Mutex // guards clients
	clients map[string]*client.Client
}

func newMethodRun(t *testing.T, p *plan.Plan) *methodRun {
	r := &methodRun{
		t: t, plan: p, bus: bus.NewMemory(), log: &runlog.Memory{}, dir: t.TempDir(),
		rounds: make(chan uint64, p.Rounds+1), clients: map[string]*client.Client{},
	}
	var err error
	r.lead, err = coordinator.New(t.Context(), coordinator.Config{
		Bus: r.bus, Plan: p, Log: r.log, Linger: time.Hour, Witnesses: []string{"w"},
		Recorder: report.RecorderFunc(func(e report.Event) error {
			switch e.Kind {
			case report.RoundDone:
				r.rounds <- e.Round
			case report.DigestsDiffer, report.RunPaused:
				t.Errorf("record %d: %v %s", e.N, e.Kind, e.Reason)
			}
			return nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// play executes the run to its end.
func (r *methodRun) play() {
	defer r.bus.Close()
	ctx, cancel := context.WithTimeout(r.t.Context(), 24*time.Hour)
	defer cancel()
	r.all.Go(func() {
		if err := r.lead.Run(ctx); err != nil {
			r.t.Errorf("coordinator: %v", err)
		}
	})
	r.start(ctx, "w", func(c *client.Config) {
		c.Passive, c.Objective = &client.Passive{SnapshotEvery: 8}, nil
	})
	for i := 1; i < int(r.plan.Members); i++ {
		r.start(ctx, fmt.Sprint("d", i))
	}
	for _, away := range []uint64{5, 6, 7, 12, 29} { // a device stops after each of these rounds
		stop := r.start(ctx, "d0")
		for done := range r.rounds {
			if done >= away {
				break
			}
		}
		stop()
		if r.plan.Members > 1 {
			<-r.rounds // a round without the stopped device
		}
	}
	r.start(ctx, "d0")
	r.start(ctx, "late", func(c *client.Config) { c.Horizon = 10 })
	r.all.Wait()
	r.agree()
	if c := r.lead.Status().Counters; c.WrongControl+c.WrongCount+c.NonFinite+c.TooLarge+
		c.Malformed+c.WrongTip > 0 {
		r.t.Errorf("the coordinator dropped replies: %+v", c)
	}
}

var errAway = errors.New("away")

// start runs a client until stop, or the end of the run.
func (r *methodRun) start(ctx context.Context, id string,
	edits ...func(*client.Config)) (stop func()) {
	r.t.Helper()
	store, err := client.OpenStore(filepath.Join(r.dir, id))
	if err != nil {
		r.t.Fatal(err)
	}
	cfg := client.Config{
		Bus: r.bus, Run: r.plan.Run, ID: id, Store: store, Workers: 1,
	}
	cfg.Objective = byClass(objective.Func(int(r.plan.Dim), bowl.Of(len(id)+int(id[len(id)-1]))),
		r.plan, id)
	if r.plan.Private() {
		cfg.RunKey = secret
	}
	for _, edit := range edits {
		edit(&cfg)
	}
	c, err := client.New(cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	r.clients[id] = c
	r.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	r.all.Go(func() {
		defer close(ended)
		defer store.Close()
		if err := c.Run(ctx); err != nil && err != errAway {
			r.t.Errorf("%s: %v", id, err)
		}
	})
	return func() {
		cancel(errAway)
		<-ended
	}
}

// agree checks that all devices hold the state of the log.
func (r *methodRun) agree() {
	w := replica.New(replica.Config{Run: r.plan.Run, RunKey: secret})
	replay(r.t, w, r.log)
	if w.Rounds() != r.plan.Rounds || w.Ended() == nil {
		r.t.Errorf("the log ends in round %d of %d", w.Rounds(), r.plan.Rounds)
	}
	for id, c := range r.clients {
		if n, digest := c.Digest(); n != w.N() || digest != w.Digest() {
			r.t.Errorf("%s: digest %x after record %d, want the log's %x after %d",
				id, digest[:8], n, w.Digest(), w.N())
		}
	}
}
