package cost

import (
	"cmp"
	"math"
	"strings"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// Parts are the bytes of a round at a device's socket, by purpose.
type Parts struct {
	Values  int `json:"values"`  // scalars, or with DenseVectors elements of vectors
	Who     int `json:"who"`     // the contributors' slots
	Weights int `json:"weights"` // of contributions
	Steps   int `json:"steps"`   // step sizes and factors
	Chain   int `json:"chain"`   // hashes and tips that link a record or reply to the log before it
	Fields  int `json:"fields"`  // the other fields of announcements and replies
	Record  int `json:"record"`  // the other fields of records
	Framing int `json:"framing"` // NATS's lines
}

// Sum returns the bytes of all parts.
func (p Parts) Sum() int {
	return p.Values + p.Who + p.Weights + p.Steps + p.Chain + p.Fields + p.Record + p.Framing
}

// An Account divides the bytes of a round by purpose.
type Account struct {
	Up   Parts `json:"up"`   // the sum is the Socket of [Round.Up]
	Down Parts `json:"down"` // the sum is the Socket of [Round.Down]

	// Floor is a lower bound on Down for any encoding. Floor counts the values as they are; the
	// contributors as one of the C(members, target) choices; one step size; 8 bytes of a hash; the
	// announcement's numbers in as many bytes as each number needs; and NATS's line.
	Floor Parts `json:"floor"`
}

// AccountOf returns the account of the round whose cost [Of] returns.
func AccountOf(p *plan.Plan, in Input) Account {
	length := cmp.Or(in.IDLen, plan.MaxName)
	s, id := sampleOf(p, max(in.Round, 1)), strings.Repeat("x", length)
	var a Account
	for i := range s.phases {
		s.account(&a, i, id)
	}
	return a
}

// account adds the parts of the round's record i.
func (s *sample) account(a *Account, i int, id string) {
	var c Round // cost of the contribution, and with DenseVectors of its answers
	s.transport.add(s, &c, i, id)
	values := int(4 * s.plan.Object(s.phases[i]))
	a.Down.Values += values
	a.Down.Fields += c.Down.Payload - values
	a.Down.Framing += c.Down.Socket - c.Down.Payload
	a.Floor.Values += values
	a.Floor.Framing += c.Down.Socket - c.Down.Payload
	a.Up.Framing += c.Up.Socket - c.Up.Payload
	switch {
	case values > 0:
		a.Up.Values += values
		a.Up.Fields += c.Up.Payload - values
	case s.plan.Summed():
		s.accountMasked(a, &c)
	default:
		s.replied(&a.Up, i)
	}

	open, last := s.opening(i)
	down, ok := packed(s.plan, &open, last)
	if !ok {
		down = announced(&open, last)
	}
	frame := s.announcement(i)
	line := received(subjects.Announce(s.plan.Run, lastShard(s.plan)), frame)
	down.Framing = line.Socket - line.Payload
	a.Down.add(down)
	a.Floor.add(s.floor(&open, down))
}

func (p *Parts) add(q Parts) {
	for _, v := range []struct{ to, of *int }{
		{&p.Values, &q.Values}, {&p.Who, &q.Who}, {&p.Weights, &q.Weights}, {&p.Steps, &q.Steps},
		{&p.Chain, &q.Chain}, {&p.Fields, &q.Fields}, {&p.Record, &q.Record},
		{&p.Framing, &q.Framing},
	} {
		*v.to += *v.of
	}
}

// replied adds the parts of a reply with scalars.
func (s *sample) replied(p *Parts, i int) {
	frame := s.reply(i)
	r, err := wire.DecodeReply(frame)
	if err != nil {
		panic("cost: internal error: " + err.Error())
	}
	values := len(r.Values)
	if v, ok := r.Control(); ok {
		values += len(v.Scalars)
	}
	weight, chain := uints(uint64(r.Weight)), bins(len(r.Tip))
	p.Values += values
	p.Weights += weight
	p.Chain += chain
	p.Fields += len(frame) - values - weight - chain
}

// packed returns the parts of the short form of an announcement. ok is false if the announcement
// has no short form.
func packed(p *plan.Plan, a *wire.Announcement, last []byte) (Parts, bool) {
	if !compact.For(p) {
		return Parts{}, false
	}
	m, ok := compact.Measure(a, last)
	return Parts{Values: m.Scalars, Who: m.Sources, Weights: m.Weights, Steps: m.Steps,
		Chain: m.Tip, Fields: m.Fields, Record: m.Record}, ok
}

// announced returns the parts of an announcement with one record.
func announced(a *wire.Announcement, last []byte) Parts {
	r, err := wire.DecodeRecord(last)
	if err != nil {
		panic("cost: internal error: " + err.Error())
	}
	const float, key = 5, 1
	p := Parts{Steps: float, Chain: bins(len(r.Prev))}
	if r.Kind == wire.KindRound {
		p.Steps += key + float
		if r.Round.Factor != 0 && r.Round.Factor != 1 {
			p.Steps += key + float
		}
		for _, t := range r.Round.Terms {
			p.Values += len(t.Scalars)
			p.Who += uints(uint64(t.Source))
		}
		p.Who += lists(r.Round.Slots)
		p.Weights += lists(r.Round.Weights)
	}
	fields := len(a.Append(nil))
	p.Fields = fields - float
	whole := *a
	whole.Records.Add(last)
	p.Record = len(whole.Append(nil)) - fields - (p.Sum() - fields)
	return p
}

// floor returns the least bytes of an announcement whose parts are down.
func (s *sample) floor(a *wire.Announcement, down Parts) Parts {
	p := s.plan
	f := Parts{Values: down.Values, Steps: 4, Chain: 8, Framing: down.Framing}
	who := bytesOf(choices(float64(p.Members), float64(p.Counted())))
	switch {
	case grouping.Draws(p): // mostly, devices of all groups answer
	case grouping.Names(p):
		f.Fields += who // the announcement names the devices, not the record
	case p.Transport.Relays():
		f.Who = who
	}
	if p.RelaysWeights() {
		f.Weights = bytesOf(float64(p.Counted()) * math.Log2(float64(p.MaxWeight)))
	}
	for _, v := range []uint64{a.N, a.Epoch, a.Left, a.Cohort.Sampled, uint64(a.Cohort.Members),
		uint64(a.Perturbations)} {
		f.Fields += bytesOf(math.Log2(float64(v + 1)))
	}
	return f
}

// choices returns log2 C(n, k): the bits that say which k of n devices were chosen.
func choices(n, k float64) float64 {
	gamma := func(v float64) float64 { g, _ := math.Lgamma(v + 1); return g }
	if k >= n {
		return 0
	}
	return (gamma(n) - gamma(k) - gamma(n-k)) / math.Ln2
}

func bytesOf(bits float64) int { return int(math.Ceil(bits / 8)) }

// uints returns the bytes of a number in a frame.
func uints(v uint64) int { return len(codec.AppendUint(nil, v)) }

// bins returns the bytes of a byte string of n.
func bins(n int) int { return len(codec.AppendBin(nil, make([]byte, n))) }

// lists returns the bytes of a key and its array of numbers, or 0 for an empty array, because a
// record leaves out empty arrays.
func lists(values []uint32) int {
	if len(values) == 0 {
		return 0
	}
	n := 1 + len(codec.AppendArray(nil, len(values)))
	for _, v := range values {
		n += uints(uint64(v))
	}
	return n
}
