package fleet

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

// leaderKey is the coordinator's key, and leaderText its public half.
var (
	leaderKey  = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
	leaderText = signed.Key(leaderKey.Public().(ed25519.PublicKey)).String()
)

func signs(c *coordinator.Config) { c.Key = leaderKey }
func pins(c *client.Config)       { c.Coordinator = leaderText }

// A forger is a user of a broker without permissions. The forger receives every announcement and
// request of a run, and sends messages as the run's coordinator.
type forger struct {
	t      *testing.T
	nc     *nats.Conn
	run    string
	sent   atomic.Uint64
	first  sync.Once
	spoken chan struct{} // closed once the server has a frame of the forger
}

func (l *lead) forger(run string) *forger {
	return &forger{t: l.t, nc: l.connect("forger"), run: run, spoken: make(chan struct{})}
}

func (f *forger) hear(subject string, handle func(m *nats.Msg)) {
	f.t.Helper()
	if _, err := f.nc.Subscribe(subject, handle); err != nil {
		f.t.Fatal(err)
	}
	if err := f.nc.Flush(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *forger) publish(subject string, frame []byte) {
	f.sent.Add(1)
	f.nc.Publish(subject, frame)
	f.first.Do(func() {
		f.nc.Flush()
		close(f.spoken)
	})
}

// after makes a device's losses wait for the forger's first frame. So the server receives that
// frame before the announcement of the second round, however busy the machine is.
func (f *forger) after(c *client.Config) {
	loss := c.Objective.(objective.Flat).Loss
	c.Objective = objective.Func(c.Objective.Dim(),
		func(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
			select {
			case <-f.spoken:
				return loss(ctx, x, b)
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		})
}

// announces calls forge for each announcement of the coordinator that brings a record, and sends
// the result.
func (f *forger) announces(forge func(a *wire.Announcement, last []byte) []byte) {
	subject := subjects.Announce(f.run, 0)
	mine := map[string]bool{}
	f.hear(subject, func(m *nats.Msg) {
		a, err := wire.DecodeAnnouncement(m.Data)
		if err != nil || a.Records.Len() == 0 || mine[string(m.Data)] {
			return
		}
		var last []byte
		a.Records.Each(func(record []byte) bool { last = record; return true })
		if frame := forge(&a, last); frame != nil {
			mine[string(frame)] = true
			f.publish(subject, frame)
		}
	})
}

// listening waits until the coordinator listens. asked counts the later requests for records.
func (l *lead) listening(run string) (asked *atomic.Uint64) {
	l.t.Helper()
	nc, request := l.connect("probe"), (&wire.CatchUpRequest{From: 1, MaxBytes: 1}).Append(nil)
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	for {
		_, err := nc.RequestWithContext(ctx, subjects.CatchUp(run, "probe"), request)
		if err == nil {
			break
		}
		if !errors.Is(err, nats.ErrNoResponders) {
			l.t.Fatal(err)
		}
	}
	asked = new(atomic.Uint64)
	_, err := nc.Subscribe(subjects.AllCatchUps(run), func(*nats.Msg) { asked.Add(1) })
	if err = errors.Join(err, nc.Flush()); err != nil {
		l.t.Fatal(err)
	}
	return asked
}

// end forges an announcement that the run has ended, with a record that fits the chain.
func end(a *wire.Announcement, last []byte) []byte {
	r := wire.Record{N: a.N, Prev: wire.HashRecord(last), Epoch: a.Epoch, Kind: wire.KindEnd,
		End: &wire.End{Reason: wire.EndRequested}}
	forged := wire.Announcement{State: wire.Ended, N: a.N + 1, Epoch: a.Epoch}
	forged.Records.Add(r.Append(nil))
	return forged.Append(nil)
}

// round forges an announcement of a round that moves the model far away.
func round(a *wire.Announcement, last []byte) []byte {
	r := wire.Record{N: a.N, Prev: wire.HashRecord(last), Epoch: a.Epoch, Kind: wire.KindRound,
		Round: &wire.Round{Round: a.N - 1, StepSize: 1, Perturbations: 10, Contributors: 3,
			Terms: []wire.Term{{Scalars: wire.AppendScalars(nil, make([]float32, 10)...)}}}}
	forged := *a
	forged.Records = wire.Records{}
	forged.N++
	forged.Records.Add(r.Append(nil))
	return forged.Append(nil)
}

// epoch forges an announcement of a pause by a coordinator of a later epoch.
func epoch(a *wire.Announcement, _ []byte) []byte {
	forged := wire.Announcement{State: wire.Paused, N: a.N, Epoch: a.Epoch + 1<<30, Reason: "forged"}
	return forged.Append(nil)
}

// reference forges an announcement of a wrong digest for each record.
func reference(a *wire.Announcement, last []byte) []byte {
	forged := *a
	forged.Rest = wire.Tail(wire.Reference{N: a.N - 1, Tip: wire.HashRecord(last).Tip(),
		Digest: [8]byte{1}}, nil, false)
	return forged.Append(nil)
}

// joins refuses every device that joins, before the coordinator answers.
func joins(f *forger) {
	f.hear(subjects.AllJoins(f.run), func(m *nats.Msg) {
		f.publish(m.Reply, (&wire.JoinReply{Status: wire.JoinDenied, Reason: "forged"}).Append(nil))
	})
}

// segments answers every request for records with a record that ends the run.
func segments(f *forger) {
	f.hear(subjects.AllCatchUps(f.run), func(m *nats.Msg) {
		request, err := wire.DecodeCatchUpRequest(m.Data)
		if err != nil {
			return
		}
		reply := wire.CatchUpReply{From: request.From, Last: request.From + 9}
		r := wire.Record{N: request.From, Epoch: 1, Kind: wire.KindEnd,
			End: &wire.End{Reason: wire.EndRequested}}
		reply.Records.Add(r.Append(nil))
		f.publish(m.Reply, reply.Append(nil))
	})
}

// replays sends every announcement of the coordinator again, five records later.
func replays(f *forger) {
	subject := subjects.Announce(f.run, 0)
	again := map[string]bool{}
	var heard [][]byte
	f.hear(subject, func(m *nats.Msg) {
		if again[string(m.Data)] {
			return
		}
		again[string(m.Data)] = true
		if heard = append(heard, m.Data); len(heard) > 5 {
			f.publish(subject, heard[len(heard)-6])
		}
	})
}

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
