package presence

import "fmt"

// unusedAfter is for how many records in a row a member's work must come too late to count before
// the coordinator reports that. The next report comes after twice as many records, and so on.
const unusedAfter, mostUnusedAfter = 16, 1 << 14

// mostUnused bounds how many members with unused work a status names.
const mostUnused = 8

// unused counts the records in a row in which a member's work came too late to count.
type unused struct {
	last  uint64 // of these records
	row   uint32
	after uint32 // row that is told; 0: unusedAfter
	named bool
}

// Unused notes that a member's work on record n came too late to count. tell says whether the
// coordinator must report that now.
func (w *Crowd) Unused(slot uint32, n uint64) (tell bool) {
	p := &w.Members[slot]
	u := &p.unused
	if n <= u.last || n <= p.Record {
		return false // known, or it counted
	}
	u.last = n
	u.row++
	if u.row >= unusedAfter && !u.named {
		u.named, w.unused = true, append(w.unused, slot)
	}
	if u.row != max(u.after, unusedAfter) {
		return false
	}
	u.after = min(2*u.row, mostUnusedAfter)
	return true
}

// Used notes that the member's last work counted, which ends the count.
func (w *Crowd) Used(slot uint32) {
	u := &w.Members[slot].unused
	if u.row == 0 {
		return
	}
	if u.row = 0; !u.named {
		return
	}
	u.named = false
	for i, s := range w.unused {
		if s == slot {
			w.unused = append(w.unused[:i], w.unused[i+1:]...)
			break
		}
	}
}

// WhyUnused explains why a member's work does not count, and what an operator can do.
func (p *Member) WhyUnused() string {
	return fmt.Sprintf("its last %d answers came after their rounds had closed: a higher deadline, "+
		"target or quorum waits longer", p.unused.row)
}

// UnusedOf returns the names of the first present members whose work does not count, and the
// reasons.
func (w *Crowd) UnusedOf(names []string) map[string]string {
	var list map[string]string
	for _, slot := range w.unused {
		p := &w.Members[slot]
		if p.Retired || p.Absent() || len(list) >= mostUnused {
			continue
		}
		if list == nil {
			list = map[string]string{}
		}
		list[names[slot]] = p.WhyUnused()
	}
	return list
}
