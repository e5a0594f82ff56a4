package secagg

import (
	"fmt"
	"slices"
)

// A need is what the server must learn about a member to remove the masks from the sum.
type need uint8

const (
	nothing need = iota
	itsSeed      // the member's vector came
	itsKey       // the member left, and neighbors added the masks they share with it
)

// Enough reports whether Close would find enough answers now. In StepUnmask, answers are enough if
// the secrets in them fit what their owners published. If a share is false, more answers help. In
// the other steps, more answers add devices to the sum.
func (s *Server) Enough() bool {
	switch s.step {
	case StepKeys, StepShares:
		return s.remaining() != nil
	case StepMask:
		_, thin := s.needs(s.took)
		return thin < 0
	case StepAgree: // all are neighbors
		return s.count(0, s.took) >= s.threshold
	case StepUnmask:
		return s.found(false)
	}
	return true
}

// Close ends the open step and opens the next one. A device that did not answer is out. At the end
// of StepUnmask, Close computes the sum. After an error the step is still open: take more answers,
// or give the round up. Errors: [ErrThreshold]; [ErrStep] after StepDone; an [Error] with
// [ErrForeign] that names a device whose shares do not fit together, because too many of them are
// false.
func (s *Server) Close() error {
	next := s.took
	switch s.step {
	case StepKeys, StepShares:
		if next = s.remaining(); next == nil {
			return fmt.Errorf("secagg: %s: %w", s.step, ErrThreshold)
		}
	case StepMask:
		need, thin := s.needs(next)
		if thin >= 0 {
			return fmt.Errorf("secagg: %s: %w", s.step, because(ErrThreshold,
				"around slot %d", s.members[thin]))
		}
		s.open(need)
	case StepAgree:
		if !s.Enough() {
			return fmt.Errorf("secagg: %s: %w", s.step, ErrThreshold)
		}
	case StepUnmask:
		if s.short > 0 {
			return fmt.Errorf("secagg: %s: %w", s.step, ErrThreshold)
		}
		if !s.found(true) {
			return s.unfit()
		}
		if err := s.unmask(); err != nil {
			return err
		}
	default:
		return fmt.Errorf("secagg: %w: the round is over", ErrStep)
	}
	if s.step == StepMask {
		s.sent = next
	}
	s.faults, s.refusals = append(s.faults, s.judge()...), nil
	clear(s.refused)
	s.step = s.after(s.step)
	s.in[s.step], s.took = slices.Clone(next), make([]bool, len(s.members))
	return nil
}

// open prepares StepUnmask.
func (s *Server) open(needs []need) {
	s.need, s.have, s.boxes = needs, make([]int, len(needs)), nil
	s.secrets, s.tried = make([][]byte, len(needs)), make([]int, len(needs))
	for _, need := range needs {
		if need != nothing {
			s.short++
		}
	}
}

// remaining returns the members that answered and whose neighborhoods keep the threshold. A member
// that leaves shrinks other neighborhoods, so remaining repeats the test until no member leaves.
// The result is nil if no member remains.
func (s *Server) remaining() []bool {
	in := slices.Clone(s.took)
	for again := true; again; {
		again = false
		for i := range in {
			if in[i] && s.count(i, in) < s.threshold {
				in[i], again = false, true
			}
		}
	}
	if !slices.Contains(in, true) {
		return nil
	}
	return in
}

// needs returns what StepUnmask must learn if every member that sent a vector answers StepUnmask.
// thin is a member about which too few members can answer, or -1.
func (s *Server) needs(sent []bool) (needs []need, thin int) {
	needs, thin = make([]need, len(sent)), -1
	if !slices.Contains(sent, true) {
		return needs, 0
	}
	for i := range sent {
		switch {
		case !s.in[StepMask][i] || s.count(i, sent) == 0:
			continue
		case sent[i]:
			needs[i] = itsSeed
		default:
			needs[i] = itsKey
		}
		if s.holders(i, sent) < s.threshold {
			thin = i
		}
	}
	return needs, thin
}

// Sum returns the sum of the vectors, modulo 2^32, and the slots whose vectors are in it. Errors:
// [ErrStep] before StepDone.
func (s *Server) Sum() (words []uint32, slots []uint32, err error) {
	if s.step != StepDone {
		return nil, nil, fmt.Errorf("secagg: sum: %w: %s is open", ErrStep, s.step)
	}
	return slices.Clone(s.sum), s.slots(func(i int) bool { return s.sent[i] }), nil
}
