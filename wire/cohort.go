package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire/internal/shuffle"
)

// A Cohort is the set of devices that an attempt asks for contributions. From its two integers
// anybody can compute the set.
//
// With roster=dense, where devices have slots (Members > 0), the cohort contains slot s if and only
// if pi(s) < Sampled. pi is a permutation of 0..Members-1, so the cohort has exactly Sampled
// devices. With roster=open (Members = 0), the cohort contains a device if and only if a 32-bit
// hash of its id is below Sampled; [FullThreshold] means all devices.
type Cohort struct {
	Sampled uint64
	Members uint32
}

// Purposes of a draw. The two draws differ, so that the devices that evaluate are not always those
// that contribute.
const (
	drawRound = "round"
	drawEval  = "eval"
)

// Has says whether an attempt at a record asks a device for a contribution. n is the record's
// [plan.Plan.Draw].
func (c Cohort) Has(run string, n uint64, attempt uint32, slot uint32, id string) bool {
	return c.has(drawRound, run, n, attempt, slot, id)
}

// Slots returns the slots that an attempt at a record asks, where devices have slots, in no useful
// order. n is the record's [plan.Plan.Draw]. The running time depends only on the number of slots
// that the attempt asks.
func (c Cohort) Slots(run string, n uint64, attempt uint32) iter.Seq[uint32] {
	key := drawKey(drawRound, run, n, attempt)
	return func(yield func(uint32) bool) {
		for i := range uint32(min(c.Sampled, uint64(c.Members))) {
			if !yield(shuffle.Back(i, c.Members, key)) {
				return
			}
		}
	}
}

// EvalShare returns the count for [Cohort.Evaluates]. Where devices have slots, the count is
// EvalCount. With an open roster the count is a threshold for hashes of ids: EvalCount devices
// evaluate if the hashes of Target times OverSample devices are below c.Sampled.
func (c Cohort) EvalShare(p *plan.Plan) uint64 {
	if c.Members > 0 {
		return uint64(p.EvalCount)
	}
	share := c.Sampled * uint64(p.EvalCount) / max(p.Asked(), 1)
	return min(share, FullThreshold)
}

// Evaluates reports whether a device evaluates the state after record n. c is the
// cohort of the announcement that carries record n, and count is its EvalShare.
func (c Cohort) Evaluates(run string, n uint64, count uint64, slot uint32, id string) bool {
	return Cohort{count, c.Members}.has(drawEval, run, n, 0, slot, id)
}

func (c Cohort) has(purpose, run string, n uint64, attempt, slot uint32, id string) bool {
	if c.Members > 0 && c.Sampled >= uint64(c.Members) { // all: nothing to draw
		return slot < c.Members
	}
	key := drawKey(purpose, run, n, attempt)
	if c.Members > 0 {
		return slot < c.Members && uint64(shuffle.To(slot, c.Members, key)) < c.Sampled
	}
	h := sha256.New()
	h.Write(binary.LittleEndian.AppendUint64(nil, uint64(key)))
	h.Write([]byte(id))
	return uint64(binary.LittleEndian.Uint32(h.Sum(nil))) < c.Sampled
}

// drawKey is the first 8 bytes, little-endian, of SHA-256("zofl/1 draw\x00" +
// purpose + "\x00" + run + "\x00" + LE64(n) + LE32(attempt)).
func drawKey(purpose, run string, n uint64, attempt uint32) prng.Key {
	b := []byte("zofl/1 draw\x00" + purpose + "\x00" + run + "\x00")
	b = binary.LittleEndian.AppendUint64(b, n)
	b = binary.LittleEndian.AppendUint32(b, attempt)
	sum := sha256.Sum256(b)
	return prng.Key(binary.LittleEndian.Uint64(sum[:]))
}
