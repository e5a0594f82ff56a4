//go:build !race

package ccore

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// goldenLogs returns the logs of client/replica/testdata/logs.txt but those of given parameters,
// which random plans cover.
func goldenLogs(t testing.TB) (logs []*runLog) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "client/replica/testdata/logs.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.Split(string(b), "\n\n") {
		g := &runLog{}
		for _, line := range strings.Split(text, "\n") {
			switch key, value, _ := strings.Cut(line, ": "); key {
			case "secret":
				g.secret = unhex(t, value)
			case "given":
				g.initial = []float32{} // of another generator
			case "record":
				g.records = append(g.records, unhex(t, value))
			}
		}
		if len(g.records) == 0 || g.initial != nil {
			continue
		}
		r, err := wire.DecodeRecord(g.records[0])
		if err != nil {
			t.Fatal(err)
		}
		g.run = r.Plan.Run
		logs = append(logs, g)
	}
	if len(logs) < 90 {
		t.Fatalf("%d logs", len(logs))
	}
	return logs
}

// damage changes a record and makes the chain of those behind it right again, as far as they read.
func (g *gen) damage(log *runLog) *runLog {
	c := *log
	c.records = nil
	i := g.IntN(len(log.records))
	prev := wire.Genesis(c.run)
	for k, b := range log.records[:min(len(log.records), 60)] {
		if k == i {
			b = g.damaged(b)
		}
		if r, err := wire.DecodeRecord(b); err == nil && r.Prev != prev && k >= i && !g.chance(20) {
			at := bytes.Index(b, r.Prev[:])
			b = bytes.Clone(b)
			copy(b[at:], prev[:])
		}
		prev = wire.HashRecord(b)
		c.records = append(c.records, b)
	}
	return &c
}

// log makes a run of a random plan: rounds, changes, rollbacks, an end, and rounds that no
// coordinator makes.
func (g *gen) log() *runLog {
	p := g.plan()
	l := &runLog{run: p.Run}
	if p.Private() {
		l.secret = secret
	}
	if p.Initial == plan.Given {
		l.initial = initial(p.Dim)
	}
	prev := wire.Genesis(p.Run)
	add := func(r wire.Record) {
		r.N, r.Prev, r.Epoch = uint64(len(l.records)+1), prev, uint64(len(l.records)/4)
		b := r.Append(nil)
		prev = wire.HashRecord(b)
		l.records = append(l.records, b)
	}
	add(wire.Record{Kind: wire.KindPlan, Plan: p})
	rounds, rollbacks := uint64(0), 0
	ended := false
	for range 1 + g.IntN(12) {
		switch n := uint64(len(l.records) + 1); {
		case ended:
			return l
		case g.chance(10):
			add(wire.Record{Kind: wire.KindChange, Change: g.change(p)})
		case g.chance(12) && n > 3 && rollbacks < 8:
			rollbacks++
			add(wire.Record{Kind: wire.KindRollback, To: 1 + g.Uint64N(n-1)})
		case g.chance(25):
			ended = !g.chance(4) // or records follow the end
			add(wire.Record{Kind: wire.KindEnd, End: &wire.End{Reason: wire.EndRounds}})
		default:
			rounds++
			add(wire.Record{Kind: wire.KindRound, Round: g.round(p, n, rounds)})
		}
	}
	return l
}

// change changes a field that replay reads, or one that it does not. Seldom the plan that comes of
// it is none.
func (g *gen) change(p *plan.Plan) *plan.Change {
	list := []string{"diverge 2", "perturbations 7", "target 5", "max_scalar 7", "digest_every 3",
		"quorum 2", "mu 0.5"}
	add := func(fits bool, settings ...string) {
		if fits || g.chance(20) {
			list = append(list, settings...)
		}
	}
	evolves := p.ServerRule == plan.ServerCMA
	add(!evolves, "step 0.02", "weight_decay 0.25", "weight_decay 0", "late 2", "late 0")
	add(p.Rule != plan.SGD, "beta 0.75")
	add(p.Steps > 1, "prox 0.5", "prox 0")
	add(p.ServerRule == plan.ServerNormalized, "server_decay 0.5", "server_beta1 0.25",
		"server_beta2 0.75", "loss_unit 0.01")
	field, value, _ := strings.Cut(one(g, list...), " ")
	c := &plan.Change{}
	if err := planfile.SetChange(c, field, value); err != nil {
		panic(err)
	}
	return c
}

// round makes a round of the plan, at times one that the plan cannot have made.
func (g *gen) round(p *plan.Plan, n, round uint64) *wire.Round {
	r := &wire.Round{Round: round, StepSize: p.StepSizeAt(round), Factor: p.FactorAt(round),
		Perturbations: uint32(1 + g.IntN(20)), Contributors: uint32(1 + g.IntN(3))}
	if p.ServerRule == plan.ServerCMA {
		r.Perturbations = uint32(4 + g.IntN(int(p.MaxCandidates())-3))
	}
	if g.chance(3) && p.ServerRule != plan.ServerCMA {
		r.StepSize = one[float32](g, 1e-40, 1e-3, 1, 1000)
	}
	scalars := func(perturbations uint32) wire.Scalars {
		return g.scalars(p.TermPrecision(), int(p.Steps), int(perturbations))
	}
	if p.Transport == plan.Relay {
		slot := uint32(0)
		for range r.Contributors {
			slot += uint32(g.IntN(3))
			r.Terms = append(r.Terms,
				wire.Term{Source: prng.Slot(slot), Scalars: scalars(r.Perturbations)})
			slot++
		}
	} else {
		r.Terms = []wire.Term{{Scalars: scalars(r.Perturbations)}}
	}
	for back := uint64(1); p.Late > 0 && back+2 <= n && back < 4; back++ {
		if source := uint32(0); g.chance(2) {
			if p.Transport == plan.Relay {
				source = prng.Slot(uint32(g.IntN(5)))
			}
			r.Terms = append(r.Terms,
				wire.Term{Back: back, Source: source, Scalars: scalars(uint32(1 + g.IntN(9)))})
		}
	}
	if p.RelaysWeights() {
		for range r.Terms {
			r.Weights = append(r.Weights, uint32(1+g.IntN(int(p.MaxWeight))))
		}
	}
	if g.chance(30) {
		g.spoil(r)
	}
	return r
}

// spoil makes a round that no coordinator makes.
func (g *gen) spoil(r *wire.Round) {
	switch g.IntN(7) {
	case 0:
		r.Perturbations++
	case 1:
		r.StepSize = one[float32](g, 0, -1)
	case 2:
		r.Terms = append(r.Terms, wire.Term{Back: 1, Scalars: make(wire.Scalars, 8)})
	case 3:
		r.Terms = r.Terms[:0]
	case 4:
		r.Weights = append(r.Weights, 3)
	case 5:
		r.Factor = -0.5
	default:
		r.Phase = uint8(1 + g.IntN(2))
	}
}

func TestLogs(t *testing.T) {
	j := newJudge(t)
	whole := 0
	for _, l := range goldenLogs(t) {
		if compare(t, j, l) == len(l.records) {
			whole++
		}
	}
	if whole < 40 {
		t.Errorf("C replays %d of the logs", whole)
	}
}

// TestFaultyLogs: logs with one record damaged.
func TestFaultyLogs(t *testing.T) {
	j, logs := newJudge(t), goldenLogs(t)
	for seed := range count(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := newGen(seed)
			compare(t, j, g.damage(logs[g.IntN(len(logs))]))
		})
	}
}

// TestRandomPlans: the runs of random plans.
func TestRandomPlans(t *testing.T) {
	j := newJudge(t)
	records, whole := 0, 0
	for seed := range count(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := newGen(seed).log()
			n := compare(t, j, l)
			records += n
			if n == len(l.records) {
				whole++
			}
		})
	}
	t.Logf("%d records equal; %d whole runs", records, whole)
	if seeds := int(count(300)); whole < seeds/2 {
		t.Errorf("only %d of %d runs are whole", whole, seeds)
	}
}

func FuzzLog(f *testing.F) {
	for _, l := range goldenLogs(f) {
		if len(l.records[0]) < 300 && len(l.records) > 2 {
			f.Add(l.records[0], l.records[1], l.records[2])
		}
	}
	j := newJudge(f)
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		r, err := wire.DecodeRecord(a)
		if err != nil || r.Plan == nil || r.Plan.Dim > 1<<14 {
			return
		}
		l := &runLog{run: r.Plan.Run, secret: secret, records: [][]byte{a, b, c}}
		if !r.Plan.Private() {
			l.secret = nil
		}
		prev := wire.Genesis(l.run)
		for _, b := range l.records {
			if r, err := wire.DecodeRecord(b); err == nil {
				copy(b[bytes.Index(b, r.Prev[:]):], prev[:])
			}
			prev = wire.HashRecord(b)
		}
		compare(t, j, l)
		if t.Failed() {
			t.Logf("records %s %s %s", hex.EncodeToString(a), hex.EncodeToString(b),
				hex.EncodeToString(c))
		}
	})
}
