package fleet

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// bombs are frames that claim far more data than they contain.
var bombs = [][]byte{
	{0xdd, 0xff, 0xff, 0xff, 0xff, 0x01, 0x01},                   // an array of 2^32-1
	{0x97, 0x01, 0x01, 0x02, 0xc6, 0xff, 0xff, 0xff, 0xff},       // a byte string of 4 GiB
	{0x97, 0x01, 0x01, 0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, // ends within a number
	{},
}

// TestHostileFrames sends frames that a coordinator must refuse while honest devices train. No
// contribution is lost, the coordinator counts every frame, and memory does not grow.
func TestHostileFrames(t *testing.T) {
	const rounds, n, dim, floods = 60, 3, 200, 300
	p := testPlan(t, "target", dim, n, rounds)
	// This broker accepts large frames, so that the frames reach the coordinator.
	l := startLead(t, p, broker.Config{MaxPayload: 2 << 20})
	stop := make(chan struct{})
	var attackers sync.WaitGroup
	// The subject has a member's id, so that the coordinator does not refuse the frames for the id
	// alone.
	subjects := []string{
		subjects.Reply("target", 0, "d1"), subjects.Join("target", "x"),
		subjects.CatchUp("target", "d1"), subjects.Announce("target", 0),
	}
	sent := make([]int, len(subjects))
	for i, subject := range subjects {
		nc := l.connect("attacker")
		attackers.Go(func() { sent[i] = flood(nc, subject, floods, stop) })
	}
	over := make(chan struct{}) // closed when the run is over
	nc := l.connect("attacker")
	attackers.Go(func() { l.strike(nc, subjects[0], over) })

	before := heap()
	peak := make(chan uint64, 1)
	go func() { peak <- watchHeap(stop) }()
	conns := []*nats.Conn{l.connect("d0"), l.connect("d1"), l.connect("d2")}
	clients := l.devices("target", conns, dim)
	close(over)
	attackers.Wait()
	close(stop)
	l.agree("target", clients)
	if w := l.witness("target"); w.Rounds() != rounds {
		t.Errorf("%d rounds, want %d", w.Rounds(), rounds)
	}

	// Connections hold frames of 1 MiB while the broker delivers them, a few at a time.
	if most := before + 256<<20; <-peak > most {
		t.Errorf("heap grew from %d bytes to more than %d", before, most)
	}
	checkCounters(t, l.c.Status().Counters, sent)
}

// checkCounters checks that the coordinator refused every hostile reply for the right reason.
func checkCounters(t *testing.T, c report.Counters, sent []int) {
	t.Helper()
	t.Logf("sent %v, counted %+v", sent, c)
	if c.Malformed == 0 || c.WrongTip == 0 || c.OtherRecord+c.Late == 0 {
		t.Errorf("not every kind of hostile frame was counted: %+v", c)
	}
	if got := c.Dropped(); got < uint64(sent[0]) {
		t.Errorf("sent %d hostile replies, %d frames were dropped", sent[0], got)
	}
}

// flood publishes n times bombs, random bytes up to 1 MiB, and well-formed frames of
// another run, version and record.
func flood(nc *nats.Conn, subject string, n int, stop chan struct{}) (sent int) {
	random := rand.New(rand.NewPCG(1, uint64(len(subject))))
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	frames := append([][]byte{noise, noise[:64<<10]}, bombs...)
	frames = append(frames, foreign()...)
	for i := range n {
		select {
		case <-stop:
			return sent
		default:
		}
		frame := frames[i%len(frames)]
		if nc.Publish(subject, frame) == nil {
			sent++
		}
		nc.FlushTimeout(time.Second)
	}
	return sent
}

// strike replies to each record while the record is open, as if the sender followed another record,
// until the run is over.
func (l *lead) strike(nc *nats.Conn, subject string, over chan struct{}) {
	other, last := wire.Genesis("another"), uint64(0)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-tick.C:
		}
		s := l.c.Status()
		if s.N == last {
			continue
		}
		last = s.N
		r := wire.Reply{Kind: wire.Contribution, N: s.N + 1, Tip: other.Tip(), Weight: 1,
			Values: wire.AppendScalars(nil, make([]float32, 10)...)}
		nc.Publish(subject, r.Append(nil))
		nc.FlushTimeout(time.Second)
	}
}

// foreign returns well-formed frames of other runs.
func foreign() [][]byte {
	other := wire.Genesis("another")
	scalars := wire.AppendScalars(nil, make([]float32, 10)...)
	reply := wire.Reply{Kind: wire.Contribution, N: 5, Tip: other.Tip(), Weight: 1, Values: scalars}
	later := wire.Reply{Kind: wire.Contribution, N: 1 << 40, Tip: other.Tip(),
		Weight: 1, Values: scalars}
	version := reply.Append(nil)
	version[1] = 99
	end := wire.Record{Kind: wire.KindEnd, N: 3, Prev: other, Epoch: 9,
		End: &wire.End{Reason: wire.EndRequested}}
	a := wire.Announcement{
		State: wire.Ended, N: 4, Epoch: 1 << 30, StepSize: 1, Perturbations: 1,
		Cohort: wire.Cohort{Sampled: 1, Members: 1},
	}
	a.Records.Add(end.Append(nil))
	wrongTips := [][]byte{}
	for n := range uint64(40) { // some are for the open record
		r := reply
		r.N = n + 2
		wrongTips = append(wrongTips, r.Append(nil))
	}
	return append(wrongTips, later.Append(nil), version, a.Append(nil))
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// watchHeap returns the largest heap size until the caller closes stop.
func watchHeap(stop chan struct{}) (most uint64) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return most
		case <-tick.C:
			most = max(most, heap())
		}
	}
}
