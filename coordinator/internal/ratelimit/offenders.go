package ratelimit

import (
	"cmp"
	"slices"
	"sync"

	"github.com/zofl/zofl/coordinator/report"
)

// mostOffenders bounds who is remembered.
const mostOffenders = 256

// Offenders count refused messages by the names of the senders. Any goroutine may call their
// methods. Of many names the busiest stay: when there is no room for another name, all counts sink
// by one.
type Offenders struct {
	mu   sync.Mutex
	seen map[string]*offence
}

// An offence is what the sender with one name did. Its weight decays; its counts do not.
type offence struct {
	id              string // in the last message
	weight          uint64
	refused, faulty uint64
}

// Refused counts a message that was dropped unread.
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

// sink makes all weights smaller, and forgets entries without weight.
func (o *Offenders) sink() {
	for name, f := range o.seen {
		if f.weight--; f.weight == 0 {
			delete(o.seen, name)
		}
	}
}

// Of returns what name did.
func (o *Offenders) Of(name string) (refused, faulty uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if f := o.seen[name]; f != nil {
		return f.refused, f.faulty
	}
	return 0, 0
}

// Worst returns at most this many offenders, the busiest first. One that is named by its connection
// has its last id before that.
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
