package coordinator

// What a device did about the open record.
const (
	contributed = 1 << iota
	declined
)

// answers remembers what each device did about a record.
//
// Invariants:
//  1. Of a dense roster, slots has an entry for each member, and given holds
//     the slots whose entry is not 0. Of an open one, ids has the entries.
//  2. contributions and declines count the entries with these bits.
type answers struct {
	dense bool
	slots []uint8
	given []uint32
	ids   map[string]uint8

	contributions, declines uint32
}

func newAnswers(dense bool) answers {
	return answers{dense: dense, ids: map[string]uint8{}}
}

// grow makes room for members slots.
func (a *answers) grow(members int) {
	for len(a.slots) < members {
		a.slots = append(a.slots, 0)
	}
}

func (a *answers) of(m member) uint8 {
	if a.dense {
		return a.slots[m.slot]
	}
	return a.ids[m.id]
}

// set adds a bit that the member's entry does not have.
func (a *answers) set(m member, bit uint8) {
	if a.dense {
		if a.slots[m.slot] == 0 {
			a.given = append(a.given, m.slot)
		}
		a.slots[m.slot] |= bit
	} else {
		a.ids[m.id] |= bit
	}
	if bit == contributed {
		a.contributions++
	} else {
		a.declines++
	}
}

// reset forgets everything.
func (a *answers) reset() {
	for _, s := range a.given {
		a.slots[s] = 0
	}
	a.given = a.given[:0]
	clear(a.ids)
	a.contributions, a.declines = 0, 0
}

// forgive forgets the declines.
func (a *answers) forgive() {
	kept := a.given[:0]
	for _, s := range a.given {
		if a.slots[s] &^= declined; a.slots[s] != 0 {
			kept = append(kept, s)
		}
	}
	a.given = kept
	for id, bits := range a.ids {
		if bits &^= declined; bits == 0 {
			delete(a.ids, id)
		} else {
			a.ids[id] = bits
		}
	}
	a.declines = 0
}
