package cost

import (
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/internal/perclass"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
	"github.com/zofl/zofl/wire/survey"
)

// A sample holds the records of a round, with the longest encodings of numbers that the plan
// allows.
type sample struct {
	plan          *plan.Plan
	transport     transport
	round         uint64
	perturbations uint32
	phases        []uint8  // of the round's records: 0, or 1 and 2
	records       [][]byte // by phase
	directions    uint64   // of the records' scalars
}

func sampleOf(p *plan.Plan, round uint64) *sample {
	s := &sample{
		plan: p, transport: transportOf(p), round: round,
		perturbations: p.PerturbationsAt(round), phases: phasesOf(p),
	}
	for i := range s.phases {
		r := wire.Record{N: s.n(i), Epoch: 1, Kind: wire.KindRound, Round: s.body(s.phases[i])}
		s.records = append(s.records, r.Append(nil))
	}
	return s
}

// phasesOf returns the phases of a plan's rounds: 0, or 1 and 2.
func phasesOf(p *plan.Plan) []uint8 {
	if p.Phases() == 2 {
		return []uint8{1, 2}
	}
	return []uint8{0}
}

// n returns the index of the round's record i, in a log of the plan and rounds only.
func (s *sample) n(i int) uint64 { return 2 + uint64(len(s.phases))*(s.round-1) + uint64(i) }

// blocks returns the number of blocks of P scalars of a contribution, without its control
// variate: one for each local step.
func (s *sample) blocks(phase uint8) uint64 {
	if phase == 1 {
		return 1
	}
	return uint64(s.plan.Steps)
}

// variate returns the number of blocks of a contribution's control variate.
func (s *sample) variate(phase uint8) uint64 {
	switch {
	case phase == 2 && s.plan.SendsControl():
		return 1
	case s.plan.Control == plan.ScaffoldMean && s.round > 1:
		return s.blocks(phase)
	}
	return 0
}

// blob returns the given number of blocks of P scalars of a record, and counts their directions.
func (s *sample) blob(blocks uint64) wire.Scalars {
	s.directions += blocks * uint64(s.perturbations)
	return s.blobOf(s.plan.TermPrecision(), blocks)
}

func (s *sample) blobOf(v plan.Precision, blocks uint64) wire.Scalars {
	return make(wire.Scalars, blocks*uint64(v.Bytes(int(s.perturbations))))
}

// body returns the round's record with the contributors of a usual round.
func (s *sample) body(phase uint8) *wire.Round {
	p := s.plan
	r := &wire.Round{
		Round: s.round, StepSize: s.step(s.round), Perturbations: s.perturbations,
		Contributors: p.Counted(), Phase: phase, Factor: p.FactorAt(s.round),
	}
	s.transport.fill(s, r)
	return r
}

// step returns the step size of a round's record. If the devices are to find the step size, step
// returns 1, because all step sizes have the same length.
func (s *sample) step(round uint64) float32 {
	if s.plan.StepAuto > 0 {
		return 1
	}
	return s.plan.StepSizeAt(round)
}

// slots returns the contributors' slots, the largest that exist.
func (s *sample) slots() []uint32 {
	n := min(s.plan.Counted(), wire.MaxTerms)
	slots := make([]uint32, n)
	for i := range slots {
		slots[i] = max(s.plan.Members, n) - n + uint32(i)
	}
	return slots
}

// groups returns the slots of each group, spread over the roster.
func (s *sample) groups() [][]uint32 {
	p := s.plan
	groups := make([][]uint32, grouping.Count(p))
	members := max(p.Members, p.Sampled(plan.MaxMembers))
	for g := range groups {
		for i := range max(p.GroupSize, 1) {
			slot := uint64(i)*uint64(members)/uint64(max(p.GroupSize, 1)) + uint64(g)
			groups[g] = append(groups[g], uint32(slot))
		}
	}
	return groups
}

// opening returns the announcement that opens the round's record i, without its records, and the
// record before. The record before record 2 is the plan; the record before any other record is as
// long as this round's.
func (s *sample) opening(i int) (a wire.Announcement, last []byte) {
	p := s.plan
	a = wire.Announcement{
		N: s.n(i), Epoch: 1, Left: uint64(p.Deadline),
		StepSize: p.StepSizeAt(s.round), Perturbations: s.perturbations,
		Cohort: wire.Cohort{Sampled: uint64(p.Sampled(p.Members)), Members: p.Members},
	}
	if p.StepAuto > 0 {
		a.StepSize = 0 // the coordinator knows the step size when the round closes
	}
	if grouping.Names(p) {
		a.Rest = grouping.Tail(wire.Reference{}, nil, false, s.groups())
	}
	if p.Roster == plan.OpenRoster {
		a.Cohort = wire.Cohort{Sampled: wire.FullThreshold - 1}
	}
	if a.N == 2 {
		return a, (&wire.Record{N: 1, Epoch: 1, Kind: wire.KindPlan, Plan: p}).Append(nil)
	}
	before := (i + len(s.records) - 1) % len(s.records)
	if compact.For(p) {
		return a, s.before(before, a.N)
	}
	return a, s.records[before]
}

// announcement returns the announcement that opens the round's record i, with the record before.
func (s *sample) announcement(i int) []byte {
	a, last := s.opening(i)
	return s.frame(&a, last)
}

// repeat returns a repetition of the announcement of record i, while none of the devices that it
// asks has answered.
func (s *sample) repeat(i int) []byte {
	a, last := s.opening(i)
	slots := make([]uint32, min(a.Cohort.Sampled, plan.MaxMembers))
	for j := range slots {
		slots[j] = uint32(j)
	}
	m, few := wire.MissingOf(slots)
	switch few = few && s.plan.Roster == plan.ListedRoster; {
	case few && grouping.Names(s.plan):
		a.Rest = grouping.Tail(wire.Reference{}, m, true, s.groups())
	case few:
		a.Rest = wire.Tail(wire.Reference{}, m, true)
	}
	return s.frame(&a, last)
}

// frame encodes an announcement with the record before it.
func (s *sample) frame(a *wire.Announcement, last []byte) []byte {
	if compact.For(s.plan) {
		if frame, ok := compact.Append(nil, a, last); ok {
			return frame
		}
	}
	a.Records.Add(last)
	return a.Append(nil)
}

// before returns record i as if it were record n-1. If i is the last record of a round, the result
// belongs to the round before.
func (s *sample) before(i int, n uint64) []byte {
	r, err := wire.DecodeRecord(s.records[i])
	if err != nil {
		panic("cost: internal error: " + err.Error())
	}
	r.N = n - 1
	if i == len(s.records)-1 {
		r.Round.Round = s.round - 1
		r.Round.StepSize = s.step(s.round - 1)
	}
	return r.Append(nil)
}

// reply returns a device's contribution to the round's record i.
func (s *sample) reply(i int) []byte {
	phase, p := s.phases[i], s.plan.Precision
	r := wire.Reply{Kind: wire.Contribution, N: s.n(i), Weight: 1,
		Values: s.blobOf(p, s.blocks(phase))}
	if s.plan.Classes > 0 {
		r.Values = make(wire.Scalars, perclass.MostBytes(s.plan, int(s.perturbations)))
	}
	if s.plan.Weights == plan.BySamples {
		r.Weight = s.plan.MaxWeight
	}
	if s.plan.StepAuto > 0 {
		r.Rest = survey.Slope(1)
	}
	if grouping.Names(s.plan) {
		r.Rest = grouping.AppendReply(r.Rest, grouping.Count(s.plan)-1)
	}
	if n := s.variate(phase); n > 0 {
		v := wire.ControlVariate{N: r.N - 1, Scalars: s.blobOf(p, n)}
		r.Rest = v.Append(nil)
	}
	return r.Append(nil)
}
