package mobile

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/zofl/zofl/client/mobile"
)

// TestLiveTurns lets clients of one device use a directory in turn, as a background worker and a
// screen do. The screen's client, even if it was made earlier, continues from the state that the
// last client stored, and finds no damage.
func TestLiveTurns(t *testing.T) {
	t.Parallel()
	const dim, rounds = 1000, 500 // more than the workers complete
	s := newSite(t)
	l := s.lead(testPlan(t, "turns", dim, 1, 1, rounds))
	dir := t.TempDir()
	client := func(o mobile.BlockObjective) *phone {
		cfg := s.settings("turns", "phone", dim)
		cfg.StateDir = dir
		cfg.SetBlockObjective(o)
		return newPhone(t, cfg)
	}
	screen := client(&copying{})
	for range 3 {
		worker := client(&copying{takes: 3 * time.Millisecond})
		worker.start()
		worker.until("some rounds", func() bool { return worker.Contributions() > 4 })
		worker.stopped()
		if err := screen.Load(); err != nil {
			t.Fatal(err)
		}
		want, got := make([]byte, 4*dim), make([]byte, 4*dim)
		last, err := worker.Params(want)
		n, fault := screen.Params(got)
		if n != last || screen.Record() != n || !bytes.Equal(got, want) || err != nil || fault != nil {
			t.Fatalf("the screen is at record %d, %v, and tells of %d, the worker at %d, %v",
				n, fault, screen.Record(), last, err)
		}
		if !bytes.Equal(screen.Model(), want) {
			t.Error("Model gives other bytes than Params")
		}
	}
	screen.start()
	screen.returned("")
	l.agrees(screen.Client, "screen")
	if said := screen.ear.said(mobile.CodeStore); len(said) > 0 {
		t.Errorf("the screen was told %q", said)
	}
	if bad, err := filepath.Glob(filepath.Join(dir, "*.bad")); len(bad) > 0 || err != nil {
		t.Errorf("set aside: %q, %v", bad, err)
	}
}

// A copying objective takes its parameters as copies, valid during the call only. It fails
// if the last call's Round still gives some.
type copying struct {
	takes time.Duration // least duration of a loss
	last  *mobile.Round
}

func (c *copying) Loss(r *mobile.Round) (float64, error) {
	if c.last != nil && c.last.Block(0, 1) != nil {
		return 0, errors.New("a round that is over still gives parameters")
	}
	c.last = r
	<-time.After(c.takes)
	half := r.Dim() / 2
	return flatBowl(1).Loss(append(r.Block(0, half), r.Block(half, r.Dim())...))
}
