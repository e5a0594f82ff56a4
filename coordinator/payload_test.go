package coordinator

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// A narrowBus is a bus whose broker accepts only short messages.
type narrowBus struct {
	bus.Bus
	most int64
}

func (b *narrowBus) MaxPayload() int64 { return b.most }

// TestPayload: New refuses a broker that cannot carry the plan's records before it sends anything,
// and the error has the values and the remedy. New accepts a broker that only refuses full frames.
func TestPayload(t *testing.T) {
	plan, err := preset.Unbound("fedzo", "r", 100)
	if err != nil {
		t.Fatal(err)
	}
	plan.Members, plan.Target, plan.Quorum = 20, 20, 20
	need := int64(valid.FrameBytes(plan))
	if need < 32_000 || need >= wire.MaxFrame {
		t.Fatalf("20 devices of fedzo need frames of %d bytes", need)
	}
	for _, tt := range []struct {
		most  int64
		fails bool
	}{{0, false}, {wire.MaxFrame, false}, {need, false}, {need - 1, true}} {
		var said bytes.Buffer
		b := &narrowBus{bus.NewMemory(), tt.most}
		log := &runlog.Memory{}
		_, err := New(t.Context(), Config{Bus: b, Log: log, Plan: plan,
			Logger: slog.New(slog.NewTextHandler(&said, nil))})
		if fails := errors.Is(err, ErrConfig); fails != tt.fails || err != nil && !fails {
			t.Errorf("max_payload %d: %v", tt.most, err)
		}
		if tt.fails && !strings.Contains(err.Error(), "max_payload to 65536") {
			t.Errorf("the error has no remedy: %v", err)
		}
		if strings.Contains(said.String(), "max_payload") {
			t.Errorf("max_payload %d: said %q", tt.most, said.String())
		}
		if log.Last() > 0 {
			t.Errorf("max_payload %d: New stored %d records", tt.most, log.Last())
		}
	}
}

// TestPayloadRemedies: the error names fields of the plan only if the broker takes a plan that has
// other values of them.
func TestPayloadRemedies(t *testing.T) {
	for name, tt := range map[string]struct {
		set       func(*plan.Plan)
		most      int64
		want, not string
	}{
		"the budget": {func(*plan.Plan) {}, 1700, "or announce_budget to 489", "perturbations"},
		"a record": {func(p *plan.Plan) { p.Perturbations = 400 }, 1700,
			"or announce_budget to 0, and lower target, steps or perturbations", "489"},
		"an announcement": {func(*plan.Plan) {}, 1100, "max_payload to 65536", "budget"},
		"shares":          {func(p *plan.Plan) { p.Secure = 1 }, 4000, "max_payload to 65536", "budget"},
	} {
		p, err := preset.New("decomfl", "r", 10)
		if err != nil {
			t.Fatal(err)
		}
		p.Members, p.Target, p.Quorum = 1, 1, 1
		tt.set(p)
		err = checkPayload(&Config{Bus: &narrowBus{bus.NewMemory(), tt.most}}, p)
		if err == nil || !strings.Contains(err.Error(), tt.want) ||
			strings.Contains(err.Error(), tt.not) {
			t.Errorf("%s: %v, want %q and no %q", name, err, tt.want, tt.not)
		}
		if p.AnnounceBudget != plan.DefaultAnnounceBudget || p.Target != 1 {
			t.Errorf("%s: the plan has changed", name)
		}
	}
}

// TestPayloadLearnedLate: Run checks the broker's limit again if the connection comes up after New.
func TestPayloadLearnedLate(t *testing.T) {
	b := &narrowBus{Bus: bus.NewMemory()}
	log := &runlog.Memory{}
	c, err := New(t.Context(), Config{Bus: b, Log: log, Plan: chaintest.Plan(t)})
	if err != nil {
		t.Fatal(err)
	}
	b.most = 1000
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Run(ctx); !errors.Is(err, ErrConfig) || log.Last() > 0 {
		t.Errorf("got %v, and %d records", err, log.Last())
	}
}

// TestPayloadOfAChange: Change refuses a change whose rounds the broker cannot carry before the log
// has the change, because no device would hear of that record.
func TestPayloadOfAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &runlog.Memory{}
		p := chaintest.Plan(t)
		r := run(t, Config{Log: log, Plan: p, Bus: &narrowBus{bus.NewMemory(), 2000}})
		synctest.Wait()
		change := &plan.Change{}
		if err := planfile.SetChange(change, "perturbations", "4000"); err != nil {
			t.Fatal(err)
		}
		err := r.Change(change)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "max_payload") {
			t.Errorf("got %v", err)
		}
	})
}

// A strictBus refuses messages that are too long, as a connection to a broker does.
type strictBus struct{ narrowBus }

func (b *strictBus) Publish(subject string, data []byte) error {
	if int64(len(data)) > b.most {
		return bus.ErrTooLong
	}
	return b.Bus.Publish(subject, data)
}

// TestAnnouncedWithoutRecords: the coordinator sends an announcement that is too long for the
// broker without its records. If the rest is still too long, the coordinator reports that, and
// continues.
func TestAnnouncedWithoutRecords(t *testing.T) {
	memory := bus.NewMemory()
	defer memory.Close()
	var said bytes.Buffer
	b := &strictBus{narrowBus{memory, 2000}}
	c, err := New(t.Context(), Config{Bus: b, Log: &runlog.Memory{}, Plan: chaintest.Plan(t),
		Logger: slog.New(slog.NewTextHandler(&said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan []byte, 2)
	if _, err := memory.Subscribe(subjects.Announce("r", 0), func(m bus.Message) {
		heard <- m.Data
	}); err != nil {
		t.Fatal(err)
	}
	long := wire.Announcement{N: 4, Epoch: 1, State: wire.Paused, Reason: "lunch"}
	for range 3 {
		long.Records.Add(make([]byte, 1000))
	}
	if err := c.announce(long.Append(nil)); err != nil {
		t.Fatal(err)
	}
	var short []byte
	select {
	case short = <-heard:
	case <-time.After(10 * time.Second):
		t.Fatalf("no announcement came; the coordinator said %q", said.String())
	}
	a, err := wire.DecodeAnnouncement(short)
	if err != nil || a.N != 4 || a.Reason != "lunch" || a.Records.Len() != 0 {
		t.Errorf("announced %+v, %v", a, err)
	}
	b.most = 5
	err = c.announce(long.Append(nil))
	if err != nil || !strings.Contains(said.String(), "max_payload") {
		t.Errorf("got %v, said %q", err, said.String())
	}
}
