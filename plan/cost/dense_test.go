package cost_test

import (
	"fmt"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// A socket counts the bytes that a device writes and reads, with NATS's lines.
type socket struct{ up, down cost.Traffic }

// answers has as many characters as nats.go's: an inbox of 22 and a request of 8.
const answers = "_INBOX.abcdefghijklmnopqrstuv.12345678"

func (s *socket) ask(subject string, frame, answer []byte) {
	s.up.Payload += len(frame)
	s.up.Socket += len(fmt.Sprintf("PUB %s %s %d\r\n%s\r\n", subject, answers, len(frame), frame))
	s.down.Payload += len(answer)
	s.down.Socket += len(fmt.Sprintf("MSG %s 1 %d\r\n%s\r\n", answers, len(answer), answer))
}

func (s *socket) hear(announcement []byte) {
	s.down.Payload += len(announcement)
	s.down.Socket += len(
		fmt.Sprintf("MSG zo.mnist.a.0 1 %d\r\n%s\r\n", len(announcement), announcement))
}

// exchange uploads a vector for record n in pieces of the given lengths, and downloads
// the record's vector in the same pieces.
func (s *socket) exchange(n uint64, weight uint32, lengths ...int) {
	size, at := 0, 0
	for _, length := range lengths {
		size += length
	}
	for i, length := range lengths {
		piece := wire.Upload{N: n, Weight: weight, Loss: 1, Size: uint64(size), Offset: uint64(at),
			Data: make([]byte, length)}
		answer := wire.UploadReply{N: n, State: wire.UploadMore, Offset: uint64(at + length)}
		if i == len(lengths)-1 {
			answer = wire.UploadReply{N: n, State: wire.UploadTaken}
		}
		s.ask("zo.mnist.u.12345678", piece.Append(nil), answer.Append(nil))
		request := wire.ObjectRequest{Offset: uint64(at), MaxBytes: wire.MaxPiece}
		reply := wire.ObjectReply{Size: uint64(size), Offset: uint64(at), Data: piece.Data}
		s.ask("zo.mnist.d.12345678", request.Append(nil), reply.Append(nil))
		at += length
	}
}

// denseRecord returns record n of a round with transport=dense.
func denseRecord(p *plan.Plan, n, round uint64, phase uint8) wire.Record {
	return wire.Record{N: n, Epoch: 1, Kind: wire.KindRound,
		Round: &wire.Round{Round: round, StepSize: p.StepSize,
			Perturbations: p.Perturbations, Contributors: p.Target, Phase: phase,
			Object: make(plan.Bytes, wire.ObjectLen)}}
}

// TestCostOfOneVector: a device uploads and downloads a vector in three pieces, and the record has
// only the digest of the vector.
func TestCostOfOneVector(t *testing.T) {
	p := planOf(t, "fedzo-dense")
	p.Dim, p.Weights, p.MaxWeight, p.Target = 40000, plan.BySamples, 500, 10
	if err := valid.Plan(p); err != nil {
		t.Fatal(err)
	}
	var s socket
	record := denseRecord(p, 9, 8, 0)
	a := announce(p, 9, record)
	s.hear(a.Append(nil))
	s.exchange(9, 500, 61440, 61440, 160000-2*61440)
	got := cost.Of(p, cost.Input{Round: 8, IDLen: 8})
	if got.Up != s.up || got.Down != s.down || got.Record != len(record.Append(nil)) {
		t.Errorf("got up %+v, down %+v, a record of %d, want %+v, %+v, %d", got.Up, got.Down,
			got.Record, s.up, s.down, len(record.Append(nil)))
	}
	if got.Scalars != 40000 || got.Queries != 20*21 || got.Records != 1 ||
		got.Coordinator != 48*40000+10*160000 {
		t.Errorf("got %+v", got)
	}
	p.Target, p.Members = 1000, 1000
	if got, want := cost.Of(p, cost.Input{}).Coordinator, uint64(48*40000+64<<20); got != want {
		t.Errorf("1000 contributors: %d bytes, want %d", got, want)
	}
	p.Control = plan.ScaffoldMean
	if got := cost.Of(p, cost.Input{}); got.Scalars != 80000 || got.Coordinator != 48*80000+64<<20 {
		t.Errorf("scaffold-2: got %+v, want vectors of 80000", got)
	}
	p.Dim, p.Control, p.Target = plan.MaxDense, plan.NoControl, 2
	if got := cost.Of(p, cost.Input{}).Coordinator; got != 48*plan.MaxDense+4*plan.MaxDense {
		t.Errorf("the largest vector: %d bytes, want its sum and one of it", got)
	}
}

// TestCostOfTwoVectors: in a round with a surrogate a device sends x and then w.
func TestCostOfTwoVectors(t *testing.T) {
	p := planOf(t, "fzoos")
	if err := valid.Plan(p); err != nil {
		t.Fatal(err)
	}
	var s socket
	one, two := denseRecord(p, 16, 8, 1), denseRecord(p, 17, 8, 2)
	first, second := announce(p, 16, two), announce(p, 17, one)
	s.hear(first.Append(nil))
	s.hear(second.Append(nil))
	s.exchange(16, 1, 400)
	s.exchange(17, 1, 40000)
	got := cost.Of(p, cost.Input{Round: 8, IDLen: 8})
	if got.Up != s.up || got.Down != s.down || got.Records != 2 ||
		got.Record != len(one.Append(nil))+len(two.Append(nil)) {
		t.Errorf("got up %+v, down %+v, records of %d, want %+v, %+v", got.Up, got.Down, got.Record,
			s.up, s.down)
	}
	if want := uint64(10*6 + 1 + p.Around); got.Queries != want || got.Scalars != 100+10000 {
		t.Errorf("%d queries and %d elements, want %d and 10100", got.Queries, got.Scalars, want)
	}
	if want := uint64(48*10000 + 10*4*10000); got.Coordinator != want {
		t.Errorf("the coordinator has %d bytes, want %d: of the larger phase", got.Coordinator,
			want)
	}
}

// TestCostOfSurrogate compares the memory for n = 1000, d = 300, M = 10000 with a count by hand.
func TestCostOfSurrogate(t *testing.T) {
	p := planOf(t, "fzoos")
	p.Dim, p.Window = 300, 1000
	const (
		matrices = 8 * 3 * 1000 * 1001
		points   = 8 * 2 * 1000 * 300
		features = 8*1000*10000 + 8*2*10000 + 4*(10000*300+2*10000)
		queries  = 8*32*300 + 4*20*300
		onItsWay = 2 * 4 * 10000 // sent and fetched
		vectors  = 4*(1+2*7+2)*300 + 4*4096
	)
	got := cost.Of(p, cost.Input{})
	if want := uint64(matrices + points + features + queries + onItsWay +
		vectors); got.Streaming != want || got.Flat != want {
		t.Errorf("got %d and %d bytes, want %d", got.Streaming, got.Flat, want)
	}
	if got.Vectors != 1 || got.Local != 16 {
		t.Errorf("got %d and %d vectors, want 1 and 16", got.Vectors, got.Local)
	}
	p.Rule, p.Beta, p.Candidates = plan.SGD, 0, 0
	most := got.Streaming
	if got, want := cost.Of(p, cost.Input{}).Streaming,
		most-8*32*300-4*4*300; got != want {
		t.Errorf("sgd, no candidates: got %d bytes, want %d", got, want)
	}
}

// TestPhases checks phases, vectors and queries of various plans.
func TestPhases(t *testing.T) {
	tests := []struct {
		name     string
		plan     plan.Plan
		phases   int
		elements [3]uint64 // by phase
		queries  [3]uint64 // of P = 20
	}{
		{"mean", plan.Plan{
			Dim:         100,
			ProbeFields: plan.ProbeFields{Steps: 10, Difference: plan.Forward},
		}, 1, [3]uint64{},
			[3]uint64{210, 210, 210}},
		{"dense", plan.Plan{
			Dim:             100,
			ProbeFields:     plan.ProbeFields{Steps: 10, Difference: plan.Central},
			AggregateFields: plan.AggregateFields{Transport: plan.DenseVectors},
		}, 1, [3]uint64{100, 100, 100}, [3]uint64{400, 400, 400}},
		{"dense scaffold-1",
			plan.Plan{
				Dim:             100,
				ProbeFields:     plan.ProbeFields{Steps: 10, Difference: plan.Forward},
				LocalFields:     plan.LocalFields{Control: plan.ScaffoldPoint},
				AggregateFields: plan.AggregateFields{Transport: plan.DenseVectors},
			},
			2, [3]uint64{100, 100, 100}, [3]uint64{210, 21, 210}},
		{"dense svrg",
			plan.Plan{
				Dim:             100,
				ProbeFields:     plan.ProbeFields{Steps: 10, Difference: plan.Forward},
				LocalFields:     plan.LocalFields{Control: plan.SVRG},
				AggregateFields: plan.AggregateFields{Transport: plan.DenseVectors},
			},
			2, [3]uint64{100, 100, 100}, [3]uint64{210, 21, 378}},
		{"dense scaffold-2",
			plan.Plan{
				Dim:             100,
				ProbeFields:     plan.ProbeFields{Steps: 10, Difference: plan.Forward},
				LocalFields:     plan.LocalFields{Control: plan.ScaffoldMean},
				AggregateFields: plan.AggregateFields{Transport: plan.DenseVectors},
			},
			1, [3]uint64{200, 200, 200}, [3]uint64{210, 210, 210}},
		{"surrogate",
			plan.Plan{
				Dim:             100,
				ProbeFields:     plan.ProbeFields{Steps: 10, Estimator: plan.Surrogate},
				SurrogateFields: plan.SurrogateFields{Features: 7, Active: 5, Around: 3},
				AggregateFields: plan.AggregateFields{Transport: plan.DenseVectors},
			},
			2, [3]uint64{100, 100, 7}, [3]uint64{60, 60, 4}},
	}
	for _, test := range tests {
		p := &test.plan
		if p.Phases() != test.phases {
			t.Errorf("%s: %d phases, want %d", test.name, p.Phases(), test.phases)
		}
		if begin, then := p.Phase(0),
			p.Phase(7); begin != uint8(test.phases-1) || then != uint8(2*(test.phases-1)) {
			t.Errorf("%s: phase %d, and %d after record 7", test.name, begin, then)
		}
		for phase := range uint8(3) {
			if elements, queries := p.Object(phase),
				p.PhaseQueries(phase, 20); elements != test.elements[phase] ||
				queries != test.queries[phase] {
				t.Errorf("%s, phase %d: %d elements and %d queries, want %d and %d", test.name,
					phase, elements, queries, test.elements[phase], test.queries[phase])
			}
		}
	}
}

// TestBoxOf: a single box is the box of all segments.
func TestBoxOf(t *testing.T) {
	a, b := plan.Box{Low: 0, High: 1}, plan.Box{Low: -5, High: 5}
	for _, test := range []struct {
		boxes []plan.Box
		want  plan.Box
		has   bool
	}{{nil, plan.Box{}, false}, {[]plan.Box{a}, a, true}, {[]plan.Box{a, b}, b, true}} {
		p := plan.Plan{ModelFields: plan.ModelFields{Boxes: test.boxes}}
		if got, has := p.BoxOf(1); got != test.want || has != test.has {
			t.Errorf("%v: got %v, %v for segment 1, want %v, %v", test.boxes, got, has, test.want,
				test.has)
		}
	}
}
