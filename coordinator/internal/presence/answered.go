package presence

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/wire"
)

// These bits are the states of a device with respect to the open record.
const (
	Contributed = 1 << iota
	Declined
)

// Answers records the state of each device with respect to a record.
//
// Invariants:
//  1. On a listed roster, Slots has an entry for each member, and Given has the slots whose entry
//     is not 0. On an open roster, IDs has the entries.
//  2. Contributions and Declines count the entries with these bits.
type Answers struct {
	N      uint64 // the record
	listed bool
	Slots  []uint8
	Given  []uint32
	IDs    map[string]uint8

	Contributions, Declines uint32
}

func NewAnswers(listed bool) Answers {
	return Answers{listed: listed, IDs: map[string]uint8{}}
}

// Grow makes room for n slots.
func (a *Answers) Grow(members int) {
	for len(a.Slots) < members {
		a.Slots = append(a.Slots, 0)
	}
}

func (a *Answers) Of(m Device) uint8 {
	if a.listed {
		return a.Slots[m.Slot]
	}
	return a.IDs[m.ID]
}

// Set sets a bit that the member's entry does not have.
func (a *Answers) Set(m Device, bit uint8) {
	if a.listed {
		if a.Slots[m.Slot] == 0 {
			a.Given = append(a.Given, m.Slot)
		}
		a.Slots[m.Slot] |= bit
	} else {
		a.IDs[m.ID] |= bit
	}
	if bit == Contributed {
		a.Contributions++
	} else {
		a.Declines++
	}
}

// cures are what a person can do about declines, by their reason.
var cures = map[wire.DeclineReason]string{
	wire.DeclineTime:     "raise deadline, unless their loss hangs",
	wire.DeclineLoss:     "their logs say why",
	wire.DeclineBusy:     "their loss has not returned: it hangs, or raise deadline",
	wire.DeclineTooLarge: "`zofl change mu=auto`, or a longer mu",
}

// Why says how many devices declined, and what to do. reasons has the number of declines for each
// reason.
func (a *Answers) Why(reasons []uint32) string {
	if a.Declines == 0 {
		return ""
	}
	text, sep := fmt.Sprintf("; %d declined", a.Declines), ": "
	for reason, count := range reasons {
		if count > 0 && reason > 0 {
			text += fmt.Sprintf("%s%d %v", sep, count, wire.DeclineReason(reason))
			if cure := cures[wire.DeclineReason(reason)]; cure != "" {
				text += " (" + cure + ")"
			}
			sep = ", "
		}
	}
	return text
}

// Copy adds the contributors to the record of b to a. a must be empty.
func (a *Answers) Copy(b *Answers) {
	a.Grow(len(b.Slots))
	for _, slot := range b.Given {
		if b.Slots[slot]&Contributed != 0 {
			a.Set(Device{Slot: slot}, Contributed)
		}
	}
	for id, bits := range b.IDs {
		if bits&Contributed != 0 {
			a.Set(Device{ID: id}, Contributed)
		}
	}
}

// Reset forgets all answers.
func (a *Answers) Reset() {
	for _, s := range a.Given {
		a.Slots[s] = 0
	}
	a.Given = a.Given[:0]
	clear(a.IDs)
	a.Contributions, a.Declines = 0, 0
}

// Forgive forgets the declines.
func (a *Answers) Forgive() {
	kept := a.Given[:0]
	for _, s := range a.Given {
		if a.Slots[s] &^= Declined; a.Slots[s] != 0 {
			kept = append(kept, s)
		}
	}
	a.Given = kept
	for id, bits := range a.IDs {
		if bits &^= Declined; bits == 0 {
			delete(a.IDs, id)
		} else {
			a.IDs[id] = bits
		}
	}
	a.Declines = 0
}

// Contributors returns the slots of the contributors, ascending, on a listed roster.
func (a *Answers) Contributors() []uint32 {
	var slots []uint32
	for _, slot := range a.Given {
		if a.Slots[slot]&Contributed != 0 {
			slots = append(slots, slot)
		}
	}
	slices.Sort(slots)
	return slots
}
