package coordinator

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// A narrowBus is a bus whose server takes short messages.
type narrowBus struct {
	bus.Bus
	most int64
}

func (b *narrowBus) MaxPayload() int64 { return b.most }

// TestPayload: a broker that cannot carry the plan's records is refused before anything is sent,
// with the values and the remedy; one that only takes no full frame is reported.
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
		most         int64
		warns, fails bool
	}{{0, false, false}, {wire.MaxFrame, false, false}, {need, true, false}, {need - 1, false, true}} {
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
		if warns := strings.Contains(said.String(), "max_payload"); warns != tt.warns {
			t.Errorf("max_payload %d: said %q", tt.most, said.String())
		}
		if log.Last() > 0 {
			t.Errorf("max_payload %d: New stored %d records", tt.most, log.Last())
		}
	}
}

// TestPayloadLearnedLate: a connection that comes up after New is asked again by Run.
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
