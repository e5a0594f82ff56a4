package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

// A progress collects what a device reports.
type progress struct {
	mu       sync.Mutex
	faults   []string
	refused  uint64
	skipped  uint64 // refused frames that the device did not read
	refusing func() // called, once, when the device has refused a frame; nil: nothing
	// impatient: the device asks again after 300 ms, in which a busy machine may deliver no answer.
	impatient bool
}

func (p *progress) Record(r client.Progress) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused, p.skipped = r.Refused, r.Skipped
	if p.refused > 0 && p.refusing != nil {
		p.refusing()
		p.refusing = nil
	}
	if errors.Is(r.Err, client.ErrQuiet) && (errors.Is(r.Err, signed.ErrUnsigned) ||
		p.impatient && r.State == client.Joining) {
		return nil // nobody but the forger has answered yet
	}
	if r.Err != nil || r.State == client.Paused {
		p.faults = append(p.faults, fmt.Sprint(r.State, " ", r.Reason, " ", r.Err))
	}
	return nil
}

// recorded makes each device report to one of the reports.
func recorded(reports []progress) func(*client.Config) {
	return func(c *client.Config) {
		c.Recorder = &reports[0]
		reports = reports[1:]
	}
}

// devicesRefuse runs devices, in a run whose coordinator is away until each device has refused an
// answer: whether the forger or the coordinator answers first depends on the machine. Devices wait
// only shortly for answers.
func (l *lead) devicesRefuse(run string, conns []*nats.Conn, dim int,
	reports []progress) (clients []*client.Client) {
	l.t.Helper()
	l.stop(errFinished)
	l.ended.Wait()
	refusing := make(chan struct{}, len(reports))
	for i := range reports {
		reports[i].refusing = func() { refusing <- struct{}{} }
		reports[i].impatient = true
	}
	var all sync.WaitGroup
	all.Go(func() {
		clients = l.devices(run, conns, dim, pins, recorded(reports), func(c *client.Config) {
			c.RequestTimeout, c.RetryMax = 300*time.Millisecond, time.Second
		})
	})
	defer all.Wait()
	limit := time.After(patience)
	for range reports {
		select {
		case <-refusing:
		case <-limit:
			l.t.Error("a device refuses nothing")
			return nil
		}
	}
	l.goOn()
	all.Wait()
	return clients
}

// TestForged checks devices that pin the coordinator's key, on a broker on which anybody can send
// as the coordinator. Forged frames cost these devices only the checks of signatures. The run
// reaches its end without a pause, a rebuild or a catch-up, with and without digests.
func TestForged(t *testing.T) {
	announces := func(forge func(*wire.Announcement, []byte) []byte) func(*forger) {
		return func(f *forger) { f.announces(forge) }
	}
	for _, attack := range []struct {
		name    string
		begin   func(*forger)
		genuine bool // the frames are signed
		answers bool // the frames are answers, not announcements
	}{
		{"end", announces(end), false, false},
		{"rounds", announces(round), false, false},
		{"epochs", announces(epoch), false, false},
		{"references", announces(reference), false, false},
		{"joins", joins, false, true},
		{"replays", replays, true, false},
	} {
		for _, every := range []uint32{0, 8} {
			t.Run(fmt.Sprintf("%s, digest_every=%d", attack.name, every), func(t *testing.T) {
				const rounds, n, dim = 30, 5, 20
				p := testPlan(t, "forged", dim, n, rounds)
				p.DigestEvery = every
				l := startLead(t, p, broker.Config{}, signs)
				asked := l.listening("forged")
				f := l.forger("forged")
				attack.begin(f)
				var conns []*nats.Conn
				reports := make([]progress, n)
				for i := range n {
					conns = append(conns, l.connect(fmt.Sprint("d", i)))
				}
				var clients []*client.Client
				switch {
				case attack.answers:
					clients = l.devicesRefuse("forged", conns, dim, reports)
				case attack.genuine:
					clients = l.devices("forged", conns, dim, pins, recorded(reports))
				default:
					clients = l.devices("forged", conns, dim, pins, recorded(reports), f.after)
				}
				l.agree("forged", clients)
				if w := l.witness("forged"); w.Rounds() != rounds {
					t.Errorf("%d rounds, want %d", w.Rounds(), rounds)
				}
				for i := range reports {
					r := &reports[i]
					if len(r.faults) > 0 || r.refused == 0 != attack.genuine {
						t.Errorf("device %d: %d frames refused, faults %q", i, r.refused, r.faults)
					}
				}
				// A genuine frame that comes a second time may make a device request the log's end.
				requests := asked.Load()
				if requests > 0 && !attack.genuine || requests > n*rounds || f.sent.Load() < n {
					t.Errorf("%d frames sent, %d requests for records", f.sent.Load(), requests)
				}
			})
		}
	}
}

// TestForgedSegments checks that a replica that catches up accepts no forged answer, even if no
// other answer comes, and continues with the coordinator's answers. Devices that know no key train
// as usual meanwhile.
func TestForgedSegments(t *testing.T) {
	const rounds, n, dim = 30, 3, 20
	p := testPlan(t, "forged", dim, n, rounds)
	p.DigestEvery = 0
	l := startLead(t, p, broker.Config{}, signs)
	l.listening("forged")
	conns := []*nats.Conn{l.connect("d0"), l.connect("d1"), l.connect("d2")}
	clients := l.devices("forged", conns, dim)
	l.agree("forged", clients)
	l.stop(errFinished)
	l.ended.Wait()

	f := l.forger("forged")
	segments(f)
	refused := make(chan uint64, 1000)
	late, done := l.lateReplica(200*time.Millisecond, func(r client.Progress) {
		if errors.Is(r.Err, signed.ErrUnsigned) {
			refused <- r.Refused
		}
	})
	select {
	case count := <-refused:
		if count == 0 {
			t.Error("no frame was counted as refused")
		}
	case err := <-done:
		t.Fatalf("the replica took forged records: %v", err)
	}
	l.goOn()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	l.agree("forged", []*client.Client{late})
}

// lateReplica runs a passive replica that starts late and knows the coordinator's key. request is
// the timeout of a request; 0 means the default. done receives the result of Run.
func (l *lead) lateReplica(request time.Duration, each func(client.Progress)) (
	late *client.Client, done <-chan error) {
	l.t.Helper()
	late, err := client.New(client.Config{
		Conn: l.connect("late"), Run: "forged", ID: "late", Passive: &client.Passive{},
		Coordinator: leaderText, RequestTimeout: request, RetryMax: time.Second,
		Recorder: client.RecorderFunc(func(r client.Progress) error { each(r); return nil }),
	})
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	l.t.Cleanup(cancel)
	ended := make(chan error, 1)
	go func() { ended <- late.Run(ctx) }()
	return late, ended
}

// goOn starts another coordinator that continues the log.
func (l *lead) goOn() {
	l.t.Helper()
	c, err := coordinator.New(l.t.Context(), coordinator.Config{Conn: l.connect("again"), Log: l.log,
		Key: leaderKey, Linger: patience})
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { _ = c.Run(ctx) })
	l.t.Cleanup(func() { stop(); ended.Wait() })
}
