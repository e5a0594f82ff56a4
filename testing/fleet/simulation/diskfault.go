package simulation

import (
	"syscall"
)

var diskFaults = []fault{
	{"fail a disk", nil, (*world).failDisk},
	{"fill a disk", nil, (*world).fillDisk},
	{"flip a bit", nil, (*world).flip},
}

// failDisk makes the next operations of a party's disk fail.
func (w *world) failDisk(p *party) bool {
	if p.p == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.faulty = true
	skip, count := w.rng.IntN(6), 1+w.rng.IntN(4)
	p.disk.Fail(skip, count, syscall.EIO)
	w.note(nil, "the disk of %s fails %d times, after %d operations", p.name, count, skip)
	return true
}

// fillDisk leaves little room on a party's disk until the party is restarted.
func (w *world) fillDisk(p *party) bool {
	if p.p == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.faulty = true
	room := int64(w.rng.IntN(600))
	p.disk.Limit(p.disk.Used() + room)
	w.note(nil, "the disk of %s has room for %d bytes", p.name, room)
	return true
}
