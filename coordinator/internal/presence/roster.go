package presence

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
)

// A Device is a device that takes part, as its subject names it. Slot is 0 on an open roster.
type Device struct {
	Slot uint32
	ID   string
}

// A Roster is the list of devices that take part.
//
// Invariants:
//  1. IDs[slot] keeps that slot for ever. Slots is the inverse of IDs.
//  2. Members with slots below Stored are in the log. The other ids in IDs wait for their slots and
//     do not know the slots yet.
//  3. On an open roster, IDs is empty. Waiting has at most as many ids as round 1 waits for, and
//     is nil once round 1 was opened.
type Roster struct {
	Open       bool
	IDs        []string
	Slots      map[string]uint32
	Stored     int
	Waiting    map[string]struct{}
	Retired    int
	applicants []Applicant
}

// An Applicant is a device that waits for its slot.
type Applicant struct {
	Device
	Token string
}

// NewRoster returns a roster with the given ids, where the index is the slot. An error matches
// [runlog.ErrCorrupt].
func NewRoster(open bool, ids []string) (Roster, error) {
	r := Roster{Open: open, IDs: ids, Slots: make(map[string]uint32, len(ids)), Stored: len(ids)}
	if open {
		r.Waiting = map[string]struct{}{}
	}
	for slot, id := range ids {
		if other, ok := r.Slots[id]; ok {
			return r, fmt.Errorf("roster: %w: %q has slots %d and %d", runlog.ErrCorrupt, id, other,
				slot)
		}
		r.Slots[id] = uint32(slot)
	}
	return r, nil
}

// Find returns the member with an id.
func (r *Roster) Find(id string) (Device, bool) {
	if r.Open {
		return Device{ID: id}, plan.CheckName(id) == nil
	}
	slot, ok := r.Slots[id]
	return Device{Slot: slot, ID: id}, ok && int(slot) < r.Stored
}

// Joined returns how many devices have joined; on an open roster, at most as many as round 1 waits
// for.
func (r *Roster) Joined() int {
	if r.Open {
		return len(r.Waiting)
	}
	return r.Stored - r.Retired
}

// Wanted is the number of devices that round 1 waits for: those of the plan without the retired
// ones, which do not come back, but a quorum at least.
func (r *Roster) Wanted(p *plan.Plan) int {
	return max(int(p.Members)-r.Retired, min(int(p.Quorum), int(p.Members)))
}

// Apply notes a device that waits until the log has stored its slot. added is true if the device
// has not applied before, so that the coordinator must add it to the log.
func (r *Roster) Apply(id, token string) (added bool) {
	slot, applied := r.Slots[id]
	if !applied {
		slot = uint32(len(r.IDs))
		r.IDs = append(r.IDs, id)
		r.Slots[id] = slot
	}
	r.applicants = append(r.applicants, Applicant{Device{Slot: slot, ID: id}, token})
	return !applied
}

// Store notes that the log has stored the next members, and returns their ids.
func (r *Roster) Store(count int) []string {
	r.Stored += count
	return r.IDs[r.Stored-count : r.Stored]
}

// Forget forgets applicants that the log could not store. Their devices ask again.
func (r *Roster) Forget() {
	for _, id := range r.IDs[r.Stored:] {
		delete(r.Slots, id)
	}
	r.IDs = r.IDs[:r.Stored]
}

// Admitted returns the applicants whose slots the log has stored, and forgets the applicants that
// [Roster.Forget] removed.
func (r *Roster) Admitted() (admitted []Applicant) {
	still := r.applicants[:0]
	for _, a := range r.applicants {
		switch slot := int(a.Slot); {
		case slot < r.Stored:
			admitted = append(admitted, a)
		case slot < len(r.IDs):
			still = append(still, a)
		}
	}
	r.applicants = still
	return admitted
}
