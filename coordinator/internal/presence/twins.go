package presence

import "slices"

// Two devices that run under one id answer the same records, each with its own numbers. A single
// device repeats its answer to a record bit by bit, because it keeps it. A device that stores
// nothing may answer anew after a restart, but hardly in one record after the other.
const (
	// twinsAfter is how many records with two answers make two devices of a member.
	twinsAfter = 3
	// aloneAfter is how many records in a row need one answer until a name counts as one device again.
	aloneAfter = 16
	// mostTwins bounds how many of them a status names.
	mostTwins = 8
)

// twins are the signs that two devices send as one member.
type twins struct {
	last  Answer
	two   bool  // the last record has two answers
	twice uint8 // records that had two, at most twinsAfter
	once  uint8 // records in a row that had one, at most aloneAfter
	found bool
}

// Compare takes a member's answer, and says whether it shows, now, that two devices send as this
// member. Answers to records before the last one prove nothing.
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

// next begins another record after one that the member answered, if any. It says whether the member
// is one device by now.
func (t *twins) next(any bool) (alone bool) {
	if any && !t.two {
		t.once = min(t.once+1, aloneAfter)
	}
	if t.two = false; t.once == aloneAfter {
		t.twice, t.found = 0, false
	}
	return !t.found
}

// Twins returns the names of the first members as which two devices send, by the names of all.
func (w *Crowd) Twins(names []string) (list []string) {
	for _, slot := range w.twins {
		if !w.Members[slot].Retired && len(list) < mostTwins {
			list = append(list, names[slot])
		}
	}
	return list
}

// Twin says whether two devices send as this member.
func (p *Member) Twin() bool { return p.twins.found }
