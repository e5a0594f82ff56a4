package fleet

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/testing/bowl"
	"github.com/zofl/zofl/wire"
)

var siegeRounds = flag.Int("siege", 10, "rounds of TestLineRate, and as many beside attackers")

// A tap stores frames of a run that an attacker can receive.
type tap struct {
	mu     sync.Mutex
	frames [][]byte
	next   int
}

func (p *tap) hear(m *nats.Msg) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.frames) < 256 {
		p.frames = append(p.frames, m.Data)
		return
	}
	p.frames[p.next%256] = m.Data
	p.next++
}

// one returns a stored frame, or nil if the tap has none.
func (p *tap) one(rng *rand.Rand) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.frames) == 0 {
		return nil
	}
	return p.frames[rng.IntN(len(p.frames))]
}

// A hostile publishes random, mutated, oversized and replayed frames on one subject, as fast as the
// broker accepts them.
type hostile struct {
	subject string
	replays bool // it sends no mutated frames
	nc      *nats.Conn
	sent    atomic.Uint64
}

func (h *hostile) run(heard *tap, seed uint64, stop chan struct{}) {
	rng := rand.New(rand.NewPCG(seed, 1))
	noise := make([]byte, 3*wire.MaxFrame)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	inbox := nats.NewInbox() + ".x"
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		frame := noise[:rng.IntN(1500)]
		switch old := heard.one(rng); {
		case i%500 == 0:
			frame = noise
		case old != nil && i%4 == 1:
			frame = old
		case old != nil && i%4 == 2 && !h.replays && len(old) > 0:
			frame = append([]byte(nil), old...)
			for range 1 + rng.IntN(3) {
				frame[rng.IntN(len(frame))] = byte(rng.Uint32())
			}
		}
		if h.nc.PublishRequest(h.subject, inbox, frame) == nil {
			h.sent.Add(1)
		}
		if i%500 == 0 {
			h.nc.FlushTimeout(time.Second)
		}
	}
}

// hostiles returns attackers on all subjects to which the coordinator and its devices listen: a
// member's subjects, the subjects of an id without a slot, announcements, leads and commands.
func hostiles(run, member string) (list []*hostile) {
	for _, id := range []string{member, "stranger"} {
		for _, subject := range []string{subjects.Reply(run, 0, id), subjects.Join(run, id),
			subjects.CatchUp(run, id), subjects.Upload(run, id), subjects.Object(run, id),
			subjects.Snapshot(run, id)} {
			list = append(list, &hostile{subject: subject})
		}
	}
	// Announcements and leads have no signature here. A changed frame is a forgery, which only the
	// broker's permissions prevent.
	for _, subject := range []string{subjects.Announce(run, 0), subjects.Lead(run),
		subjects.Operator(run, "status")} {
		list = append(list, &hostile{subject: subject, replays: true})
	}
	return list
}

// A siege is a run of four honest devices and one member that attacks the run.
type siege struct {
	*lead
	heard     tap
	attackers []*hostile
	// Round times, of equally many rounds each. alone: without attackers. beside: while attackers send
	// to another run on the broker, and so take the same share of the machine. beset: while attackers
	// attack this run.
	alone, beside, beset []time.Duration
	lasted               time.Duration // the attack
	grown                uint64        // bytes of heap, at its peak
	devices              []report.Device
}

// blocks is how often attackers of another run and attackers of this run take turns, so that other
// work of the machine affects both measurements.
const blocks = 8

// besiege makes the given number of rounds without attackers, as many beside attackers of another
// run, and as many beside attackers of its own run.
func besiege(t *testing.T, rounds int) *siege {
	t.Helper()
	const run, dim, honest = "siege", 100, 4
	p := testPlan(t, run, dim, honest, 0)
	p.Perturbations, p.Diverge, p.Quorum, p.Target = 4, 0, honest, honest+1
	p.MaxScalar, p.Deadline = 100, 60_000 // ms: machines are busy, and rounds close long before
	s := &siege{lead: startLead(t, p, broker.Config{MaxPayload: 1 << 20})}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for i := range honest {
		id := string(rune('a' + i))
		loss := bowl.Of(i)
		c, err := client.New(client.Config{Conn: s.connect(id), Run: run, ID: id,
			Objective: objective.Func(dim, func(ctx context.Context, x []float32,
				b objective.Batch) (float64, error) {
				time.Sleep(5 * time.Millisecond) // simulates the computation of a device
				return loss(ctx, x, b)
			})})
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() { c.Run(ctx) })
	}
	s.awaitRounds(3)
	evil := s.ghost(run, "evil")
	s.awaitKind(report.Lost)
	s.awaitRounds(2)
	s.alone = s.times(rounds)
	for i := range honest {
		id := string(rune('a' + i))
		if _, err := evil.Subscribe(subjects.AllShards(run, id), s.heard.hear); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := evil.Subscribe("zo.elsewhere.>", func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	elsewhere := s.armed(hostiles("elsewhere", "evil"))
	s.attackers = s.armed(hostiles(run, "evil"))
	before := heap()
	for range blocks {
		stop := s.attack(elsewhere)
		s.beside = append(s.beside, s.times(max(1, rounds/blocks))...)
		stop()
		stop = s.attack(s.attackers)
		began, watched, peak := time.Now(), make(chan struct{}), make(chan uint64, 1)
		go func() { peak <- watchHeap(watched) }()
		s.beset = append(s.beset, s.times(max(1, rounds/blocks))...)
		s.devices = s.c.Devices()
		stop()
		s.leave(run, evil)
		s.lasted += time.Since(began)
		close(watched)
		s.grown = max(s.grown, max(<-peak, before)-before)
	}
	return s
}

// armed gives each attacker a connection.
func (s *siege) armed(list []*hostile) []*hostile {
	for _, h := range list {
		h.nc = s.connect("evil")
	}
	return list
}

// attack runs attackers until the caller calls stop.
func (s *siege) attack(list []*hostile) (stop func()) {
	var all sync.WaitGroup
	end := make(chan struct{})
	for i, h := range list {
		all.Go(func() { h.run(&s.heard, uint64(i), end) })
	}
	return func() { close(end); all.Wait() }
}

// leave says goodbye for the attacker until the coordinator receives the goodbye. Rounds would wait
// for a silent attacker, because some of its replayed frames were answers. The goodbye may queue
// behind the attacker's own flood.
func (s *siege) leave(run string, evil *nats.Conn) {
	s.t.Helper()
	bye := wire.Reply{Kind: wire.Decline, N: 1, Reason: wire.DeclineLeaving}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); s.present("evil"); <-tick.C {
		if err := evil.Publish(subjects.Reply(run, 0, "evil"), bye.Append(nil)); err != nil {
			s.t.Fatal(err)
		}
		if time.Since(begun) > patience {
			s.t.Fatalf("the attacker cannot leave: %+v", s.c.Status())
		}
	}
}

// present reports whether rounds wait for a member.
func (s *siege) present(id string) bool {
	return slices.ContainsFunc(s.c.Devices(), func(d report.Device) bool {
		return d.ID == id && d.State == report.DevicePresent
	})
}

// times returns how long each of the given number of rounds takes, from the end of the open round.
func (s *siege) times(rounds int) (list []time.Duration) {
	for len(s.events) > 0 {
		<-s.events
	}
	s.awaitRounds(1)
	for range rounds {
		began := time.Now()
		s.awaitRounds(1)
		list = append(list, time.Since(began))
	}
	return list
}

// median returns the median of times.
func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// TestLineRate checks that rounds continue while attackers send at line rate on every subject, that
// memory stays bounded, and that the coordinator names the attacking member. The test prints by how
// much the attack lengthens the median round:
//
//	go -C testing test ./fleet -run TestLineRate -v -siege 400
func TestLineRate(t *testing.T) {
	s := besiege(t, *siegeRounds)
	sent := uint64(0)
	for _, h := range s.attackers {
		if sent += h.sent.Load(); h.sent.Load() == 0 {
			t.Errorf("nothing was sent on %s", h.subject)
		}
	}
	status := s.c.Status()
	alone, beside, beset := median(s.alone), median(s.beside), median(s.beset)
	t.Logf("a round takes %v, %v beside %.0f hostile frames a second, %v where these are not for the "+
		"run: %.2f times as long; heap grew by %d MiB; dropped %d, %+v, %+v", alone, beset,
		float64(sent)/s.lasted.Seconds(), beside, beset.Seconds()/beside.Seconds(), s.grown>>20,
		status.Counters.Dropped(), status.TurnedAway, status.Offenders)
	if s.grown > 512<<20 {
		t.Errorf("heap grew by %d bytes", s.grown)
	}
	if status.Counters.Malformed == 0 || status.Counters.Dropped() < sent/100 {
		t.Errorf("%d frames sent, counters %+v", sent, status.Counters)
	}
	// The attackers may replay a join, so the stranger may be a member by now.
	for _, d := range s.devices {
		if bad := d.Faulty+d.Refused > 0; bad != (d.ID == "evil" || d.ID == "stranger") {
			t.Errorf("%s: %d faulty messages, %d turned away", d.ID, d.Faulty, d.Refused)
		}
	}
}
