package wire

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
)

// A LogStart says that the log no longer has its records up to N: the log begins with the state
// after record N. A device that needs one of these records fetches a snapshot.
type LogStart struct {
	N    uint64
	Hash Hash // of record N
}

// Append appends the encoding of s to b: the array [n, hash].
func (s *LogStart) Append(b []byte) []byte {
	b = codec.AppendUint(codec.AppendArray(b, 2), s.N)
	return codec.AppendBin(b, s.Hash[:])
}

// Start returns where the log begins, if Rest of a catch-up reply begins with a LogStart. A
// catch-up reply carries a LogStart if the log no longer has the requested records. ok is false if
// the reply carries no LogStart.
func (r *CatchUpReply) Start() (s LogStart, ok bool) {
	d := reader{codec.NewReader("log start", r.Rest)}
	d.Tuple("log start", 2)
	s.N = d.Uint("n", math.MaxInt64)
	d.bytes("hash", s.Hash[:])
	return s, d.OK() && s.N > 0
}
