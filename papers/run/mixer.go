package run

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A mixer wraps the coordinator's bus. It holds a round's contributions until there is one of each
// client, lets Mix change them together, and passes them on.
type mixer struct {
	bus.Bus
	plan    *plan.Plan
	clients int
	mix     func(contributions [][]float32)
}

// A mixing is what a mixer holds of the open round.
type mixing struct {
	*mixer
	handle func(bus.Message)
	n      uint64 // the round's record
	held   []bus.Message
}

// Subscribe implements [bus.Bus].
func (m *mixer) Subscribe(subject string, handle func(bus.Message)) (bus.Subscription, error) {
	of := &mixing{mixer: m, handle: handle}
	return m.Bus.Subscribe(subject, of.take)
}

// take passes a message on. It holds the contributions to a round, which it tells from the answers
// to a survey by their number of scalars.
func (m *mixing) take(message bus.Message) {
	r, err := wire.DecodeReply(message.Data)
	size := int(m.plan.Steps) * int(m.plan.Perturbations)
	if err != nil || message.Reply != "" || r.Kind != wire.Contribution ||
		len(r.Values) != m.plan.Precision.Bytes(size) {
		m.handle(message)
		return
	}
	if r.N != m.n {
		m.n, m.held = r.N, m.held[:0]
	}
	for i := range m.held {
		if m.held[i].Subject == message.Subject {
			return // sent again
		}
	}
	m.held = append(m.held, message)
	if len(m.held) == m.clients {
		m.release()
	}
}

// release mixes what is held, in an order that does not depend on the order of arrival, and passes
// it on.
func (m *mixing) release() {
	slices.SortFunc(m.held, func(a, b bus.Message) int { return cmp.Compare(a.Subject, b.Subject) })
	replies, all := make([]wire.Reply, len(m.held)), make([][]float32, len(m.held))
	for i := range m.held {
		replies[i], _ = wire.DecodeReply(m.held[i].Data)
		all[i] = m.plan.Precision.Read(replies[i].Values, int(m.plan.Steps),
			int(m.plan.Perturbations))
	}
	m.mix(all)
	for i, message := range m.held {
		replies[i].Values = m.plan.Precision.Append(nil, all[i]...)
		message.Data = replies[i].Append(nil)
		m.handle(message)
	}
}
