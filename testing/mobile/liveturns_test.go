package mobile

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/zofl/zofl/client/mobile"
)

// TestLiveTurns lets two clients of one device take turns with a directory, as a screen
// and a background worker do: each begins with what the other left, and nothing of it
// is taken for damaged.
func TestLiveTurns(t *testing.T) {
	t.Parallel()
	const dim, rounds = 1000, 100
	s := newSite(t)
	l := s.lead(plan(t, "turns", dim, 1, 1, rounds))
	dir := t.TempDir()
	var turns [2]*phone
	for i := range turns {
		cfg := s.settings("turns", "phone", dim)
		cfg.StateDir = dir
		cfg.SetObjective(slow(2 * time.Millisecond))
		if i == 1 {
			cfg.SetBlockObjective(&copying{})
		}
		turns[i] = newPhone(t, cfg)
	}
	slice, record, began := int64(300), int64(0), time.Now() // milliseconds
	for turn := 0; !turns[0].Ended() && !turns[1].Ended(); turn++ {
		if time.Since(began) > patience {
			t.Fatalf("no end after %d turns, at record %d", turn, record)
		}
		p := turns[turn%2]
		if err := p.Load(); err != nil {
			t.Fatal(err)
		}
		model := make([]byte, 4*dim)
		if n, err := p.Params(model); n != record || p.Record() != n || err != nil {
			t.Fatalf("turn %d begins after record %d, %v, and tells of %d, want %d", turn, n, err, p.Record(), record)
		}
		if got := p.Model(); (got == nil) != (record == 0) || got != nil && !bytes.Equal(got, model) {
			t.Fatalf("turn %d: Model gives other bytes than Params", turn)
		}
		if err := p.RunFor(slice); err != nil {
			t.Fatal(err)
		}
		if record == p.Record() {
			slice *= 2 // too short for this machine to connect
		}
		record = p.Record()
	}
	for i, p := range turns {
		if err := p.Load(); err != nil {
			t.Fatal(err)
		}
		l.agrees(p.Client, p.id)
		if p.Contributions() == 0 {
			t.Errorf("client %d had no part in the run", i)
		}
		if said := p.ear.said(mobile.CodeStore); len(said) > 0 {
			t.Errorf("client %d was told %q", i, said)
		}
	}
	if bad, err := filepath.Glob(filepath.Join(dir, "*.bad")); len(bad) > 0 || err != nil {
		t.Errorf("set aside: %q, %v", bad, err)
	}
}

// A copying objective takes its parameters as copies, which are of the call only: it
// fails where the last one's Round still gives some.
type copying struct{ last *mobile.Round }

func (c *copying) Loss(r *mobile.Round) (float64, error) {
	if c.last != nil && c.last.Block(0, 1) != nil {
		return 0, errors.New("a round that is over gives parameters")
	}
	c.last = r
	<-time.After(2 * time.Millisecond) // so that the run takes a few turns
	half := r.Dim() / 2
	return flatBowl(1).Loss(append(r.Block(0, half), r.Block(half, r.Dim())...))
}
