package cost_test

import (
	"fmt"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// roundFrames are the frames that a device reads and sends in a round.
type roundFrames struct {
	announcements []wire.Announcement
	replies       []wire.Reply
	records       []wire.Record
}

// checkCost compares the cost of a plan over 100 parameters, for an id of 8 bytes, with
// frames built by hand.
func checkCost(t *testing.T, p *plan.Plan, round uint64, queries, scalars uint64, f roundFrames) {
	t.Helper()
	if err := valid.Plan(p); err != nil {
		t.Fatal(err)
	}
	got := cost.Of(p, cost.Input{Round: round, IDLen: 8})
	want := cost.Round{Perturbations: p.Perturbations, Queries: queries, Scalars: scalars,
		Records: len(f.records),
		Repeat:  got.Repeat, Vectors: got.Vectors, Local: got.Local, Flat: got.Flat,
		Streaming: got.Streaming, Coordinator: got.Coordinator}
	for _, r := range f.records {
		b := r.Append(nil)
		if _, err := wire.DecodeRecord(b); err != nil {
			t.Fatal(err)
		}
		want.Record += len(b)
		for _, term := range r.Round.Terms {
			want.Directions += uint64(p.TermPrecision().Len(term.Scalars))
		}
	}
	for _, r := range f.replies {
		b := r.Append(nil)
		if _, err := wire.DecodeReply(b); err != nil {
			t.Fatal(err)
		}
		want.Up.Payload += len(b)
		want.Up.Socket += len(fmt.Sprintf("PUB zo.mnist.p.0.12345678 %d\r\n%s\r\n", len(b), b))
	}
	for _, a := range f.announcements {
		b := a.Append(nil)
		want.Down.Payload += len(b)
		want.Down.Socket += len(fmt.Sprintf("MSG zo.mnist.a.0 1 %d\r\n%s\r\n", len(b), b))
	}
	if compact.For(p) && got.Down.Payload < want.Down.Payload {
		want.Down = got.Down // TestAccountIsTheCost has lean frames
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// announce returns the announcement of record n, with the last record.
func announce(p *plan.Plan, n uint64, last wire.Record) wire.Announcement {
	a := wire.Announcement{N: n, Epoch: 1, Left: 30000,
		Cohort: wire.Cohort{Sampled: 10, Members: p.Members}, StepSize: p.StepSize,
		Perturbations: p.Perturbations}
	a.Records.Add(last.Append(nil))
	return a
}

// TestCostOfRelay: a record has every contributor's scalars, of half precision, and
// weights.
func TestCostOfRelay(t *testing.T) {
	p := planOf(t, "fedzo")
	p.Members, p.Precision, p.MaxScalar, p.Weights, p.MaxWeight = 300, plan.Half, 1000,
		plan.BySamples, 500
	const scalars = 20 * 20
	round := &wire.Round{Round: 8, StepSize: 1e-3, Perturbations: 20, Contributors: 10}
	for slot := range uint32(10) {
		round.Terms = append(round.Terms,
			wire.Term{Source: 291 + slot, Scalars: make(wire.Scalars, 2*scalars)})
		round.Weights = append(round.Weights, 500)
	}
	record := wire.Record{N: 9, Epoch: 1, Kind: wire.KindRound, Round: round}
	checkCost(t, p, 8, 20*21, scalars, roundFrames{
		[]wire.Announcement{announce(p, 9, record)},
		[]wire.Reply{
			{Kind: wire.Contribution, N: 9, Weight: 500, Values: make(wire.Scalars, 2*scalars)}},
		[]wire.Record{record},
	})
	if got, want := cost.Of(p, cost.Input{}).Coordinator, uint64(4*scalars*10); got != want {
		t.Errorf("a relay holds %d bytes, want %d", got, want)
	}
}

// TestCostOfGroups: a record has a term for each group, the announcement names ten devices, and a
// reply its group.
func TestCostOfGroups(t *testing.T) {
	p := byGroups(planOf(t, "fedzo"))
	p.Members = 100
	const scalars = 20 * 20
	round := &wire.Round{Round: 8, StepSize: 1e-3, Perturbations: 20, Contributors: 10}
	for group := range uint32(2) {
		round.Terms = append(round.Terms,
			wire.Term{Source: 1 + group, Scalars: make(wire.Scalars, 4*scalars)})
	}
	record := wire.Record{N: 9, Epoch: 1, Kind: wire.KindRound, Round: round}
	announcement := announce(p, 9, record)
	announcement.Rest = make([]byte, 2+1+2+2*(1+5))
	checkCost(t, p, 8, 20*21, scalars, roundFrames{
		[]wire.Announcement{announcement},
		[]wire.Reply{{Kind: wire.Contribution, N: 9, Weight: 1,
			Values: make(wire.Scalars, 4*scalars), Rest: make([]byte, 2)}},
		[]wire.Record{record},
	})
}

// TestCostOfGroupsOfBits: with groups and scalars of few bits a device sends codes, and a record
// has scalars of half precision.
func TestCostOfGroupsOfBits(t *testing.T) {
	p := byGroups(planOf(t, "fedzo"))
	p.Members, p.Precision, p.MaxScalar, p.Steps, p.Perturbations = 100, plan.Int4, 1000, 2, 19
	round := &wire.Round{Round: 8, StepSize: 1e-3, Perturbations: 19, Contributors: 10}
	for group := range uint32(2) {
		round.Terms = append(round.Terms,
			wire.Term{Source: 1 + group, Scalars: make(wire.Scalars, 2*2*19)})
	}
	record := wire.Record{N: 9, Epoch: 1, Kind: wire.KindRound, Round: round}
	reply := wire.Reply{Kind: wire.Contribution, N: 9, Weight: 1,
		Values: make(wire.Scalars, 2*(2+10)), Rest: make([]byte, 2)}
	got := cost.Of(p, cost.Input{Round: 8, IDLen: 8})
	if want := len(record.Append(nil)); got.Record != want {
		t.Errorf("a record of %d bytes, want %d", got.Record, want)
	}
	if want := len(reply.Append(nil)); got.Up.Payload != want || got.Scalars != 2*19 {
		t.Errorf("%d scalars in a reply of %d bytes, want 38 in %d", got.Scalars, got.Up.Payload, want)
	}
}

// TestCostOfBits: each of two steps' blocks has a scale and 19 codes, in 16-bit words.
func TestCostOfBits(t *testing.T) {
	for precision, block := range map[plan.Precision]int{
		plan.Int8: 2 + 20, plan.Int4: 2 + 10, plan.Int2: 2 + 6} {
		p := planOf(t, "fedzo")
		p.Members, p.Precision, p.MaxScalar, p.Steps, p.Perturbations = 300, precision, 1000, 2, 19
		round := &wire.Round{Round: 8, StepSize: 1e-3, Perturbations: 19, Contributors: 10}
		for slot := range uint32(10) {
			round.Terms = append(round.Terms,
				wire.Term{Source: 291 + slot, Scalars: make(wire.Scalars, 2*block)})
		}
		record := wire.Record{N: 9, Epoch: 1, Kind: wire.KindRound, Round: round}
		reply := wire.Reply{Kind: wire.Contribution, N: 9, Weight: 1,
			Values: make(wire.Scalars, 2*block)}
		got := cost.Of(p, cost.Input{Round: 8, IDLen: 8})
		if want := len(record.Append(nil)); got.Record != want {
			t.Errorf("%v: a record of %d bytes, want %d", precision, got.Record, want)
		}
		if want := len(reply.Append(nil)); got.Up.Payload != want || got.Scalars != 2*19 {
			t.Errorf("%v: %d scalars in a reply of %d bytes, want 38 in %d", precision,
				got.Scalars, got.Up.Payload, want)
		}
	}
}

// TestCostOfTwoPhases: a round of scaffold-1 has one estimate more, and twice as many messages.
func TestCostOfTwoPhases(t *testing.T) {
	p := planOf(t, "scaffold-1")
	body := wire.Round{Round: 8, StepSize: 0.01, Perturbations: 20, Contributors: 10}
	first, second := body, body
	first.Phase, second.Phase = 1, 2
	first.Terms = []wire.Term{{Scalars: make(wire.Scalars, 4*20)}}
	second.Terms = []wire.Term{{Scalars: make(wire.Scalars, 4*200)},
		{Back: 1, Scalars: make(wire.Scalars, 4*20)}}
	one := wire.Record{N: 16, Epoch: 1, Kind: wire.KindRound, Round: &first}
	two := wire.Record{N: 17, Epoch: 1, Kind: wire.KindRound, Round: &second}
	variate := wire.ControlVariate{N: 16, Scalars: make(wire.Scalars, 4*20)}
	checkCost(t, p, 8, 21+10*21, 20+200+20, roundFrames{
		[]wire.Announcement{announce(p, 16, two), announce(p, 17, one)},
		[]wire.Reply{
			{Kind: wire.Contribution, N: 16, Weight: 1, Values: make(wire.Scalars, 4*20)},
			{Kind: wire.Contribution, N: 17, Weight: 1, Values: make(wire.Scalars, 4*200),
				Rest: variate.Append(nil)},
		},
		[]wire.Record{one, two},
	})
	if got, want := cost.Of(p, cost.Input{}).Coordinator, uint64(48*(20+200+20)); got != want {
		t.Errorf("the coordinator has %d bytes, want %d", got, want)
	}
	p.Difference = plan.Central
	if got := cost.Of(p, cost.Input{}).Queries; got != 2*20+2*10*20 {
		t.Errorf("central: %d queries", got)
	}
}

// TestCostOfSVRG: contributions have no control variate, and in phase 2 a device estimates at two
// points in each step except the first.
func TestCostOfSVRG(t *testing.T) {
	p := planOf(t, "zo-svrg")
	first := wire.Round{Round: 8, StepSize: 1e-3, Perturbations: 10, Contributors: 10, Phase: 1,
		Terms: []wire.Term{{Scalars: make(wire.Scalars, 4*10)}}}
	second := first
	second.Phase, second.Terms = 2, []wire.Term{{Scalars: make(wire.Scalars, 4*50)}}
	one := wire.Record{N: 16, Epoch: 1, Kind: wire.KindRound, Round: &first}
	two := wire.Record{N: 17, Epoch: 1, Kind: wire.KindRound, Round: &second}
	checkCost(t, p, 8, 11+2*4*11, 10+50, roundFrames{
		[]wire.Announcement{announce(p, 16, two), announce(p, 17, one)},
		[]wire.Reply{
			{Kind: wire.Contribution, N: 16, Weight: 1, Values: make(wire.Scalars, 4*10)},
			{Kind: wire.Contribution, N: 17, Weight: 1, Values: make(wire.Scalars, 4*50)},
		},
		[]wire.Record{one, two},
	})
	if got, want := cost.Of(p, cost.Input{}).Coordinator, uint64(48*(10+50)); got != want {
		t.Errorf("the coordinator has %d bytes, want %d", got, want)
	}
}

// TestCostOfControlVariates: at worst each contributor's control variate is along directions of
// another record. The first rounds of a run have fewer older records.
func TestCostOfControlVariates(t *testing.T) {
	p := planOf(t, "scaffold-2")
	p.Members = 100
	for round, older := range map[uint64]uint64{1: 0, 2: 1, 8: 7, 1000: 10} {
		body := &wire.Round{Round: round, StepSize: 0.01, Perturbations: 20, Contributors: 10,
			Population: 100,
			Slots:      []uint32{90, 91, 92, 93, 94, 95, 96, 97, 98, 99},
			Terms:      []wire.Term{{Scalars: make(wire.Scalars, 800)}}}
		for i := range older {
			body.Terms = append(body.Terms,
				wire.Term{Back: round - older + i, Scalars: make(wire.Scalars, 800)})
		}
		record := wire.Record{N: round + 1, Epoch: 1, Kind: wire.KindRound, Round: body}
		last := record
		reply := wire.Reply{Kind: wire.Contribution, N: round + 1, Weight: 1,
			Values: make(wire.Scalars, 800)}
		scalars := uint64(200)
		if round == 1 {
			last = wire.Record{N: 1, Epoch: 1, Kind: wire.KindPlan, Plan: p}
		} else {
			reply.Rest = (&wire.ControlVariate{N: round, Scalars: make(wire.Scalars, 800)}).Append(
				nil)
			scalars = 400
		}
		checkCost(t, p, round, 10*21, scalars, roundFrames{
			[]wire.Announcement{announce(p, round+1, last)}, []wire.Reply{reply},
			[]wire.Record{record}})
	}
	if got, want := cost.Of(p, cost.Input{Round: 2}).Coordinator,
		uint64(48*200*(1+10)); got != want {
		t.Errorf("the coordinator has %d bytes, want %d", got, want)
	}
}

// TestPhaseQueries: the first phase makes one estimate, the other phases all local steps.
func TestPhaseQueries(t *testing.T) {
	p := planOf(t, "scaffold-1")
	for phase, want := range map[uint8]uint64{0: 210, 1: 21, 2: 210} {
		if got := p.PhaseQueries(phase, 20); got != want {
			t.Errorf("phase %d: got %d queries, want %d", phase, got, want)
		}
	}
}
