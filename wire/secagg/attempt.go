package secagg

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// MostAsked is the largest number of devices in a round: the more devices a round has, the fewer
// levels a scalar has.
const MostAsked = 4096

// LossRange limits the loss of a device in the sum: a larger loss counts as LossRange. The sum of
// losses is only for people: records have no loss.
const LossRange = 1 << 10

// DeclineSpent: the device already helped to unmask another attempt at this record. A device helps
// to unmask only one attempt at a record, because the sums of two attempts could reveal the scalars
// of a device that is in only one of the attempts.
const DeclineSpent wire.DeclineReason = 7

// noiseTails is the room for noise in the range of a scalar, in standard deviations of the noise.
const noiseTails = 8

// Range returns R: devices cut scalars to [-R, R]. R is secure_range if the plan has it. Else, if
// devices add noise, R is dp_clip plus 8 standard deviations of a device's noise. Else R is
// max_scalar. R is at most max_scalar.
func Range(p *plan.Plan) float32 {
	device, _ := p.Noisy()
	switch {
	case p.SecureRange > 0:
		return min(p.SecureRange, p.MaxScalar)
	case device:
		own := dpnoise.Multiplier(p.DPNoise, p.DPOf, p.Quorum)
		return min(p.DPClip*float32(1+noiseTails*own), p.MaxScalar)
	}
	return p.MaxScalar
}

// Codings return how scalars, and the loss, become words in a round of this many devices.
func Codings(p *plan.Plan, devices int) (scalars, loss Coding) {
	return Coding{Range: Range(p), Units: uint32(devices)},
		Coding{Range: LossRange, Units: uint32(devices)}
}

// An Attempt is what a device and the coordinator must agree on before the first step.
type Attempt struct {
	Run    string
	N      uint64
	Tip    wire.Tip // of record N-1
	Epoch  uint64
	Number uint32
	Cohort wire.Cohort
	// Out is a bitmap over the cohort's slots, ascending, low bits first. A set bit stands for a
	// device that the coordinator knows to be away. The last byte of Out is not zero.
	Out   []byte
	Words int // the scalars of a device, plus 1 for its loss
}

// Of returns the attempt that an announcement opens, for this many scalars. tip is the tip of the
// record before N.
func Of(run string, a *wire.Announcement, tip wire.Tip, scalars int) Attempt {
	return Attempt{Run: run, N: a.N, Tip: tip, Epoch: a.Epoch, Number: a.Attempt,
		Cohort: a.Cohort, Out: OutOf(a.Rest), Words: scalars + 1}
}

// Slots returns the slots of the cohort, ascending. Slots returns nil if the cohort has more than
// [MostAsked] slots.
func (a *Attempt) Slots() []uint32 {
	if min(a.Cohort.Sampled, uint64(a.Cohort.Members)) > MostAsked {
		return nil
	}
	slots := slices.Collect(a.Cohort.Slots(a.Run, a.N, a.Number))
	slices.Sort(slots)
	return slots
}

// Leave sets Out to the slots of the cohort for which away returns true.
func (a *Attempt) Leave(away func(slot uint32) bool) {
	a.Out = nil
	for i, slot := range a.Slots() {
		if !away(slot) {
			continue
		}
		for len(a.Out) <= i/8 {
			a.Out = append(a.Out, 0)
		}
		a.Out[i/8] |= 1 << (i % 8)
	}
}

// Round returns the round of the devices that are not out. Where all devices are neighbors, the
// threshold is at least the plan's quorum. A higher threshold makes the smallest sum larger that a
// coordinator can get by showing devices different lists.
func (a *Attempt) Round(p *plan.Plan) Round {
	var members []uint32
	for i, slot := range a.Slots() {
		if i/8 >= len(a.Out) || a.Out[i/8]>>(i%8)&1 == 0 {
			members = append(members, slot)
		}
	}
	return Round{Context: a.context(), Members: members, Words: a.Words,
		Threshold: Threshold(len(members), p.Quorum), Agree: p.SecureLists > 0}
}

// Threshold returns how many of a neighborhood, including its center, must stay to the end of a
// round of this many devices.
func Threshold(devices int, quorum uint32) int {
	degree, threshold := Graph(devices)
	if degree+1 == devices {
		threshold = max(threshold, min(int(quorum), devices))
	}
	return threshold
}

// context returns the name of the attempt, which no other attempt of the run has.
func (a *Attempt) context() []byte {
	b := append([]byte(a.Run), 0)
	b = binary.LittleEndian.AppendUint64(b, a.N)
	b = append(b, a.Tip[:]...)
	b = binary.LittleEndian.AppendUint64(b, a.Epoch)
	return binary.LittleEndian.AppendUint32(b, a.Number)
}

// Nonce returns the short name of the attempt in frames: the first 8 bytes of the SHA-256 of the
// run's name, a zero, n, the tip, the epoch and the attempt, little-endian.
func (a *Attempt) Nonce() (nonce [NonceLen]byte) {
	h := sha256.Sum256(a.context())
	copy(nonce[:], h[:])
	return nonce
}

// Tail returns the tail of an announcement with the devices that are out. The tail begins with
// rest, the result of [wire.Tail]. An empty array stands for each of three arrays that rest lacks.
// The array [out] comes last.
func Tail(rest, out []byte) []byte {
	if len(out) == 0 {
		return rest
	}
	for range 3 - places(rest) {
		rest = codec.AppendArray(rest, 0)
	}
	return codec.AppendBin(codec.AppendArray(rest, 1), out)
}

// OutOf returns the devices that an announcement's tail names as out. Bytes that OutOf cannot read
// belong to a later version.
func OutOf(rest []byte) []byte {
	d := codec.NewReader("announcement", rest)
	skip(&d)
	d.Tuple("out", 1)
	out := d.Bin("out", MostAsked/8)
	if !d.OK() {
		return nil
	}
	return out
}

// places returns how many of the arrays before [out] a tail holds.
func places(rest []byte) (n int) {
	d := codec.NewReader("announcement", rest)
	for len(d.Rest()) > 0 && n < 3 {
		array(&d, n)
		n++
	}
	return n
}

// skip reads the reference, the missing slots, and the array of a survey.
func skip(d *codec.Reader) {
	for n := range 3 {
		array(d, n)
	}
}

func array(d *codec.Reader, place int) {
	switch elements := d.Array("tail", codec.MaxFields, 1); {
	case elements == 0:
	case place == 0 && elements == 3:
		d.Uint("n", math.MaxInt64)
		d.Bin("tip", wire.MaxHead)
		d.Bin("digest", wire.MaxHead)
	case place == 1 && elements == 1:
		d.Bin("missing", wire.MaxMissing)
	case place == 2 && elements == 1:
		d.Uint("survey", math.MaxUint8)
	default:
		d.Fail("tail", wire.ErrForm)
	}
}
