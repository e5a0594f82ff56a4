package mobile

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/client/objective"
)

// An app can copy the model, and read pieces of the copy that belong to one record. Before the
// first record CopyModel returns nil.
func TestCopyModel(t *testing.T) {
	dir, dim := t.TempDir(), MaxBlock+5
	file := checkpointOf(t, "digits", uint64(dim))
	if err := os.WriteFile(filepath.Join(dir, "checkpoint"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := config()
	cfg.StateDir, cfg.Dim = dir, dim
	cfg.SetBlockObjective(blockBowl{})
	c := made(t, cfg)
	if c.CopyModel() != nil {
		t.Error("a model before the first record")
	}
	if err := c.Load(); err != nil {
		t.Fatal(err)
	}
	want := make([]byte, floatBytes*dim)
	if n, err := c.Params(want); n != 1 || err != nil {
		t.Fatalf("record %d, %v", n, err)
	}
	m := c.CopyModel()
	if m.Record() != 1 || m.Dim() != dim {
		t.Errorf("record %d, %d parameters", m.Record(), m.Dim())
	}
	if c.Model() != nil {
		t.Error("an array of more than MaxBlock parameters")
	}
	first, second := m.Block(0, dim), m.Block(MaxBlock, dim)
	if len(first) != floatBytes*MaxBlock || len(second) != floatBytes*5 ||
		!bytes.Equal(append(first, second...), want) {
		t.Errorf("blocks of %d and %d bytes, or other ones than the model", len(first), len(second))
	}
	got := make([]byte, 64)
	if n, err := m.ReadParams(7, got); n != 16 || err != nil || !bytes.Equal(got, want[28:92]) {
		t.Errorf("%d parameters, %v: %x, want %x", n, err, got, want[28:92])
	}
	_, err := m.ReadParams(0, got[:7])
	hasCode(t, "ReadParams", err, CodeConfig)
}

// NewClient refuses simple mode if the array of parameters would be larger than MaxBlock.
func TestSimpleModeIsSmall(t *testing.T) {
	cfg := config()
	cfg.Dim = MaxBlock
	if _, err := NewClient(cfg); err != nil {
		t.Errorf("%d parameters: %v", cfg.Dim, err)
	}
	cfg = config()
	cfg.Dim = MaxBlock + 1
	_, err := NewClient(cfg)
	hasCode(t, "one more", err, CodeConfig)
	if err == nil || !strings.Contains(err.Error(), "SetBlockObjective") {
		t.Errorf("%v, want the remedy", err)
	}
	cfg.SetBlockObjective(blockBowl{})
	if _, err := NewClient(cfg); err != nil {
		t.Errorf("block mode: %v", err)
	}
}

// RemainingMilliseconds of a round and of an evaluation is the time left, and 0 once the round or
// evaluation is over.
func TestRemaining(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	r := &Round{ctx: ctx, x: objective.NewPoint(make([]float32, 3))}
	e := &Evaluation{ctx: ctx}
	for _, left := range []int64{r.RemainingMilliseconds(), e.RemainingMilliseconds()} {
		if left > time.Hour.Milliseconds() || left < (50*time.Minute).Milliseconds() {
			t.Errorf("%d ms left of an hour", left)
		}
	}
	cancel()
	late, stop := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer stop()
	for _, r := range []*Round{r, {ctx: late}, {ctx: t.Context()}, {}, nil} {
		if left := r.RemainingMilliseconds(); left != 0 {
			t.Errorf("%d ms left, want none", left)
		}
	}
}
