package secagg

// A Server is the coordinator's part in one round. It is not safe for concurrent use.
type Server struct {
	*setting
}

// NewServer returns the server of a round, with StepKeys open. Errors: [ErrRound].
func NewServer(r Round) (*Server, error) {
	s, err := r.check()
	if err != nil {
		return nil, err
	}
	return &Server{setting: s}, nil
}

// Step returns the step that is open.
func (s *Server) Step() Step { return StepKeys }

// Give returns what a device gets to answer the open step from: the second argument of the
// Device's method. It is nil in StepKeys, after StepUnmask, and for who is out.
func (s *Server) Give(slot uint32) []byte { return nil }

// Take takes a device's answer to a step. The same bytes may come twice. Errors, in an [Error] with
// the slot: [ErrStep] if another step is open; [ErrForeign] for who is not asked; [ErrMalformed];
// [ErrConflict] if the device answered this step with other bytes.
func (s *Server) Take(step Step, slot uint32, b []byte) error { return nil }

// Missing returns the slots from which the open step lacks an answer, ascending.
func (s *Server) Missing() []uint32 { return nil }

// Enough tells whether Close would succeed now. In StepUnmask all answers beyond are needless; in
// the others they make the sum larger.
func (s *Server) Enough() bool { return false }

// Close ends the open step, and opens the next one: who did not answer is out. After StepUnmask it
// computes the sum. Errors: [ErrThreshold]: the round is dead; [ErrStep] after StepDone.
func (s *Server) Close() error { return nil }

// Dropped returns the slots that are out, ascending.
func (s *Server) Dropped() []uint32 { return nil }

// Sum returns the sum of the vectors, modulo 2^32, and the slots whose vectors are in it. Errors:
// [ErrStep] before StepDone.
func (s *Server) Sum() (words []uint32, slots []uint32, err error) { return nil, nil, nil }

// Liars returns the slots whose answers to StepUnmask were found to be false, where the sum did not
// need them.
func (s *Server) Liars() []uint32 { return nil }
