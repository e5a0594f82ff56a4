package presence

import "slices"

// Two devices that run under one id answer the same records, each with its own numbers. A single
// device keeps its answer to a record and repeats that answer bit by bit. A device that stores
// nothing may compute another answer after a restart, but hardly to one record after the other.
const (
	// twinsAfter is the number of records with two different answers after which a member counts as
	// two devices.
	twinsAfter = 3
	// aloneAfter is the number of records in a row with one answer after which a member counts as one
	// device again.
	aloneAfter = 16
	// mostTwins bounds how many such members a status names.
	mostTwins = 8
)

// twins holds the signs that two devices send as one member.
type twins struct {
	last  Answer
	two   bool  // the last record has two answers
	twice uint8 // records that had two, at most twinsAfter
	once  uint8 // records in a row that had one, at most aloneAfter
	found bool
}

// Compare takes a member's answer, and says whether this answer is the first proof that two devices
// send as this member. Answers to records before the member's last record prove nothing.
func (w *Crowd) Compare(slot uint32, a Answer) (found bool) {
	t := &w.Members[slot].twins
	last := t.last
	if a.Record < last.Record {
		return false
	}
	t.last = a
	switch {
	case a.Record > last.Record:
		if was := t.found; t.next(last.Record > 0) && was {
			w.twins = slices.DeleteFunc(w.twins, func(s uint32) bool { return s == slot })
		}
	case a.Form == last.Form && a.Numbers != last.Numbers && !t.two:
		t.two, t.once, t.twice = true, 0, min(t.twice+1, twinsAfter)
		if t.twice == twinsAfter && !t.found {
			t.found, w.twins = true, append(w.twins, slot)
			return true
		}
	}
	return false
}

// next begins another record. any says whether the member answered a record before. alone says
// whether the member counts as one device.
func (t *twins) next(any bool) (alone bool) {
	if any && !t.two {
		t.once = min(t.once+1, aloneAfter)
	}
	if t.two = false; t.once == aloneAfter {
		t.twice, t.found = 0, false
	}
	return !t.found
}

// Twins returns the names of the first members as which two devices send. names has the names of
// all members, by slot.
func (w *Crowd) Twins(names []string) (list []string) {
	for _, slot := range w.twins {
		if !w.Members[slot].Retired && len(list) < mostTwins {
			list = append(list, names[slot])
		}
	}
	return list
}

// MayBeTwo says whether two devices may send as this member, though it does not count as two yet.
func (p *Member) MayBeTwo() bool { return p.twins.twice > 0 && !p.twins.found }

// Twin says whether two devices send as this member.
func (p *Member) Twin() bool { return p.twins.found }
