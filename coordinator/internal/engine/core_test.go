package engine

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/aggregate"
	"github.com/zofl/zofl/coordinator/internal/catchup"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/internal/logindex"
	"github.com/zofl/zofl/coordinator/internal/policies"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

var ids, methodPlan, densePlan = chaintest.IDs, chaintest.PlanWith, chaintest.DensePlan

func joinOf(id string) Input {
	return Input{Kind: InJoin, ID: id, Token: "to." + id, Frame: (&wire.JoinRequest{}).Append(nil)}
}

// newCore returns a core on a log, as coordinator.New makes one.
func newCore(ctx context.Context, plan *plan.Plan, log runlog.Log, epoch uint64) (*Core, error) {
	var h History
	if err := h.Load(ctx, log); err != nil {
		return nil, err
	}
	random := rand.NewChaCha8([32]byte{byte(epoch)})
	return New(Config{Plan: plan, Epoch: epoch, Policies: policies.Of, Random: random,
		Handover: func() ([]byte, error) { return runlog.HandoverOf(ctx, log) },
		Records: func(last uint64, each func([]byte)) error {
			return logindex.Records(ctx, log, last, each)
		}}, &h)
}

// newTestCore returns a core with n members and an open round 1.
func newTestCore(t testing.TB, plan *plan.Plan, n int) *Core {
	t.Helper()
	c, err := newCore(t.Context(), plan, &runlog.Memory{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	c.Start(0)
	c.Step(0, Input{Kind: InAppended, N: 1})
	for _, id := range ids(n) {
		c.Step(0, Input{Kind: InJoin, ID: id, Token: "t", Frame: (&wire.JoinRequest{}).Append(nil)})
	}
	c.Step(0, Input{Kind: InStored, Count: n})
	if c.phase() != collecting {
		t.Fatalf("phase %d, want an open round", c.phase())
	}
	return c
}

// contributions returns one frame for each of n devices.
func contributions(c *Core, n int, values func(device int) []float32) [][]byte {
	frames := make([][]byte, n)
	for i := range frames {
		r := wire.Reply{
			Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: uint32(1 + i),
			Loss:   float32(i) / 3,
			Values: wire.AppendScalars(nil, values(i)...),
		}
		frames[i] = r.Append(nil)
	}
	return frames
}

func TestRecordDoesNotDependOnOrder(t *testing.T) {
	const devices = 12
	p := chaintest.Plan(t)
	p.Members, p.Target, p.Perturbations = devices, devices, 5
	p.Weights, p.MaxScalar = plan.BySamples, 1e20
	rng := rand.New(rand.NewPCG(1, 2))
	scalars := make([][]float32, devices)
	for i := range scalars {
		for range p.Perturbations {
			scalars[i] = append(scalars[i], float32(rng.NormFloat64())*float32(int64(1)<<(i*2)))
		}
	}
	var want []byte
	for trial := range 50 {
		c := newTestCore(t, p, devices)
		frames := contributions(c, devices, func(i int) []float32 { return scalars[i] })
		for _, i := range rng.Perm(devices) {
			c.Step(uint64(trial), Input{Kind: InReply, ID: ids(devices)[i], Frame: frames[i]})
		}
		if c.phase() != appending {
			t.Fatal("the round did not close")
		}
		if want == nil {
			want = c.next.frame
		}
		if !bytes.Equal(c.next.frame, want) {
			t.Fatalf("trial %d: record %x, want %x", trial, c.next.frame, want)
		}
	}
}

// A run that an operator paused while the log stores a record is paused only once the log has
// answered.
func TestPausedOnceStored(t *testing.T) {
	c := newTestCore(t, chaintest.Plan(t), 2)
	n := c.N + 1
	for i, frame := range contributions(c, 2, func(int) []float32 { return []float32{1, 2} }) {
		c.Step(1, Input{Kind: InReply, ID: ids(2)[i], Frame: frame})
	}
	c.Step(2, Input{Kind: InPause, Text: "lunch"})
	if s := c.Status(); s.State != report.Waiting || s.Reason != "lunch" || c.phase() != appending {
		t.Errorf("with a record on its way: %v, %q, phase %d", s.State, s.Reason, c.phase())
	}
	c.Step(3, Input{Kind: InAppendFailed, N: n, Err: context.DeadlineExceeded})
	if s := c.Status(); s.State != report.Paused || s.LogError == "" {
		t.Errorf("while the log fails: %v, %q", s.State, s.LogError)
	}
	for now := uint64(4); c.phase() != appending; now += 1000 {
		c.Step(now, Input{Kind: InTick})
	}
	if s := c.Status(); s.State != report.Paused {
		t.Errorf("while the log is tried again: %v", s.State)
	}
	c.Step(9e6, Input{Kind: InAppended, N: n})
	if s := c.Status(); s.State != report.Paused || s.Reason != "lunch" || s.N != n {
		t.Errorf("once stored: %v, %q after record %d", s.State, s.Reason, s.N)
	}
}

// A requested end replaces an end that followed from the run's state, so a rollback of that state
// does not drop the requested end.
func TestRequestedEndOutlivesRollback(t *testing.T) {
	p := chaintest.Plan(t)
	p.EvalEvery, p.EvalCount, p.Metrics = 1, 2, []string{"acc"}
	p.StopMetric, p.StopWhen, p.StopValue = "acc", plan.Above, 0.5
	c := newTestCore(t, p, 2)
	for i, frame := range contributions(c, 2, func(int) []float32 { return []float32{1, 2} }) {
		c.Step(1, Input{Kind: InReply, ID: ids(2)[i], Frame: frame})
	}
	for _, id := range ids(2) {
		goal := wire.Reply{Kind: wire.Evaluation, N: 1, Tip: c.evaluation.Tip, Weight: 1,
			Values: wire.AppendScalars(nil, 0.9)}
		c.Step(2, Input{Kind: InReply, ID: id, Frame: goal.Append(nil)})
	}
	if c.phase() != appending || c.queue.end == nil || c.queue.end.Reason != wire.EndMetric {
		t.Fatalf("phase %d, ending %+v, want the goal to be reached while the log has a record",
			c.phase(), c.queue.end)
	}
	c.Step(3, Input{Kind: InRequest, Record: &wire.Record{Kind: wire.KindRollback, To: 1}})
	c.Step(3, Input{Kind: InEnd, Text: "enough"})
	for n := uint64(2); n <= 4 && c.End == nil; n++ {
		c.Step(n+2, Input{Kind: InAppended, N: n})
	}
	if c.End == nil || c.End.Reason != wire.EndRequested || c.End.Text != "enough" {
		t.Errorf("phase %d after record %d, ended %+v; want the end that was asked for", c.phase(),
			c.N, c.End)
	}
}

func TestReplyDoesNotAllocate(t *testing.T) {
	const devices = 2000
	plan := chaintest.Plan(t)
	// The round asks nearly all members, so the core makes the draw for each member.
	plan.Members, plan.Target, plan.Perturbations = devices, devices-1, 16
	c := newTestCore(t, plan, devices)
	frames := contributions(c, devices, func(int) []float32 { return make([]float32, 16) })
	names := ids(devices)
	garbage := []byte{0xdd, 0xff, 0xff, 0xff, 0xff, 1, 1}
	i := 0
	reply := func() {
		c.Step(1, Input{Kind: InReply, ID: names[i], Frame: frames[i]}) // counted
		c.Step(1, Input{Kind: InReply, ID: names[i], Frame: frames[i]}) // duplicate
		c.Step(1, Input{Kind: InReply, ID: "stranger", Frame: frames[i]})
		i++
	}
	for range 500 {
		reply() // makes room for all slots
	}
	c.cohort.Answers.Given = append(make([]uint32, 0, devices), c.cohort.Answers.Given...)
	if got := testing.AllocsPerRun(1000, reply); got != 0 {
		t.Errorf("%v allocations a reply, want 0", got)
	}
	if got, want := c.chain.Taken, uint32(i); got != want && got != want-1 {
		t.Errorf("%d contributions were counted of %d, one of which at most was not asked", got,
			want)
	}
	// The error for a malformed frame allocates, because it says what is wrong.
	refuse := func() { c.Step(1, Input{Kind: InReply, ID: names[0], Frame: garbage}) }
	if got := testing.AllocsPerRun(100, refuse); got > 2 {
		t.Errorf("%v allocations a malformed reply, want 2 at most", got)
	}
}

func TestOpenRosterIsBounded(t *testing.T) {
	p := chaintest.Plan(t)
	p.Roster, p.Members, p.Target = plan.OpenRoster, 4, 4
	c, err := newCore(t.Context(), p, &runlog.Memory{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	c.Start(0)
	c.Step(0, Input{Kind: InAppended, N: 1})
	for _, id := range ids(4) {
		c.Step(0, Input{Kind: InJoin, ID: id, Token: "t", Frame: (&wire.JoinRequest{}).Append(nil)})
	}
	frame := (&wire.Reply{Kind: wire.Decline, N: 2, Tip: c.Hash.Tip(), Reason: 1}).Append(nil)
	for _, id := range ids(5000) {
		c.Step(1, Input{Kind: InReply, ID: id, Frame: frame})
	}
	if got, most := len(c.cohort.Answers.IDs), 4*4+1024+1; got > most {
		t.Errorf("%d ids are remembered, want at most %d", got, most)
	}
	if c.counters.Overflow == 0 {
		t.Error("no overflow was counted")
	}
}

// TestFewOfRosterAreThere has a roster of which one device in ten answers.
func TestFewOfRosterAreThere(t *testing.T) {
	const members, there = 1000, 100
	plan := chaintest.Plan(t)
	plan.Members, plan.Target, plan.Quorum, plan.MaxAttempts = members, 20, 20, 8
	c := newTestCore(t, plan, members)
	names := ids(members)
	frames := contributions(c, there, func(int) []float32 { return []float32{1, 2} })
	for now := uint64(1); c.N == 1 && c.phase() == collecting && c.halt.Pause == nil; {
		c.Step(now, Input{Kind: InTick})
		for i := 0; i < there && c.phase() == collecting; i++ {
			c.Step(now, Input{Kind: InReply, ID: names[i], Frame: frames[i]})
		}
		now = c.round.deadline
	}
	if c.phase() != appending || c.cohort.Attempt.Number > 4 {
		t.Errorf("phase %d after attempt %d: %s; want a round", c.phase(),
			c.cohort.Attempt.Number, c.why())
	}
	for attempt, want := range map[uint32]uint64{0: 20, 5: 640, 6: members, 32: members,
		1 << 31: members} {
		if got := c.cohort.Draw(attempt, c.now); got != (wire.Cohort{Sampled: want, Members: members}) {
			t.Errorf("attempt %d asks %+v, want %d of %d", attempt, got, want, members)
		}
	}
}

func TestRosterFull(t *testing.T) {
	plan := chaintest.Plan(t)
	c := newTestCore(t, plan, 2)
	c.cohort.Most = 2
	out := c.Step(1, Input{Kind: InJoin, ID: "late", Token: "t",
		Frame: (&wire.JoinRequest{}).Append(nil)})
	if len(out) != 2 || out[0].Kind != OutRespond || out[1].Event.Kind != report.JoinRefused {
		t.Fatalf("outputs %v, want an answer and an event", out)
	}
	reply, err := wire.DecodeJoinReply(out[0].Frame)
	if err != nil || reply.Status != wire.JoinFull || reply.Reason == "" {
		t.Errorf("answer %+v, %v, want that the roster is full", reply, err)
	}
	if _, ok := c.cohort.Roster.Find("late"); ok {
		t.Error("the device that was refused is a member")
	}
}

func TestJoinAnswersNoSubjectOfTheRun(t *testing.T) {
	c := newTestCore(t, chaintest.Plan(t), 2)
	for _, token := range []string{"", "zo.r.a.0", "$JS.API.STREAM.DELETE.x"} {
		out := c.Step(1, Input{Kind: InJoin, ID: "d0", Token: token,
			Frame: (&wire.JoinRequest{}).Append(nil)})
		if len(out) != 0 {
			t.Errorf("a join to be answered at %q: outputs %v, want none", token, out)
		}
	}
}

func TestAnnouncementFitsAFrame(t *testing.T) {
	var r catchup.Recent
	for range 20 {
		r.Add(make([]byte, 9<<10))
	}
	r.Add(make([]byte, wire.MaxRecord))
	records := r.Within(1, catchup.AnnounceRoom)
	head := wire.Announcement{N: 1 << 62, Attempt: 1 << 31, Epoch: 1 << 62, Left: 1 << 31,
		Cohort:        wire.Cohort{Sampled: wire.FullThreshold, Members: plan.MaxMembers},
		Perturbations: 65535,
		Reason:        string(bytes.Repeat([]byte{'x'}, wire.MaxReason)), StepSize: 1,
		Rest: (&wire.Reference{N: 1 << 62}).Append(nil)}
	a := head
	a.Records = records
	if got := len(head.Append(nil)); got > wire.MaxHead {
		t.Errorf("an announcement without records has %d bytes, want at most %d", got, wire.MaxHead)
	}
	if got := len(a.Append(nil)); got > wire.MaxFrame {
		t.Errorf("the announcement has %d bytes, want at most %d", got, wire.MaxFrame)
	}
	if got := r.Within(9, 0).Len(); got != 1 {
		t.Errorf("%d records are announced after a long one, want the last one", got)
	}
	small := catchup.Recent{make([]byte, 100), make([]byte, 100), make([]byte, 100),
		make([]byte, 100)}
	for _, test := range []struct {
		fresh        uint64
		budget, want int
	}{{0, 0, 1}, {1, 0, 1}, {2, 0, 2}, {9, 0, 4}, {1, 2 * (100 + catchup.RecordHead), 3}, {2, 100, 2},
		{2, 103, 3}, {1, 5000, 4}} {
		if got := small.Within(test.fresh, test.budget).Len(); got != test.want {
			t.Errorf("%d fresh records, budget %d: %d are announced, want %d", test.fresh,
				test.budget, got, test.want)
		}
	}
	if got := (catchup.Recent{}).Within(1, 500).Len(); got != 0 {
		t.Errorf("%d records of an empty log are announced", got)
	}
}

func TestRecentIsBounded(t *testing.T) {
	var r catchup.Recent
	for i := range 5000 {
		r.Add(make([]byte, 100))
		if got, want := r.Within(1, catchup.AnnounceRoom).Len(),
			min(i+1, catchup.AnnounceRoom/(100+catchup.RecordHead)); got != want {
			t.Fatalf("of %d records, %d are announced, want %d", i+1, got, want)
		}
	}
	if got, most := len(r), 2*catchup.AnnounceRoom/100+10; got > most {
		t.Errorf("%d records are remembered, want at most %d", got, most)
	}
}

// The core announces records together that the log stored one after the other, however long the
// first record is.
func TestRecentKeepsWhatIsFresh(t *testing.T) {
	for before := range 40 {
		var r catchup.Recent
		for range before {
			r.Add(make([]byte, 200))
		}
		r.Add(make([]byte, wire.MaxRecord))
		for range 10 {
			r.Add(make([]byte, 100))
		}
		if got := r.Within(11, 0).Len(); got != 11 {
			t.Errorf("%d records, a long one and 10 more: the last %d are announced, want 11",
				before, got)
		}
	}
}

func BenchmarkReply(b *testing.B) {
	const devices = 4096
	plan := chaintest.Plan(b)
	plan.Members, plan.Target, plan.Perturbations = devices, devices, 16
	plan.Quorum = 1
	c := newTestCore(b, plan, devices)
	values := make([]float32, 16)
	for i := range values {
		values[i] = float32(i) - 7.3
	}
	frames := contributions(c, devices, func(int) []float32 { return values })
	names := ids(devices)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i == devices-1 {
			c.cohort.Answers.Reset()
			c.chain.Open(aggregate.Shape{Scalars: 16, Perturbations: 16})
			c.round.losses = c.round.losses[:0]
			c.cohort.Pending = devices
			i = 0
		}
		c.Step(1, Input{Kind: InReply, ID: names[i], Frame: frames[i]})
		i++
	}
}
