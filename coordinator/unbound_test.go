package coordinator

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// TestUnbound: a coordinator warns if one device can spoil a run. The coordinator does not warn
// about a plan with its Guard.
func TestUnbound(t *testing.T) {
	for name, tt := range map[string]struct {
		edit  func(*plan.Plan)
		warns bool
	}{
		"as Unbound made it": {func(*plan.Plan) {}, true},
		"guarded":            {func(p *plan.Plan) { preset.Guard(p) }, false},
		"one device":         {func(p *plan.Plan) { p.Members, p.Target, p.Quorum = 1, 1, 1 }, false},
		"masked": {func(p *plan.Plan) {
			p.Secure, p.MaxScalar, p.EvalEvery, p.EvalCount, p.Metrics = 1, 1000, 0, 0, nil
			preset.Guard(p)
		}, false},
	} {
		plan, err := preset.Unbound("decomfl", "r", 100)
		if err != nil {
			t.Fatal(err)
		}
		tt.edit(plan)
		var said bytes.Buffer
		if _, err := New(t.Context(), Config{Bus: bus.NewMemory(), Log: &runlog.Memory{}, Plan: plan,
			Logger: slog.New(slog.NewTextHandler(&said, nil))}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if warns := strings.Contains(said.String(), "claim_bound=8"); warns != tt.warns {
			t.Errorf("%s: warned %v, want %v: %s", name, warns, tt.warns, said.String())
		}
	}
}
