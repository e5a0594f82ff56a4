package engine

import (
	"fmt"
	"testing"

	"github.com/zofl/zofl/plan/valid"
)

// TestAsync: a record closes with its target number of contributions of any age, even if all are
// late.
func TestAsync(t *testing.T) {
	for _, bound := range []string{"bound=0", "bound=1000"} { // which holds contributions
		t.Run(bound, func(t *testing.T) { async(t, bound) })
	}
}

func async(t *testing.T, bound string) {
	s := newLateStage(t, "async=on", "target=2", "late=4", bound)
	s.want(s.close(0, 1), 2, "[0 0 1 1 1]")
	s.reply(2, 2, 4, 4, 4)
	s.reply(3, 2, 6, 6, 6)
	s.want(s.stored(), 2, fmt.Sprintf("[0 0 0 0 0][1 0 %[1]g %[1]g %[1]g]", aged(5, 1)))
	s.reply(3, 3, 2, 2, 2)
	s.reply(3, 4, 8, 8, 8)
	s.want(s.stored(), 2, fmt.Sprintf("[0 0 4 4 4][1 0 %[1]g %[1]g %[1]g]", aged(1, 1)))
	// Contributions that came while the log appended a record close the next record at once.
	s.reply(0, 5, 1, 1, 1)
	s.reply(1, 5, 1, 1, 1)
	s.reply(0, 4, 3, 3, 3)
	s.reply(2, 5, 5, 5, 5)
	s.want(s.stored(), 2, "[0 0 1 1 1]")
	s.want(s.stored(), 2, fmt.Sprintf(
		"[0 0 0 0 0][1 0 %[1]g %[1]g %[1]g][2 0 %[2]g %[2]g %[2]g]", aged(2.5, 1), aged(1.5, 2)))
}

// TestAsyncRelayFitsARecord: the coordinator drops contributions for which a record has no room.
func TestAsyncRelayFitsARecord(t *testing.T) {
	for _, async := range []string{"async=off", "async=on"} {
		s := newLateStage(t, async, "sharing=per-client", "transport=relay", "late=8", "target=2")
		for range 6 {
			s.close(0, 1)
		}
		s.c.Step(1, Input{Kind: InPause})
		for n := uint64(2); n <= 6; n++ {
			s.reply(2, n, 1, 1, 1)
			s.reply(3, n, 1, 1, 1)
		}
		if got := s.c.late.Waiting.Count; got != 2 || s.c.counters.Overflow == 0 {
			t.Errorf("%s: %d wait, %d were too many", async, got, s.c.counters.Overflow)
		}
		s.c.Step(1, Input{Kind: InResume})
		for d := 0; s.c.phase() == collecting; d++ {
			s.reply(d, s.c.N+1, 1, 1, 1)
		}
		if r := s.stored(); uint64(len(s.records[len(s.records)-1])) > valid.RecordBytes(&s.c.Plan) {
			t.Errorf("%s: the record is too large: %s", async, terms(&s.c.Plan, r))
		}
	}
}
