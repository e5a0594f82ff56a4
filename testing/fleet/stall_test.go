package fleet

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// ghost joins as id, and sends nothing else.
func (l *lead) ghost(run, id string) *nats.Conn {
	l.t.Helper()
	nc := l.connect(id)
	frame := (&wire.JoinRequest{}).Append(nil)
	if _, _, err := ask(nc, subjects.Join(run, id), frame); err != nil {
		l.t.Fatal(err)
	}
	return nc
}

// TestSilentMembersCostAGrace runs members that join a run under way and stay silent. For such
// members a round waits only a grace period after the quorum, not until the deadline, which is
// longer than this test. The same holds for members that send messages that are no answers, and so
// do not count as silent.
func TestSilentMembersCostAGrace(t *testing.T) {
	const ghosts = 4
	p := longPlan(t, "silent", 3, 2)
	p.Target = 3 + ghosts
	l := startLead(t, p, broker.Config{})
	for _, id := range []string{"a", "b", "c"} {
		l.phone("silent", id, 10)
	}
	l.awaitRounds(3)
	var loud []*nats.Conn
	for i := range ghosts {
		loud = append(loud, l.ghost("silent", fmt.Sprint("ghost", i)))
	}
	l.awaitRounds(10)
	stop := make(chan struct{})
	var noise sync.WaitGroup
	for i, nc := range loud {
		noise.Go(func() {
			junk := (&wire.Reply{Kind: wire.Contribution, N: 1, Weight: 1}).Append(nil)
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
					nc.Publish(subjects.Reply("silent", 0, fmt.Sprint("ghost", i)), junk)
				}
			}
		})
	}
	for heard := 0; heard < ghosts; { // all ghosts send messages
		l.awaitRounds(1)
		heard = 0
		for _, d := range l.c.Devices() {
			if d.ID[0] == 'g' && !d.LastSeen.IsZero() {
				heard++
			}
		}
	}
	began := time.Now()
	l.awaitRounds(20)
	t.Logf("20 rounds beside %d members that do not answer took %v", ghosts, time.Since(began))
	close(stop)
	noise.Wait()
	for _, d := range l.c.Devices() {
		if ghost := d.ID[0] == 'g'; ghost && (d.Latency > 0 || d.LastSeen.IsZero()) {
			t.Errorf("%+v, want one that was heard of and did not answer", d)
		}
	}
}

// A slowPoke begins to upload a vector for every record, at a KiB every 100 ms, and never finishes.
type slowPoke struct {
	nc   *nats.Conn
	plan *plan.Plan
	id   string
	n    atomic.Uint64 // the open record
	tip  atomic.Pointer[wire.Tip]
	sent atomic.Uint64
}

// listen notes the open record.
func (s *slowPoke) listen(t *testing.T) {
	_, err := s.nc.Subscribe(subjects.Announce(s.plan.Run, 0), func(m *nats.Msg) {
		a, err := compact.Decode(m.Data)
		if err != nil || a.State != wire.Open {
			return
		}
		tip := a.Tip
		a.Records.Each(func(record []byte) bool { tip = wire.HashRecord(record).Tip(); return true })
		s.tip.Store(&tip)
		s.n.Store(a.N)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (s *slowPoke) poke(stop chan struct{}) {
	u := wire.Upload{Weight: 1, Size: 4 * s.plan.Dim, Data: make([]byte, 1<<10)}
	for {
		select {
		case <-stop:
			return
		case <-time.After(100 * time.Millisecond):
		}
		if tip := s.tip.Load(); tip != nil {
			if n := s.n.Load(); n != u.N {
				u.N, u.Offset = n, 0
			}
			u.Tip = *tip
			m, err := s.nc.Request(subjects.Upload(s.plan.Run, s.id), u.Append(nil), time.Second)
			if err != nil {
				continue
			}
			if r, err := wire.DecodeUploadReply(m.Data); err == nil && r.State == wire.UploadMore {
				u.Offset = r.Offset
				s.sent.Add(1)
			}
		}
	}
}

// TestSlowUploadsDoNotStopRounds gives the coordinator memory for one vector. Two members begin an
// upload and never finish. They lose the memory to devices that can finish, and rounds continue.
func TestSlowUploadsDoNotStopRounds(t *testing.T) {
	const rounds = 2
	p, err := preset.Unbound("fedzo-dense", "slow", 100_000)
	if err != nil {
		t.Fatal(err)
	}
	p.Steps, p.Perturbations, p.Rounds, p.Diverge = 1, 1, rounds, 0
	p.Members, p.Target, p.Quorum, p.OverSample, p.MaxAttempts = 4, 4, 2, 1, 3
	p.Deadline, p.Reannounce, p.EvalEvery, p.DigestEvery = 4000*min(slower, 5), 500, 0, 0
	l := startLeadWith(t, broker.Config{}, coordinator.Config{Plan: p, UploadMemory: 600_000})
	stop := make(chan struct{})
	var slow sync.WaitGroup
	var pokes []*slowPoke
	for i := range 2 {
		id := fmt.Sprint("slow", i)
		s := &slowPoke{nc: l.ghost("slow", id), plan: p, id: id}
		s.listen(t)
		s.nc.Flush()
		pokes = append(pokes, s)
		slow.Go(func() { s.poke(stop) })
	}
	l.phone("slow", "a", 100_000)
	l.phone("slow", "b", 100_000)
	began := time.Now()
	for range rounds {
		e := l.awaitKind(report.RoundDone)
		t.Logf("round %d: %d contributed after %v", e.Round, e.Contributors, time.Since(began))
	}
	close(stop)
	slow.Wait()
	s := l.c.Status()
	if s.Counters.Evicted == 0 || pokes[0].sent.Load()+pokes[1].sent.Load() == 0 {
		t.Errorf("counters %+v: nobody held a place", s.Counters)
	}
}
