package catchup

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/internal/ratelimit"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

const mib = 1 << 20

// newShared returns a service of a small log, for the senders that a register knows.
func newShared(t *testing.T, register *ratelimit.Register) *CatchUps {
	t.Helper()
	log, memory := &runlog.Memory{}, bus.NewMemory()
	t.Cleanup(memory.Close)
	chaintest.Append(t, log, chaintest.LongRecords(t, 300, 200))
	s := newTestCatchUps(t, log, memory, mib)
	register.Add("member", "other")
	s.register = register
	return s
}

// drawn returns how many MiB senders draw before one gets no answer, and most if none is refused.
// Each draws one MiB.
func (s *answerer) drawn(most int, sender func(i int) ratelimit.Sender) (n int) {
	for ; n < most && s.mayDraw(sender(n)); n++ {
		s.draw(sender(n), mib)
	}
	return n
}

// Strangers who can make up ids have a share together, and so do operators, who have one id.
// Members, and devices whose ids the broker or an open roster vouches for, have one each.
func TestStrangersShare(t *testing.T) {
	const all, each = 64 * 16, 16
	for _, tt := range []struct {
		name             string
		register         *ratelimit.Register
		strangers, after int // a minute later
	}{
		{"listed", &ratelimit.Register{}, all, 64 * 60 / 16},
		{"open", &ratelimit.Register{Open: true}, 2 * all, 2 * all},
		{"authenticated", &ratelimit.Register{Authenticated: true}, 2 * all, 2 * all},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, made := newShared(t, tt.register), 0
				stranger := func(int) ratelimit.Sender {
					made++
					return tt.register.Sender(fmt.Sprint("x", made), "")
				}
				member := func(int) ratelimit.Sender { return tt.register.Sender("member", "") }
				if n := s.drawn(2*all, stranger); n != tt.strangers {
					t.Errorf("strangers draw %d MiB at once, want %d", n, tt.strangers)
				}
				if n := s.drawn(2*all, member); n != each {
					t.Errorf("a member draws %d MiB meanwhile, want %d", n, each)
				}
				time.Sleep(time.Minute)
				if n := s.drawn(2*all, stranger); n != tt.after {
					t.Errorf("strangers draw %d MiB a minute later, want %d", n, tt.after)
				}
				if n := s.drawn(2*all, member); n < 3 || n > 5 {
					t.Errorf("a member draws %d MiB a minute later, want 4", n)
				}
				time.Sleep(time.Hour)
				operator := func(int) ratelimit.Sender { return tt.register.Sender(operatorID, "") }
				if n := s.drawn(2*all, operator); n != all {
					t.Errorf("operators draw %d MiB, want %d", n, all)
				}
			})
		})
	}
}

// Requests of a member that has drawn its share are counted, and others get their answers.
func TestGreedyMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		register := &ratelimit.Register{}
		s := newShared(t, register)
		request := (&wire.CatchUpRequest{From: 1, MaxBytes: wire.MaxFrame}).Append(nil)
		asks := func(id string) (bytes uint64) {
			before := s.Counts().Bytes
			s.answer(t.Context(), waitingRequest{bus.Message{Subject: subjects.CatchUp("r", id),
				Reply: subjects.Inbox(id) + ".x", Data: request}, time.Now()})
			return s.Counts().Bytes - before
		}
		drawn := uint64(0)
		for more := asks("member"); more > 0; more = asks("member") {
			drawn += more
		}
		if drawn < 16*mib || drawn > 17*mib {
			t.Errorf("a member drew %d bytes, want 16 MiB", drawn)
		}
		if asks("member") > 0 || s.Counts().Greedy != 2 {
			t.Errorf("counts %+v, want two greedy requests", s.Counts())
		}
		if asks("other") == 0 {
			t.Error("another member gets no answer")
		}
		time.Sleep(time.Hour)
		if asks("member") == 0 {
			t.Error("the member gets no answer an hour later")
		}
	})
}
