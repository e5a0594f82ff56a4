package fleet

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/testing/bowl"
	"github.com/zofl/zofl/wire"
)

// A rogue is a malicious coordinator. It makes its own log, lets every device join and answers
// requests for records.
type rogue struct {
	t    *testing.T
	nc   *nats.Conn
	plan *plan.Plan

	mu      sync.Mutex // guards what follows
	records [][]byte
	replays int // requests for the log from its beginning
}

func newRogue(t *testing.T, nc *nats.Conn, p *plan.Plan, rounds int) *rogue {
	r := &rogue{t: t, nc: nc, plan: p}
	r.append(wire.Record{Kind: wire.KindPlan, Plan: p})
	for i := range rounds {
		scalars := make([]float32, p.Perturbations)
		scalars[0] = 1
		r.append(wire.Record{Kind: wire.KindRound, Round: &wire.Round{Round: uint64(i) + 1,
			StepSize: 0.01, Perturbations: p.Perturbations, Contributors: 1,
			Terms: []wire.Term{{Scalars: wire.AppendScalars(nil, scalars...)}}}})
	}
	r.answer(subjects.AllJoins(p.Run), func([]byte) []byte {
		return (&wire.JoinReply{Last: r.last(), Plan: r.records[0]}).Append(nil)
	})
	r.answer(subjects.AllCatchUps(p.Run), r.segment)
	return r
}

func (r *rogue) answer(subject string, reply func(request []byte) []byte) {
	r.t.Helper()
	_, err := r.nc.Subscribe(subject, func(m *nats.Msg) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.nc.Publish(m.Reply, reply(m.Data))
	})
	if err == nil {
		err = r.nc.Flush()
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rogue) last() uint64 { return uint64(len(r.records)) }

func (r *rogue) append(record wire.Record) {
	record.N, record.Epoch, record.Prev = r.last()+1, 1, wire.Genesis(r.plan.Run)
	if record.N > 1 {
		record.Prev = wire.HashRecord(r.records[record.N-2])
	}
	r.records = append(r.records, record.Append(nil))
}

// segment answers a request for records.
func (r *rogue) segment(data []byte) []byte {
	request, err := wire.DecodeCatchUpRequest(data)
	if err != nil {
		return nil
	}
	if request.From == 2 {
		r.replays++
	}
	reply := wire.CatchUpReply{From: request.From, Last: r.last()}
	for n := request.From; n <= r.last() && n < request.From+200; n++ {
		reply.Records.Add(r.records[n-1])
	}
	return reply.Append(nil)
}

// attack rolls the run back to record to as soon as the device has followed, for the given time,
// and meanwhile announces the last record. attack returns how often the device read the log from
// its beginning, and how often the device reported that it waits.
func (r *rogue) attack(to uint64, during time.Duration, reports <-chan client.Progress) (replays,
	waits int) {
	end, again := time.After(during), time.NewTicker(5*time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-end:
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.replays, waits
		case p := <-reports:
			if p.Err != nil && strings.Contains(p.Err.Error(), "rolled back too often") {
				waits++
			}
			r.mu.Lock()
			followed := p.N == r.last()
			if followed {
				r.append(wire.Record{Kind: wire.KindRollback, To: to})
			}
			r.mu.Unlock()
			if followed {
				r.announce()
			}
		case <-again.C:
			r.announce()
		}
	}
}

func (r *rogue) announce() {
	r.mu.Lock()
	a := wire.Announcement{State: wire.Paused, N: r.last() + 1, Epoch: 1}
	a.Records.Add(r.records[r.last()-1])
	r.mu.Unlock()
	r.nc.Publish(subjects.Announce(r.plan.Run, 0), a.Append(nil))
}

// TestRollbacksAgain tests a coordinator that rolls the run back as soon as a device has followed.
// The device replays the log for at most half of its time, and has followed in the end.
func TestRollbacksAgain(t *testing.T) {
	const dim, rounds, during = 20_000, 100, 2 * time.Second
	b, err := broker.Run(broker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	connect := func(name string) *nats.Conn {
		nc, _, err := b.Connect(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc
	}
	r := newRogue(t, connect("rogue"), testPlan(t, "rogue", dim, 1, 0), rounds)
	reports := make(chan client.Progress, 1<<16)
	d, err := client.New(client.Config{Conn: connect("d"), Run: "rogue", ID: "d",
		Objective: objective.Func(dim, bowl.Of(0)), Workers: 1,
		Recorder: client.RecorderFunc(func(p client.Progress) error {
			reports <- p
			return nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	var running sync.WaitGroup
	running.Go(func() {
		if err := d.Run(ctx); ctx.Err() == nil {
			t.Errorf("device: %v", err)
		}
	})
	defer running.Wait()
	defer cancel()
	replays, waits := r.attack(rounds, during, reports)
	// One first replay, 3 free replays, then 10 after waits that double, of at least 2 ms.
	if replays < 5 || replays > 14 || waits == 0 {
		t.Errorf("%d replays, the device said %d times that it waits", replays, waits)
	}
	t.Logf("%d replays in %v, %d reports of a wait", replays, during, waits)
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for n := uint64(0); n < r.last(); n, _ = d.Digest() {
		select {
		case <-again.C:
			r.announce()
		case <-ctx.Done():
			t.Fatalf("the device has %d of %d records", n, r.last())
		}
	}
}
