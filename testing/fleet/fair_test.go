package fleet

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// An honest device sends the same request askTries times, and waits askPatience each time.
const (
	askTries    = 3
	askPatience = 5 * time.Second
)

// A torrent publishes requests on one connection as fast as the broker takes them.
type torrent struct {
	nc    *nats.Conn
	inbox string
	sent  atomic.Uint64
	stop  chan struct{}
	done  sync.WaitGroup
}

// torrent begins a flood. next returns the subject and the frame of message i.
func (l *lead) torrent(name string, next func(i int) (subject string, frame []byte)) *torrent {
	l.t.Helper()
	f := &torrent{nc: l.connect(name), inbox: nats.NewInbox(), stop: make(chan struct{})}
	// The flooding connection reads the answers, as an attacker's server would.
	if _, err := f.nc.Subscribe(f.inbox+".>", func(*nats.Msg) {}); err != nil {
		l.t.Fatal(err)
	}
	f.done.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-f.stop:
				return
			default:
			}
			subject, frame := next(i)
			if f.nc.PublishRequest(subject, f.inbox+".x", frame) == nil {
				f.sent.Add(1)
			}
			if i%1000 == 0 {
				f.nc.FlushTimeout(time.Second)
			}
		}
	})
	return f
}

func (f *torrent) end() {
	close(f.stop)
	f.done.Wait()
}

// ask repeats a request until an answer comes, and returns the number of requests.
func ask(nc *nats.Conn, subject string, frame []byte) (answer []byte, tries int, err error) {
	begun := time.Now()
	for tries = 1; tries <= askTries; tries++ {
		var m *nats.Msg
		if m, err = nc.Request(subject, frame, askPatience); err == nil {
			return m.Data, tries, nil
		}
		if errors.Is(err, nats.ErrNoResponders) && time.Since(begun) < patience {
			time.Sleep(time.Millisecond) // the coordinator does not listen yet
			tries--
		}
	}
	return nil, tries, err
}

// newcomer joins and reads the log in many pages. newcomer returns the largest number of tries of
// one request.
func (l *lead) newcomer(run, id string) (most int, err error) {
	nc, _, err := l.broker.Connect(id)
	if err != nil {
		return 0, err
	}
	defer nc.Close()
	_, most, err = ask(nc, subjects.Join(run, id), (&wire.JoinRequest{}).Append(nil))
	for from, last := uint64(1), uint64(1); from <= last && err == nil; {
		frame := (&wire.CatchUpRequest{From: from, MaxBytes: 1000}).Append(nil)
		b, tries, failed := ask(nc, subjects.CatchUp(run, id), frame)
		if failed != nil {
			return tries, failed
		}
		reply, bad := wire.DecodeCatchUpReply(b)
		if bad != nil || reply.Records.Len() == 0 {
			return most, fmt.Errorf("records from %d: %d, %v", from, reply.Records.Len(), bad)
		}
		most, last = max(most, tries), reply.Last
		from += uint64(reply.Records.Len())
	}
	return most, err
}

// Somebody floods the coordinator with requests, and five devices join and catch up. Each of their
// requests is answered, and the flood is named.
func TestFloodStarvesNobody(t *testing.T) {
	const rounds, dim = 150, 10
	join := (&wire.JoinRequest{}).Append(nil)
	page := (&wire.CatchUpRequest{From: 1, MaxBytes: wire.MaxFrame}).Append(nil)
	for _, tt := range []struct {
		name     string
		next     func(i int) (string, []byte)
		offender string // "": the connection
		kind     string
	}{
		{"records", func(int) (string, []byte) { return subjects.CatchUp("fair", "d0"), page }, "d0",
			"records"},
		{"joins", func(int) (string, []byte) { return subjects.Join("fair", "d0"), join }, "d0",
			"joins"},
		{"records by made-up ids", func(i int) (string, []byte) {
			return subjects.CatchUp("fair", fmt.Sprint("x", i)), page
		}, "", "records"},
		{"joins by made-up ids", func(i int) (string, []byte) {
			return subjects.Join("fair", fmt.Sprint("x", i)), join
		}, "", "joins"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := testPlan(t, "fair", dim, 2, rounds)
			l := startLead(t, p, broker.Config{})
			l.devices("fair", []*nats.Conn{l.connect("d0"), l.connect("d1")}, dim)
			f := l.torrent("flood", tt.next)
			defer f.end()
			l.awaitTurnedAway(tt.kind)
			began := time.Now()
			var honest sync.WaitGroup
			for i := range 5 {
				honest.Go(func() {
					id := fmt.Sprint("h", i)
					if most, err := l.newcomer("fair", id); err != nil {
						t.Errorf("%s, after %d tries: %v", id, most, err)
					} else if most > 1 {
						t.Logf("%s asked %d times", id, most)
					}
				})
			}
			honest.Wait()
			s := l.c.Status()
			t.Logf("5 devices took %v beside %d messages of a flood; %+v", time.Since(began),
				f.sent.Load(), s.TurnedAway)
			want := tt.offender
			if want == "" {
				want = " of " + f.inbox
			}
			if len(s.Offenders) == 0 || !strings.HasSuffix(s.Offenders[0].ID, want) {
				t.Errorf("offenders %+v, want %s first", s.Offenders, want)
			}
			for _, d := range l.c.Devices() {
				if refused := d.Refused > 0; refused != (d.ID == tt.offender) && d.ID[0] != 'x' {
					t.Errorf("%s: %d messages turned away", d.ID, d.Refused)
				}
			}
		})
	}
}

// awaitTurnedAway waits until a flood is turned away.
func (l *lead) awaitTurnedAway(kind string) {
	l.t.Helper()
	for begun := time.Now(); l.c.Status().TurnedAway[kind] == 0; time.Sleep(time.Millisecond) {
		if time.Since(begun) > patience {
			l.t.Fatalf("no flood: %+v", l.c.Status())
		}
	}
}
