// Package traffic counts the bytes that the devices of a run in one process would send and receive
// over a network.
package traffic

import (
	"strconv"
	"strings"
	"sync"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// A Sum is the traffic in one direction.
type Sum struct {
	Messages uint64
	Bytes    uint64 // frames, and NATS's protocol lines around them
	Scalars  uint64 // of contributions and rounds; seeds are not sent
}

func (t *Sum) add(line, subject string, frame []byte, times uint64) {
	size := len(line+" "+subject+" "+strconv.Itoa(len(frame))+"\r\n") + len(frame) + len("\r\n")
	t.Messages += times
	t.Bytes += times * uint64(size)
}

// Totals is the traffic of all clients, as if each client had a network connection: an announcement
// counts once for each client.
type Totals struct {
	Up   Sum // contributions and other replies; vectors in pieces, and requests for them; steps
	Down Sum // announcements; vectors in pieces, and answers to uploads and to steps
	// Other is the traffic of joins and catch-ups in both directions, and of repeated replies. A
	// client repeats its reply if it joins while a round opens, because the coordinator then asks it
	// twice.
	Other Sum
}

// A Meter is the coordinator's bus. A Meter counts the traffic.
type Meter struct {
	bus.Bus
	plan    *plan.Plan
	clients uint64

	mu     sync.Mutex // guards what follows
	totals Totals
	last   map[string]string // last reply, by subject
	asked  uint32            // P of the last announcement that opened a round
	steps  map[string]bool   // inboxes that wait for an answer to a step of secure aggregation
}

// New returns a coordinator's bus that counts the traffic of a plan with this number of clients.
func New(b bus.Bus, clients int, plan *plan.Plan) *Meter {
	return &Meter{Bus: b, plan: plan, clients: uint64(clients), last: make(map[string]string),
		steps: make(map[string]bool)}
}

// Totals returns the counts so far.
func (m *Meter) Totals() Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.totals
}

// Publish implements [bus.Bus].
func (m *Meter) Publish(subject string, frame []byte) error {
	m.mu.Lock()
	a, err := compact.Decode(frame)
	if err == nil && isAnnounce(subject) {
		m.totals.Down.add("MSG", subject+" 1", frame, m.clients)
		m.totals.Down.Scalars += m.clients * m.announced(&a)
		if a.State == wire.Open {
			m.asked = a.Perturbations
		}
	} else if m.steps[subject] || isPiece(frame) {
		delete(m.steps, subject)
		m.totals.Down.add("MSG", subject+" 1", frame, 1)
	} else {
		m.totals.Other.add("MSG", subject+" 1", frame, 1)
		if r, err := wire.DecodeCatchUpReply(frame); err == nil {
			m.totals.Other.Scalars += m.records(r.Records)
		}
	}
	m.mu.Unlock()
	return m.Bus.Publish(subject, frame)
}

// isAnnounce reports whether a subject is that of announcements, to which all clients subscribe.
// The coordinator publishes to no other subjects except inboxes.
func isAnnounce(subject string) bool { return len(subject) > 3 && subject[:3] == "zo." }

// isPiece reports whether an answer belongs to the upload or download of a vector.
func isPiece(frame []byte) bool {
	_, err := wire.DecodeUploadReply(frame)
	if err != nil {
		_, err = wire.DecodeObjectReply(frame)
	}
	return err == nil
}

// isStep reports whether devices send their steps of secure aggregation on a subject.
func isStep(subject string) bool {
	part := strings.Split(subject, ".")
	return len(part) == 4 && part[2] == "k"
}

// isVectors reports whether devices send or request vectors on a subject.
func isVectors(subject string) bool {
	part := strings.Split(subject, ".")
	return len(part) == 4 && (part[2] == "u" || part[2] == "d")
}

// Subscribe implements [bus.Bus].
func (m *Meter) Subscribe(subject string, handle func(bus.Message)) (bus.Subscription, error) {
	return m.Bus.Subscribe(subject, func(msg bus.Message) {
		m.arrived(&msg)
		handle(msg)
	})
}

func (m *Meter) arrived(msg *bus.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if msg.Reply != "" && isStep(msg.Subject) {
		m.steps[msg.Reply] = true
		m.totals.Up.add("PUB", msg.Subject+" "+msg.Reply, msg.Data, 1)
		return
	}
	if msg.Reply != "" && isVectors(msg.Subject) {
		m.totals.Up.add("PUB", msg.Subject+" "+msg.Reply, msg.Data, 1)
		return
	}
	if msg.Reply != "" {
		m.totals.Other.add("PUB", msg.Subject+" "+msg.Reply, msg.Data, 1)
		return
	}
	if m.last[msg.Subject] == string(msg.Data) {
		m.totals.Other.add("PUB", msg.Subject, msg.Data, 1)
		return
	}
	m.last[msg.Subject] = string(msg.Data)
	m.totals.Up.add("PUB", msg.Subject, msg.Data, 1)
	if r, err := wire.DecodeReply(msg.Data); err == nil && r.Kind == wire.Contribution {
		m.totals.Up.Scalars += m.contributed(&r)
	}
}
