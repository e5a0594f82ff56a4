package fleet

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
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
