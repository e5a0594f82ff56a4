package coordinator

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// ask asks once to join as id. ask returns the answer, or nil if none arrives in time.
func (r *running) ask(id string, within time.Duration) *wire.JoinReply {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	b, err := r.bus.Request(ctx, subjects.Join("r", id), (&wire.JoinRequest{}).Append(nil))
	if err != nil {
		return nil
	}
	reply, err := wire.DecodeJoinReply(b)
	if err != nil {
		r.t.Fatal(err)
	}
	return &reply
}

// After an initial burst, made-up ids join the roster only at the rate Config.JoinRate. Members may
// join again meanwhile.
func TestJoinRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := chaintest.Plan(t)
		r := run(t, Config{Plan: plan, JoinRate: 10})
		synctest.Wait()
		if reply := r.ask("d0", time.Second); reply == nil || reply.Status != wire.JoinOK {
			t.Fatalf("d0: %+v", reply)
		}
		burst := joinBurst + 2*int(plan.Members)
		frame := (&wire.JoinRequest{}).Append(nil)
		for i := range burst + 500 {
			go r.bus.Request(t.Context(), subjects.Join("r", fmt.Sprint("ghost", i)), frame)
		}
		pass(time.Second)
		before := r.Status().Members
		if more := int(before) - burst; more < 0 || more > 15 {
			t.Errorf("%d members after 1 s, want %d and some 10 more", before, burst)
		}
		if reply := r.ask("d0", time.Second); reply == nil || reply.Status != wire.JoinOK {
			t.Errorf("d0 again: %+v", reply)
		}
		pass(10 * time.Second)
		s := r.Status()
		if s.Members > before+25 || s.TurnedAway["joins"] == 0 || s.Counters.Stale == 0 {
			t.Errorf("%d members, %+v; want those that waited too long dropped", s.Members,
				s.TurnedAway)
		}
		var joins int
		for joins = range 100 {
			if r.ask("d0", 100*time.Millisecond) == nil {
				break
			}
		}
		if joins < int(rejoinLimit.Burst)-2 || joins > int(rejoinLimit.Burst)+20 {
			t.Errorf("d0 may join again %d times at once", joins)
		}
	})
}

// The coordinator tells a device that Config.Allow refuses so. A member stays a member.
func TestAllow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := map[string]bool{"d0": true}
		r := run(t, Config{Plan: chaintest.Plan(t), Allow: func(id string) bool { return on[id] }})
		synctest.Wait()
		for id, want := range map[string]wire.JoinStatus{"d0": wire.JoinOK, "x": wire.JoinDenied} {
			if reply := r.ask(id, time.Second); reply == nil || reply.Status != want {
				t.Errorf("%s: %+v, want status %d", id, reply, want)
			}
		}
		delete(on, "d0")
		if reply := r.ask("d0", time.Second); reply == nil || reply.Status != wire.JoinOK {
			t.Errorf("a member: %+v", reply)
		}
		s := r.Status()
		if s.Members != 1 || s.Counters.NotAllowed != 1 || s.TurnedAway["joins"] != 1 ||
			len(s.Offenders) != 1 || s.Offenders[0].Refused != 1 ||
			!strings.HasPrefix(s.Offenders[0].ID, "x of _INBOX.") {
			t.Errorf("%d members, %+v, %+v", s.Members, s.Counters, s.Offenders)
		}
	})
}

// The status names a sender of messages that no honest device sends, and a sender of too many
// messages.
func TestOffendersAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, Config{Plan: chaintest.Plan(t)})
		synctest.Wait()
		r.ask("d0", time.Second)
		r.ask("d1", time.Second)
		for _, subject := range []string{subjects.Reply("r", 0, "d1"), subjects.CatchUp("r", "d1")} {
			for _, size := range []int{7, wire.MaxFrame + 1} {
				if err := r.bus.Publish(subject, make([]byte, size)); err != nil {
					t.Fatal(err)
				}
			}
		}
		synctest.Wait()
		list := r.Devices()
		if len(list) != 2 || list[0].Faulty != 0 || list[1].Faulty != 4 {
			t.Errorf("devices %+v, want 4 faults of d1", list)
		}
		if s := r.Status(); len(s.Offenders) != 1 || s.Offenders[0].ID != "d1" {
			t.Errorf("offenders %+v", s.Offenders)
		}
	})
}
