package secagg

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// A Server is the coordinator's part in one round. A Server is not safe for concurrent use.
type Server struct {
	*setting
	hoods [][]int32 // by member, as everything here

	step Step
	in   [StepAgree + 1][]bool // members asked in a step: those that answered the step before
	took []bool                // members that have answered the open step
	sent []bool                // members that answered StepMask

	keys    [][]byte
	boxes   [][]byte   // a member's shares for its neighbors in in[StepShares]
	vectors [][32]byte // hashes of answers to StepMask
	shared  [][]byte   // with Agree: a member's tags of the list of who sent shares,
	agreed  [][]byte   // and of that and the list of who sent vectors
	sum     []uint32   // of masked vectors, and in StepDone of vectors
	shares  [][]byte   // answers to StepUnmask, in the order of in[StepMask]
	need    []need     // what StepUnmask needs to know of a member
	have    []int      // how many shares of a member's needed secret came
	short   int        // members with fewer shares in have than the threshold
	secrets [][]byte   // the needed secrets that fit what their owners published
	tried   []int      // how many shares the server last tried, of a secret that it needs

	gone     []bool // members that will not answer the open step
	refused  []bool // members that called something false in the open step
	refusals []refusal
	lacks    map[refusal]bool // of boxes: shares that members do not have
	lacked   []int            // how many members lack a share of a member
	faults   []Fault          // of the steps before, and of shares
	check    *ownKey
}

// NewServer returns the server of a round, with StepKeys open. Errors: [ErrRound].
func NewServer(r Round) (*Server, error) {
	set, err := r.check()
	if err != nil {
		return nil, fmt.Errorf("secagg: %w", err)
	}
	n := len(set.members)
	s := &Server{setting: set, hoods: make([][]int32, n), took: make([]bool, n),
		keys: make([][]byte, n), boxes: make([][]byte, n), vectors: make([][32]byte, n),
		shared: make([][]byte, n), agreed: make([][]byte, n), sum: make([]uint32, set.words),
		shares: make([][]byte, n), gone: make([]bool, n),
		refused: make([]bool, n), lacked: make([]int, n), lacks: map[refusal]bool{},
		check: newOwnKey(set.id[:])}
	ring := set.ring()
	for i := range s.hoods {
		if ring == nil && i > 0 {
			s.hoods[i] = s.hoods[0]
		} else {
			s.hoods[i] = set.hood(ring, i)
		}
	}
	s.in[StepKeys] = slices.Repeat([]bool{true}, n)
	return s, nil
}

// Step returns the step that is open.
func (s *Server) Step() Step { return s.step }

// Give returns the bytes from which a device makes its answer to the open step: the argument given
// of the Device's method. The bytes are nil in StepKeys, after StepUnmask, and for a device that is
// out.
func (s *Server) Give(slot uint32) []byte {
	me, found := slices.BinarySearch(s.members, slot)
	if !found || s.step == StepKeys || s.step == StepDone || !s.in[s.step][me] {
		return nil
	}
	hood := s.hoods[me]
	b := make([]byte, (len(hood)+7)/8)
	for i, other := range hood {
		if s.in[s.step][other] {
			b[i/8] |= 1 << (i % 8)
		}
	}
	for _, other := range hood {
		if int(other) == me || !s.in[s.step][other] {
			continue
		}
		switch keys := s.keys[other]; s.step {
		case StepShares:
			b = append(append(b, keys[:2*keyLen]...), keys[2*keyLen+commitLen:]...)
		case StepMask:
			at := boxLen * s.rank(int(other), me, StepShares, false)
			b = append(b, s.boxes[other][at:at+boxLen]...)
		case StepAgree:
			b = append(b, s.shared[other]...)
		case StepUnmask:
			b = append(b, s.agreed[other]...)
		}
	}
	return b
}

// rank returns how many members of a neighborhood come before other, among the members that step
// asks. self says whether the center of the neighborhood counts.
func (s *Server) rank(of, other int, step Step, self bool) (rank int) {
	for _, i := range s.hoods[of] {
		if int(i) == other {
			return rank
		}
		if s.in[step][i] && (self || int(i) != of) {
			rank++
		}
	}
	panic("secagg: internal error: no neighbors")
}

// count returns how many members of a neighborhood are in among.
func (s *Server) count(of int, among []bool) (count int) {
	for _, i := range s.hoods[of] {
		if among[i] {
			count++
		}
	}
	return count
}

// Take takes a device's answer to a step. The same bytes may come twice. Errors, in an [Error] with
// the slot: [ErrStep] if another step is open; [ErrForeign] for a device that is not asked in this
// step, or whose keys are those of another device; [ErrMalformed]; [ErrConflict] if the device
// answered this step with other bytes.
func (s *Server) Take(step Step, slot uint32, b []byte) error {
	me, found := slices.BinarySearch(s.members, slot)
	switch {
	case step != s.step || step == StepDone:
		return blame(slot, because(ErrStep, "%s, while %s is", step, s.step))
	case !found || !s.in[step][me]:
		return blame(slot, because(ErrForeign, "it is not asked for %s", step))
	case len(b) != s.length(me):
		return blame(slot, because(ErrMalformed, "%d bytes for %s, want %d", len(b), step,
			s.length(me)))
	case s.gone[me], s.took[me] && !s.same(me, b):
		return blame(slot, because(ErrConflict, "%s", step))
	case s.took[me]:
		return nil
	}
	if err := s.keep(me, b); err != nil {
		return blame(slot, err)
	}
	s.took[me] = true
	return nil
}

// length returns how many bytes an answer to the open step has.
func (s *Server) length(me int) int {
	switch s.step {
	case StepKeys:
		return keysLen
	case StepShares:
		return boxLen * (s.count(me, s.in[StepShares]) - 1)
	case StepMask:
		if s.agree {
			return 4*s.words + tagLen
		}
		return 4 * s.words
	case StepAgree:
		return tagLen
	default:
		return keyLen * s.count(me, s.in[StepMask])
	}
}

// same reports whether a member answered the open step with the same bytes.
func (s *Server) same(me int, b []byte) bool {
	switch s.step {
	case StepKeys:
		return bytes.Equal(b, s.keys[me])
	case StepShares:
		return bytes.Equal(b, s.boxes[me])
	case StepMask:
		return sha256.Sum256(b) == s.vectors[me]
	case StepAgree:
		return bytes.Equal(b, s.agreed[me])
	default:
		return bytes.Equal(b, s.shares[me])
	}
}

func (s *Server) keep(me int, b []byte) error {
	switch s.step {
	case StepKeys:
		if err := s.check.use(b); err != nil {
			return err
		}
		s.keys[me] = slices.Clone(b)
	case StepShares:
		s.boxes[me] = slices.Clone(b)
	case StepMask:
		s.vectors[me] = sha256.Sum256(b)
		for i := range s.sum {
			s.sum[i] += binary.LittleEndian.Uint32(b[4*i:])
		}
		s.shared[me] = slices.Clone(b[4*s.words:])
	case StepAgree:
		s.agreed[me] = slices.Clone(b)
	case StepUnmask:
		s.shares[me] = slices.Clone(b)
		for _, i := range s.hoods[me] {
			if !s.has(me, int(i)) {
				continue
			}
			if s.have[i]++; s.have[i] == s.threshold && s.need[i] != nothing {
				s.short--
			}
		}
	}
	return nil
}

// Missing returns the slots of the devices that have not answered the open step, ascending.
func (s *Server) Missing() []uint32 {
	if s.step == StepDone {
		return nil
	}
	return s.slots(func(i int) bool { return s.in[s.step][i] && !s.took[i] })
}

// Dropped returns the slots of the devices that are out, ascending.
func (s *Server) Dropped() []uint32 {
	in := s.in[s.step]
	if s.sent != nil { // a member that sent a vector is in the sum
		in = s.sent
	}
	return s.slots(func(i int) bool { return !in[i] })
}

func (s *Server) slots(want func(int) bool) (slots []uint32) {
	for i, slot := range s.members {
		if want(i) {
			slots = append(slots, slot)
		}
	}
	return slots
}
