package client_test

import (
	"bytes"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

const runName = "t"

// A host is a coordinator that a test controls. The host answers joins and catch-ups from a list of
// records, announces, and collects replies.
type host struct {
	t     testing.TB
	bus   *bus.Memory
	plan  *plan.Plan
	epoch uint64
	// In a private run the host's witness needs these secrets. A real coordinator does not have them.
	runKey  []byte
	initial []float32 // for plans with initial=given

	mu       sync.Mutex // guards what follows
	records  [][]byte   // record n is records[n-1]
	rounds   uint64
	slots    map[string]uint32
	joins    int
	catchUps []uint64               // first record of each request
	atOnce   int                    // records in a catch-up reply
	answer   func(bus.Message) bool // takes a request in place of the host
	replies  []reply
	goodbyes []string
	inForce  []byte // announcement that joins bring
	paused   bool   // a device has records that the log lacks
	waived   bool   // the operator accepted that these records are lost
	vault    vault  // of a dense run
	signer   *signed.Signer
	vouches  map[uint64]wire.Reference // states for which signed answers vouch
}

// A reply is a decoded reply of a device.
type reply struct {
	wire.Reply
	id    string
	frame []byte
}

// newHost returns a host whose log holds the plan. Call it in a bubble.
func newHost(t testing.TB, p *plan.Plan) *host {
	t.Helper()
	h := &host{t: t, bus: bus.NewMemory(), plan: p, epoch: 1, slots: map[string]uint32{},
		atOnce: math.MaxInt}
	t.Cleanup(h.bus.Close)
	h.append(wire.Record{Kind: wire.KindPlan, Plan: p})
	h.subscribe(subjects.AllJoins(runName), h.join)
	h.subscribe(subjects.AllCatchUps(runName), h.catchUp)
	h.subscribe(subjects.AllReplies(runName), h.collect)
	h.serveVectors()
	return h
}

func (h *host) subscribe(subject string, handle func(bus.Message)) {
	h.t.Helper()
	if _, err := h.bus.Subscribe(subject, handle); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) publish(subject string, frame []byte) {
	if err := h.bus.Publish(subject, frame); err != nil {
		h.t.Errorf("publish %s: %v", subject, err)
	}
}

func (h *host) join(m bus.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.joins++
	if h.answer != nil && h.answer(m) {
		return
	}
	id := subjects.ID(m.Subject)
	if reason := h.claimed(id, m.Data); reason != "" {
		h.respond(m, (&wire.JoinReply{Status: wire.JoinLater, Reason: reason}).Append(nil))
		return
	}
	if asksForNoSlot(m.Data) {
		reply := wire.JoinReply{Status: wire.JoinPlan, Last: h.last(), Plan: h.records[0]}
		h.respond(m, reply.Append(nil))
		return
	}
	if _, ok := h.slots[id]; !ok {
		h.slots[id] = uint32(len(h.slots))
	}
	reply := wire.JoinReply{Slot: h.slots[id], Last: uint64(len(h.records)), Plan: h.records[0],
		Announcement: h.inForce}
	h.respond(m, reply.Append(nil))
}

// asksForNoSlot says whether a join comes from a client that has records and names no plan.
func asksForNoSlot(frame []byte) bool {
	request, err := wire.DecodeJoinRequest(frame)
	if err != nil {
		return false
	}
	known, _, ok := request.Known()
	return ok && known.N > 0 && known.Plan == (wire.Tip{})
}

// claimed says why a device that joins has to wait: the device has records that the log lacks, and
// nobody accepted their loss.
func (h *host) claimed(id string, frame []byte) (reason string) {
	request, err := wire.DecodeJoinRequest(frame)
	if err != nil {
		h.t.Errorf("join: %v", err)
		return ""
	}
	known, _, _ := request.Known()
	last, err := wire.DecodeRecord(h.records[h.last()-1])
	if err != nil {
		h.t.Errorf("the log's last record: %v", err)
	}
	settled := h.waived || last.Kind == wire.KindEnd
	ours := known.N < 2 || known.N <= h.last() &&
		wire.HashRecord(h.records[known.N-1]).Tip() == known.Tip
	if settled || ours || known.Key != wire.KeyTip(h.plan) {
		return ""
	}
	h.paused = true
	return fmt.Sprintf("device %s has record %d, and the log ends with record %d", id, known.N,
		h.last())
}

// holdsOn checks that a device told the host of its record n, which the log lacks, and that the
// device waits with its state.
func (h *host) holdsOn(d *device, n uint64) {
	h.t.Helper()
	h.mu.Lock()
	paused := h.paused
	h.mu.Unlock()
	got, _ := d.Digest()
	if p := d.now(); got != n || !paused || p.State != client.Paused || p.Reason == "" {
		h.t.Errorf("record %d, progress %+v, want record %d, a pause and why", got, p, n)
	}
}

// accept accepts the loss of the records that devices have and the log lacks, as an operator does.
func (h *host) accept() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.paused {
		h.t.Error("no device said that it has records which the log lacks")
	}
	h.waived, h.paused = true, false
}

func (h *host) catchUp(m bus.Message) {
	request, err := wire.DecodeCatchUpRequest(m.Data)
	if err != nil {
		h.t.Errorf("catch-up: %v", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.catchUps = append(h.catchUps, request.From)
	if h.answer != nil && h.answer(m) {
		return
	}
	reply := wire.CatchUpReply{From: request.From, Last: uint64(len(h.records))}
	for i := int(request.From) - 1; i < len(h.records) && reply.Records.Len() < h.atOnce; i++ {
		reply.Records.Add(h.records[i])
	}
	if r, ok := h.vouches[request.From]; ok {
		reply.Rest = signed.Vouch(reply.Rest, r)
	}
	h.respond(m, reply.Append(nil))
}

// respond answers a request. The host signs the answer if the request asks for that and the host
// has a key.
func (h *host) respond(m bus.Message, frame []byte) {
	if h.signer != nil && signed.Asks(m.Data) {
		frame = h.signer.Answer(m.Subject, signed.RequestOf(m.Data), frame)
	}
	h.publish(m.Reply, frame)
}

func (h *host) collect(m bus.Message) {
	r, err := wire.DecodeReply(m.Data)
	if err != nil {
		h.t.Errorf("reply %x: %v", m.Data, err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.Reason == wire.DeclineLeaving {
		h.goodbyes = append(h.goodbyes, subjects.ID(m.Subject))
		return
	}
	h.replies = append(h.replies, reply{r, subjects.ID(m.Subject), m.Data})
}

// answers sets a function that answers requests in place of the host.
func (h *host) answers(f func(bus.Message) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = f
}

// asked returns the first record of each catch-up request since the last call.
func (h *host) asked() []uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	asked := h.catchUps
	h.catchUps = nil
	return asked
}

// take returns the replies since the last call.
func (h *host) take() []reply {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	replies := h.replies
	h.replies = nil
	return replies
}

// one returns the only reply since the last call, which must be of a kind.
func (h *host) one(kind wire.ReplyKind) reply {
	h.t.Helper()
	replies := h.take()
	if len(replies) != 1 || replies[0].Kind != kind {
		h.t.Fatalf("got %s, want one %v", kinds(replies), kind)
	}
	return replies[0]
}

// declines fails the test unless the only reply since the last call is a decline.
func (h *host) declines(reason wire.DeclineReason) {
	h.t.Helper()
	if r := h.one(wire.Decline); r.Reason != reason {
		h.t.Fatalf("got a decline with reason %v, want %v", r.Reason, reason)
	}
}

func (h *host) silent() {
	h.t.Helper()
	if replies := h.take(); len(replies) > 0 {
		h.t.Fatalf("got %s, want no reply", kinds(replies))
	}
}

func kinds(replies []reply) string {
	var s []string
	for _, r := range replies {
		s = append(s, fmt.Sprintf("%s: %v %v of record %d", r.id, r.Kind, r.Reason, r.N))
	}
	return fmt.Sprintf("%q", s)
}

// last returns the index of the last record.
func (h *host) last() uint64 { return uint64(len(h.records)) }

func (h *host) tip() wire.Hash {
	if len(h.records) == 0 {
		return wire.Genesis(h.plan.Run)
	}
	return wire.HashRecord(h.records[len(h.records)-1])
}

// append commits a record.
func (h *host) append(r wire.Record) []byte {
	r.N, r.Prev, r.Epoch = h.last()+1, h.tip(), h.epoch
	b := r.Append(nil)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.records = append(h.records, b)
	return b
}

func (h *host) end() []byte {
	return h.append(wire.Record{Kind: wire.KindEnd, End: &wire.End{Reason: wire.EndRequested}})
}

// announcement opens the next round to all members, with the last record, unless the run is paused.
func (h *host) announcement() wire.Announcement {
	a := wire.Announcement{
		N: h.last() + 1, Epoch: h.epoch, Left: uint64(h.plan.Deadline),
		Cohort:   wire.Cohort{Sampled: uint64(len(h.slots)), Members: uint32(len(h.slots))},
		StepSize: h.plan.StepSizeAt(h.rounds + 1), Perturbations: h.plan.PerturbationsAt(h.rounds + 1),
	}
	if h.plan.Roster == plan.OpenRoster {
		a.Cohort = wire.Cohort{Sampled: wire.FullThreshold}
	}
	if h.paused {
		a.State, a.Reason = wire.Paused, "a device has records that the log lacks"
	}
	a.Records.Add(h.records[h.last()-1])
	return a
}

// send announces a, and lets the devices do all that they can before time passes.
func (h *host) send(a wire.Announcement) {
	h.sendFrame(h.encode(a))
}

func (h *host) sendFrame(frame []byte) {
	if h.signer != nil {
		var err error
		if frame, _, err = h.signer.Announcement(runName, frame); err != nil {
			h.t.Fatal(err)
		}
	}
	for shard := range h.plan.Shards {
		h.publish(subjects.Announce(runName, shard), frame)
	}
	synctest.Wait()
}

// announce sends the next round's announcement, edited.
func (h *host) announce(edits ...func(*wire.Announcement)) {
	a := h.announcement()
	for _, edit := range edits {
		edit(&a)
	}
	h.send(a)
}

// witness replays the log up to record n. witness finds, backwards from record n, the records that
// make up the state, and skips the other records.
func (h *host) witness(n uint64) *replica.Replica {
	h.t.Helper()
	counts := make([]bool, n+1)
	for i := n; i > 0; {
		counts[i] = true
		if r, err := wire.DecodeRecord(h.records[i-1]); err == nil && r.Kind == wire.KindRollback {
			i = r.To
		} else {
			i--
		}
	}
	w := replica.New(replica.Config{Run: runName, RunKey: h.runKey, Initial: h.initial})
	for i, record := range h.records[:n] {
		next := w.Skip
		if counts[i+1] {
			next = w.Apply
		}
		if err := next(record); err != nil {
			h.t.Fatalf("witness: record %d: %v", i+1, err)
		}
	}
	h.supply(w)
	return w
}

// pass lets time pass.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// testPlan returns a plan that tests can change.
func testPlan(dim int) *plan.Plan {
	return &plan.Plan{
		Run: runName, Scheme: prng.Scheme, RunKey: bytes.Repeat([]byte{7}, 32), Dim: uint64(dim),
		ModelFields: plan.ModelFields{
			Segments: []plan.Segment{{Name: "w", Len: uint64(dim), Fill: plan.NormalFill,
				Scale: 0.5}},
		},
		ProbeFields: plan.ProbeFields{
			Distribution: plan.Normal, Difference: plan.Forward, Mu: 1e-2, Steps: 1, Perturbations: 2,
			Batch: 4,
		},
		LocalFields:     plan.LocalFields{Rule: plan.SGD, StepSize: 0.05},
		AggregateFields: plan.AggregateFields{MaxWeight: 1000, MaxScalar: 1e6},
		RoundsFields: plan.RoundsFields{
			Members: 1, Target: 1, OverSample: 1, Quorum: 1, Deadline: 30_000, MaxAttempts: 1,
			Reannounce: 5000, Shards: 1,
		},
	}
}
