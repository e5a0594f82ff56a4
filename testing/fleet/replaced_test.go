package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/testing/bowl"
	"github.com/zofl/zofl/wire"
)

// differing are the options whose records differ after another coordinator took over, by the words
// with which docs/operate.md names them. No preset is among them.
var differing = map[string]string{
	"groups by sketch, normalized":        "`groups=sketch`",
	"groups by sketch, weights":           "`groups=sketch`",
	"groups by sketch, 2 bits, step=auto": "`groups=sketch`",
	"trust":                               "`trust`",
}

// replacedOptions are settings that concern what a coordinator knows, on top of a preset.
var replacedOptions = []struct {
	name, preset string
	edit         func(*plan.Plan)
}{
	{"trust", "decomfl", func(p *plan.Plan) { p.Trust = 16 }},
	{"open roster", "zofl-shared", func(p *plan.Plan) { p.Roster = plan.OpenRoster }},
	{"some of the devices", "zofl", func(p *plan.Plan) { p.Members, p.Regroup = 7, 3 }},
	{"some of the devices, shared", "zofl-shared", func(p *plan.Plan) { p.Members = 7 }},
	{"claims of vectors", "fedzo-dense", func(p *plan.Plan) {
		p.Weights, p.ClaimBound = plan.BySamples, 2
	}},
}

// TestReplacedCoordinator replaces the coordinator twice at each record: before the log stores it,
// and after that, before the coordinator knows. With every preset and option but those of differing
// the records are those of a coordinator that nobody disturbed. Only epochs differ, and the hashes
// that follow from them.
func TestReplacedCoordinator(t *testing.T) {
	page, err := os.ReadFile("../../docs/operate.md")
	if err != nil {
		t.Fatal(err)
	}
	run := func(name, method string, edit func(*plan.Plan)) {
		if testing.Short() && name != "zofl" && name != "zofl-shared" {
			return
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel() // mostly they wait for the disk
			p := replacedPlan(t, method, edit)
			want, _ := replacedRun(t, p, false)
			got, replaced := replacedRun(t, p, true)
			if replaced < 2*len(want)-2 {
				t.Errorf("%d coordinators for %d records", replaced+1, len(want))
			}
			words, differs := differing[name]
			if at := firstUnequal(got, want); at < 0 == differs {
				t.Errorf("record %d of %d differs first, want a difference: %v", at+1, len(want), differs)
			}
			if differs && !strings.Contains(string(page), "| "+words) {
				t.Errorf("docs/operate.md does not name %s", words)
			}
		})
	}
	for _, info := range preset.List() {
		run(info.Name, info.Name, func(*plan.Plan) {})
	}
	for _, o := range options {
		run(o.name, o.preset, o.edit)
	}
	for _, o := range replacedOptions {
		run(o.name, o.preset, o.edit)
	}
}

func replacedPlan(t *testing.T, method string, edit func(*plan.Plan)) *plan.Plan {
	p, err := preset.Unbound(method, "replaced", 60)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey = make(plan.Bytes, 32) // both runs have the same directions
	p.Steps, p.Perturbations, p.Batch = min(p.Steps, 2), min(p.Perturbations, 3), 0
	p.Rounds, p.DigestEvery, p.Diverge = 16, 4, 0
	if p.StepAuto == 0 {
		p.StepSize, p.Mu = 1e-2, 1e-3
	}
	if p.Estimator == plan.Surrogate { // the surrogate's numerics have their own tests
		p.Features, p.Window, p.Candidates, p.Active, p.Around = 20, 10, 5, 2, 2
	}
	if p.Members > 1 {
		p.Members, p.Target, p.Quorum = 4, 4, 4
	}
	if p.Difference == plan.NoDifference {
		p.Perturbations = 5
	}
	edit(p)
	preset.Guard(p)
	if err := valid.Plan(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// firstUnequal returns the index of the first record that is not in both logs, or -1.
func firstUnequal(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if i >= min(len(a), len(b)) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

var errReplaced = errors.New("replaced")

// A fragileLog is a log whose coordinator dies at each append: in its first life before the record
// is stored, in its second after that, without learning of it.
type fragileLog struct {
	*runlog.Memory
	lives map[uint64]int // of record n
	die   func()
	dead  bool
}

func (l *fragileLog) Append(ctx context.Context, n uint64, record []byte) error {
	l.lives[n]++
	switch life := l.lives[n]; {
	case l.dead:
		return errReplaced
	case life == 1:
		l.dead = true
		l.die()
		return errReplaced
	}
	err := l.Memory.Append(ctx, n, record)
	l.dead = true
	l.die()
	return errors.Join(err, errReplaced)
}

// replacedRun runs a plan, and returns the log's records without epochs and hashes, and how many
// coordinators died.
func replacedRun(t *testing.T, p *plan.Plan, fragile bool) (records []string, died int) {
	synctest.Test(t, func(t *testing.T) {
		plan := *p
		r := newMethodRun(t, &plan)
		defer r.bus.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		lives := map[uint64]int{1: 2} // newMethodRun's coordinator does not run, and stores nothing
		r.all.Go(func() {
			for fragile && r.replace(ctx, lives) {
				died++
			}
			if !fragile {
				r.replace(ctx, nil)
			}
		})
		for i := range int(p.Members) {
			time.Sleep(time.Millisecond) // devices get slots in this order
			r.start(ctx, fmt.Sprint("d", i), func(c *client.Config) { slowly(c, p, i) })
			synctest.Wait()
		}
		r.all.Wait()
		r.agree()
		records = bodies(t, r.log)
	})
	return records, died
}

// replace runs a coordinator until it dies or the run has ended, and says whether it died. Without
// lives it does not die.
func (r *methodRun) replace(ctx context.Context, lives map[uint64]int) (died bool) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cfg := coordinator.Config{Bus: r.bus, Plan: r.plan, Log: r.log, Linger: time.Hour}
	if lives != nil {
		cfg.Log = &fragileLog{Memory: r.log, lives: lives, die: func() { stop(errReplaced) }}
	}
	cfg.Recorder = report.RecorderFunc(func(e report.Event) error {
		if e.Kind == report.RunPaused {
			r.t.Errorf("record %d: %s", e.N, e.Reason)
			return errAway
		}
		return nil
	})
	lead, err := coordinator.New(ctx, cfg)
	if err == nil {
		err = lead.Run(ctx)
	}
	if died = errors.Is(err, errReplaced); err != nil && !died {
		r.t.Errorf("coordinator: %v", err)
	}
	return died
}

// slowly gives a device a loss that takes some milliseconds, others than on other devices, and
// samples that others do not have.
func slowly(c *client.Config, p *plan.Plan, device int) {
	loss := bowl.Of(device)
	c.Objective = byClass(sampled{objective.Func(c.Objective.Dim(),
		func(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
			time.Sleep(time.Duration(device+1) * time.Millisecond)
			return loss(ctx, x, b)
		}), 10 + 7*device*device}, p, c.ID)
}

// A sampled loss is over a number of samples.
type sampled struct {
	objective.Flat
	samples int
}

func (s sampled) Samples() int { return s.samples }

// bodies returns the records of a log without epochs, and without the hashes that follow from them.
func bodies(t *testing.T, log runlog.Log) (records []string) {
	err := log.Read(context.Background(), 1, func(_ uint64, record []byte) bool {
		r, err := wire.DecodeRecord(record)
		if err != nil {
			t.Error(err)
			return false
		}
		r.Epoch, r.Prev = 0, wire.Hash{}
		records = append(records, string(r.Append(nil)))
		return true
	})
	if err != nil {
		t.Error(err)
	}
	return records
}
