package preset_test

import (
	"errors"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// TestLiars: with any preset Liars makes a plan that cuts off all liars of a quorum and can run, or
// names the field because of which it cannot.
func TestLiars(t *testing.T) {
	held := 0
	for _, name := range preset.Names() {
		p, err := preset.Unbound(name, "liars", 100)
		if err != nil {
			t.Fatal(err)
		}
		p.Members = max(p.Members, 20)
		set, err := preset.Liars(p, 4)
		if fault := (*plan.Error)(nil); errors.As(err, &fault) {
			if fault.Field != "sharing" && fault.Field != "transport" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		preset.Fit(p, set...)
		if err != nil || p.Control == plan.NoControl && valid.Plan(p) != nil {
			t.Errorf("%s: %v, %v", name, err, valid.Plan(p))
		}
		if cut := uint32(p.Trim * float32(p.Quorum)); cut < 4 || p.Quorum < 9 || p.Liars != 4 {
			t.Errorf("%s: trim %v of a quorum of %d, liars %d", name, p.Trim, p.Quorum, p.Liars)
		}
		held++
	}
	if held < 8 {
		t.Errorf("%d presets hold against liars", held)
	}
}

// TestLiarsKeeps: Liars keeps what the author has set, and refuses what would let liars through.
func TestLiarsKeeps(t *testing.T) {
	p, err := preset.New("zofl", "liars", 100)
	if err != nil {
		t.Fatal(err)
	}
	p.Members, p.Target, p.Quorum, p.Bound = 40, 30, 12, 3
	if _, err := preset.Liars(p, 3, "members", "target", "quorum", "bound"); err != nil ||
		p.Target != 30 || p.Quorum != 12 || p.Bound != 3 || p.Trim != 0.25 {
		t.Errorf("target %d, quorum %d, bound %v, trim %v: %v", p.Target, p.Quorum, p.Bound, p.Trim, err)
	}
	if _, err := preset.Liars(p, 6, "members", "target", "quorum"); err == nil {
		t.Error("six liars of a quorum of twelve are taken")
	}
}
