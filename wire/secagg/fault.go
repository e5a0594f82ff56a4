package secagg

import "slices"

// A Fault is something false in a round: keys, a tag or a share. Nobody but its owner and the
// members in By handled it, so one of these lies.
type Fault struct {
	// Owner is the slot of the member whose keys, tag or shares do not fit.
	Owner uint32
	// By are the slots of the members that say so, or that passed on the shares. If By is empty, the
	// owner lies, unless several others lie together.
	By []uint32
}

// A refusal says that a member calls another one's keys, box or tag false.
type refusal struct{ by, of int }

// Refuse notes that a device calls keys, boxes or tags of neighbors false that it got for the open
// step. With quits, it cannot answer the step, and is out of the round. Otherwise the step is
// StepMask: the device answers, but has no shares of these neighbors. Only the first call for a
// device and a step counts. Errors, in an [Error] with the slot: [ErrStep] if another step is open,
// or in steps in which a device gets nothing of others that can be false; [ErrForeign] for a device
// that is not asked in this step, or that refuses who is no neighbor in it; [ErrConflict] if the
// device answered this step without refusing.
func (s *Server) Refuse(step Step, slot uint32, neighbors []uint32, quits bool) error {
	me, found := slices.BinarySearch(s.members, slot)
	switch {
	case step != s.step || step != StepMask && (!quits || step != StepShares && step != StepAgree):
		return blame(slot, because(ErrStep, "%s, while %s is", step, s.step))
	case !found || !s.in[step][me]:
		return blame(slot, because(ErrForeign, "it is not asked for %s", step))
	case s.refused[me]:
		return nil
	case s.took[me]:
		return blame(slot, because(ErrConflict, "%s", step))
	}
	var of []refusal
	for _, neighbor := range neighbors {
		other, known := slices.BinarySearch(s.members, neighbor)
		if !known || other == me || !s.in[step][other] || !slices.Contains(s.hoods[me], int32(other)) {
			return blame(slot, because(ErrForeign, "it refuses %d, which is no neighbor", neighbor))
		}
		of = append(of, refusal{me, other})
	}
	s.gone[me], s.refused[me], s.refusals = quits, true, append(s.refusals, of...)
	if step == StepMask {
		for _, r := range of {
			s.lacks[r] = true
			s.lacked[r.of]++
		}
	}
	return nil
}

// has says whether a member has the shares that an owner dealt to it.
func (s *Server) has(member, owner int) bool { return !s.lacks[refusal{member, owner}] }

// holders returns how many members in among have a share of a member's secrets.
func (s *Server) holders(owner int, among []bool) (count int) {
	if s.lacked[owner] == 0 {
		return s.count(owner, among)
	}
	for _, i := range s.hoods[owner] {
		if among[i] && s.has(int(i), owner) {
			count++
		}
	}
	return count
}

// judge turns the refusals of the open step into faults. All neighbors of a member get the same
// keys and tags from it. So if more than half of them refuse these, the member lies, and if more
// take them than refuse them, those that refuse. A box is for one neighbor only.
func (s *Server) judge() (faults []Fault) {
	if len(s.refusals) == 0 {
		return nil
	}
	refuse := make([]int, len(s.members))
	for _, r := range s.refusals {
		refuse[r.of]++
	}
	for _, r := range s.refusals {
		accept := s.count(r.of, s.took)
		if s.took[r.of] {
			accept--
		}
		switch shared := s.step != StepMask; {
		case shared && 2*refuse[r.of] > len(s.hoods[r.of])-1:
			faults = append(faults, Fault{Owner: s.members[r.of]})
		case shared && accept > refuse[r.of]:
			faults = append(faults, Fault{Owner: s.members[r.by]})
		default:
			faults = append(faults, Fault{s.members[r.of], []uint32{s.members[r.by]}})
		}
	}
	return faults
}

// Faults returns what was false in the round so far. Where the server has more shares of a secret
// than the threshold, but cannot find the secret, no single false answer explains that: the owner
// lies. With exactly the threshold, each of those that answered can have spoiled it. The same holds
// if the secrets of most members are lost: then several that answered lie, rather than most
// members.
func (s *Server) Faults() []Fault {
	faults, lost := append(slices.Clone(s.faults), s.judge()...), 0
	for i := range s.tried {
		if s.lost(i) {
			lost++
		}
	}
	for i := range s.tried {
		if !s.lost(i) {
			continue
		}
		_, _, by := s.told(i)
		if len(by) > s.threshold && 2*lost <= len(s.members) {
			by = nil
		}
		faults = append(faults, s.faultOf(i, by))
	}
	return faults
}

// lost says whether a member's secret does not follow from the shares that the server tried.
func (s *Server) lost(owner int) bool { return s.tried[owner] > 0 && s.secrets[owner] == nil }

// faultOf returns the fault of an owner's shares that these members passed on.
func (s *Server) faultOf(owner int, by []int32) Fault {
	f := Fault{Owner: s.members[owner]}
	for _, i := range by {
		if int(i) != owner {
			f.By = append(f.By, s.members[i])
		}
	}
	return f
}
