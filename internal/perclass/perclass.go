// Package perclass has what devices and coordinators agree on about classes, where plans have them:
// the contributions with a device's scalars for each class of its minibatch.
// coordinator/internal/perclass combines them.
package perclass

import (
	"encoding/binary"
	"math"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// Least is how many samples of a class a minibatch must have for the class's scalars to be sent.
// With fewer samples, the noise would outweigh the information. If no class has so many, the
// classes with the most are sent.
const Least = 5

// A Part is what a device sends about one class.
type Part struct {
	Class   uint32
	Count   uint32       // samples of the minibatch, 1 or more
	Scalars wire.Scalars // a block of P scalars
}

// MaxCount bounds the samples that a part says it has. A device with more samples sends this
// number.
const MaxCount = 1<<24 - 1

// head is the bytes of a part before its scalars. Frames hold scalars in even numbers of bytes,
// which a number of varying length would break.
const head = 4

// Append appends a part to a contribution. last is the class of its last part, or -1 if it has
// none. It writes class-last-1 in a byte and count in three, little-endian, then the scalars.
func Append(dst wire.Scalars, last int, p Part) wire.Scalars {
	skipped := uint32(int(p.Class) - last - 1)
	dst = binary.LittleEndian.AppendUint32(dst, min(p.Count, MaxCount)<<8|skipped)
	return append(dst, p.Scalars...)
}

// Parts appends to dst the parts of a contribution, which share its memory: P scalars each, classes
// ascending. ok is false if s is of another form, has no part, or samples beyond the plan's
// minibatch.
func Parts(dst []Part, plan *plan.Plan, s wire.Scalars, p int) (parts []Part, ok bool) {
	size, left := head+plan.Precision.Bytes(p), most(plan)
	for next := uint32(0); len(s) > 0; next++ {
		if len(s) < size {
			return dst, false
		}
		word := binary.LittleEndian.Uint32(s)
		part := Part{next + word&0xff, word >> 8, s[head:size:size]}
		if part.Class >= plan.Classes || part.Count < 1 || uint64(part.Count) > left ||
			!plan.Precision.Fits(part.Scalars, 1, p) {
			return dst, false
		}
		next, left = part.Class, left-uint64(part.Count)
		dst, s = append(dst, part), s[size:]
	}
	return dst, len(dst) > 0
}

// most returns how many samples a minibatch has at most.
func most(plan *plan.Plan) uint64 {
	if plan.Batch > 0 {
		return uint64(plan.Batch)
	}
	return math.MaxUint32
}

// MostBytes returns how many bytes a contribution has at most.
func MostBytes(plan *plan.Plan, p int) int {
	parts := min(uint64(plan.Classes), most(plan))
	return int(parts) * (head + plan.Precision.Bytes(p))
}

// Shares returns the answer of a device to a survey of kind [survey.Sketch]: the share of each
// class in its samples, then zeros.
func Shares(counts []int) []float32 {
	shares, all := make([]float32, survey.Sketched), 0.0
	for _, n := range counts {
		all += float64(n)
	}
	for c, n := range counts {
		shares[c] = float32(float64(n) / max(all, 1))
	}
	return shares
}

// AreShares says whether values can be what [Shares] returns for a plan.
func AreShares(plan *plan.Plan, values []float32) bool {
	sum := 0.0
	for c, v := range values {
		if !(v >= 0 && v <= 1) || v > 0 && c >= int(plan.Classes) {
			return false
		}
		sum += float64(v)
	}
	const rounding = 1e-3
	return math.Abs(sum-1) < rounding
}
