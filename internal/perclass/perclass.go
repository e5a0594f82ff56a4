// Package perclass has what devices and coordinators must agree on in plans with classes: the form
// of a contribution with separate scalars for each class of the device's minibatch. Package
// coordinator/internal/perclass combines these scalars.
package perclass

import (
	"encoding/binary"
	"math"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// Least is how many samples of a class a minibatch must have so that the device sends scalars for
// the class. With fewer samples, the noise would outweigh the information. If no class has that
// many samples, the device sends the scalars of the classes with the most samples.
const Least = 5

// A Part is what a device sends about one class.
type Part struct {
	Class   uint32
	Count   uint32       // samples of the minibatch, 1 or more
	Scalars wire.Scalars // a block of P scalars
}

// MaxCount is the largest number of samples in a Part. A device with more samples sends MaxCount.
const MaxCount = 1<<24 - 1

// head is the number of bytes of a part before the scalars. The number is fixed and even, because
// frames hold scalars in even numbers of bytes.
const head = 4

// Append appends a part to a contribution. last is the class of the contribution's last part, or -1
// if it has no part. Append writes class-last-1 in one byte, the count in three bytes,
// little-endian, and then the scalars.
func Append(dst wire.Scalars, last int, p Part) wire.Scalars {
	skipped := uint32(int(p.Class) - last - 1)
	dst = binary.LittleEndian.AppendUint32(dst, min(p.Count, MaxCount)<<8|skipped)
	return append(dst, p.Scalars...)
}

// Parts appends to dst the parts of a contribution s, in ascending order of classes, each with P
// scalars. The parts share the memory of s. ok is false if s has another form, has no part, or has
// more samples than the plan's minibatch.
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

// most returns the largest possible number of samples of a minibatch.
func most(plan *plan.Plan) uint64 {
	if plan.Batch > 0 {
		return uint64(plan.Batch)
	}
	return math.MaxUint32
}

// MostBytes returns the largest possible number of bytes of a contribution.
func MostBytes(plan *plan.Plan, p int) int {
	parts := min(uint64(plan.Classes), most(plan))
	return int(parts) * (head + plan.Precision.Bytes(p))
}

// Shares returns the answer of a device to a survey of kind [survey.Sketch]: the share of each
// class in the device's samples, then zeros.
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

// AreShares says whether values can be a result of [Shares] for a plan.
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
