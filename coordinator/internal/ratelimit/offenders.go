package ratelimit

import (
	"cmp"
	"slices"
	"sync"

	"github.com/zofl/zofl/coordinator/report"
)

// mostOffenders bounds the number of remembered senders.
const mostOffenders = 256

// Offenders count refused messages by the names of the senders. Any goroutine may call the methods.
// If there are too many names, Offenders keep the busiest: when there is no room for another name,
// the weights of all names decrease by one.
type Offenders struct {
	mu   sync.Mutex
	seen map[string]*offence
}

// An offence holds what the sender with one name did. The weight decays; the counts do not.
type offence struct {
	id              string // in the last message
	weight          uint64
	refused, faulty uint64
}

// Refused counts a message that the coordinator dropped unread.
func (o *Offenders) Refused(s Sender) {
	o.count(s, func(f *offence) { f.refused++ })
}

// Faulty counts a message that no honest device sends.
func (o *Offenders) Faulty(s Sender) {
	o.count(s, func(f *offence) { f.faulty++ })
}

func (o *Offenders) count(s Sender, add func(*offence)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen == nil {
		o.seen = map[string]*offence{}
	}
	f := o.seen[s.Name]
	if f == nil && len(o.seen) >= mostOffenders {
		o.sink()
		return
	}
	if f == nil {
		f = &offence{}
		o.seen[s.Name] = f
	}
	f.id = s.ID
	f.weight++
	add(f)
}

// sink decreases all weights by one, and forgets entries without weight.
func (o *Offenders) sink() {
	for name, f := range o.seen {
		if f.weight--; f.weight == 0 {
			delete(o.seen, name)
		}
	}
}

// Of returns how many messages of a name were refused, and how many were faulty.
func (o *Offenders) Of(name string) (refused, faulty uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.seen[name]; f != nil {
		return f.refused, f.faulty
	}
	return 0, 0
}

// Worst returns at most most offenders, the busiest first. If an offender's name is that of its
// connection, the sender's last id precedes the name.
func (o *Offenders) Worst(most int) []report.Device {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []report.Device
	for name, f := range o.seen {
		if f.id != name {
			name = f.id + " of " + name
		}
		all = append(all, report.Device{ID: name, Refused: f.refused, Faulty: f.faulty})
	}
	slices.SortFunc(all, func(a, b report.Device) int {
		return cmp.Or(cmp.Compare(b.Refused+b.Faulty, a.Refused+a.Faulty),
			cmp.Compare(a.ID, b.ID))
	})
	return all[:min(most, len(all))]
}
