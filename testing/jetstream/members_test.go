//go:build unix

package jetstream

import (
	"errors"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
)

// oldMembers continues a roster in which each message is only an id, as earlier versions stored it,
// and refuses messages that were not stored in this order.
func oldMembers(t *testing.T, p place, run string) {
	closeLog(t, p.open(t, run))
	nc := p.connect(t)
	store := func(run string, messages ...string) {
		t.Helper()
		for _, m := range messages {
			if _, err := nc.Request(subjects.Members(run), []byte(m), patience); err != nil {
				t.Fatal(err)
			}
		}
	}
	store(run, "b\na", "c")
	log := p.open(t, run)
	newChain(t, run).appendTo(log, 1)
	if err := errors.Join(log.AddMembers(t.Context(), []string{"d"}),
		log.Retire(t.Context(), "a"), log.Retire(t.Context(), "d")); err != nil {
		t.Fatal(err)
	}
	again := p.open(t, run)
	if got, err := again.Members(); err != nil || !slices.Equal(got, []string{"b", "a", "c", "d"}) {
		t.Errorf("members %q, %v", got, err)
	}
	if got, err := again.Retired(); err != nil || !slices.Equal(got, []string{"a", "d"}) {
		t.Errorf("retired %q, %v", got, err)
	}
	_, s := p.stream(t, "ZO_"+run+"_MEMBERS")
	var stored []string
	for n := range s.CachedInfo().State.LastSeq {
		m, err := s.GetMsg(t.Context(), n+1)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, string(m.Data))
	}
	for name, messages := range map[string][]string{
		"exchanged": {stored[0], stored[1], stored[3], stored[2]},
		"missing":   {stored[1], stored[2], stored[3]},
		"twice":     {stored[0], stored[1], stored[2], stored[2]},
		"other_log": stored,
	} {
		run := run + name
		log := p.open(t, run)
		if name == "other_log" {
			newChain(t, run).appendTo(log, 1)
		}
		closeLog(t, log)
		store(run, messages...)
		if _, err := p.tryOpen(t, jetlog.Config{Conn: nc, Run: run}); !errors.Is(err,
			runlog.ErrCorrupt) {
			t.Errorf("messages %s: %v, want ErrCorrupt", name, err)
		}
	}
}
