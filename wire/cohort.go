package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"math/bits"

	"github.com/zofl/zofl/prng"
)

// A Cohort is the set of devices asked in an attempt, as two integers from which
// anybody can compute it.
//
// With roster=dense, where devices have slots (Members > 0), slot s is in if and only
// if pi(s) < Sampled, where pi is a permutation of 0..Members-1; so exactly Sampled
// devices are in. With roster=open (Members = 0), a device is in if and only if a
// 32-bit hash of its id is below Sampled; [FullThreshold] means all devices.
type Cohort struct {
	Sampled uint64
	Members uint32
}

// Purposes of a draw. Different ones keep evaluations from falling always to the
// devices that also contribute.
const (
	drawRound = "round"
	drawEval  = "eval"
)

// Has reports whether a device is asked in an attempt of record n.
func (c Cohort) Has(run string, n uint64, attempt uint32, slot uint32, id string) bool {
	return c.has(drawRound, run, n, attempt, slot, id)
}

// Slots returns the slots that are asked in an attempt of record n, in no useful order, where
// devices have slots. It takes time for those slots only, however many others there are.
func (c Cohort) Slots(run string, n uint64, attempt uint32) iter.Seq[uint32] {
	key := drawKey(drawRound, run, n, attempt)
	return func(yield func(uint32) bool) {
		for i := range uint32(min(c.Sampled, uint64(c.Members))) {
			if !yield(unpermute(i, c.Members, key)) {
				return
			}
		}
	}
}

// EvalShare returns the count for [Cohort.Evaluates]: with slots EvalCount; with an
// open roster the threshold at which EvalCount devices evaluate if c.Sampled is the
// threshold at which Target times OverSample devices are asked.
func (p *Plan) EvalShare(c Cohort) uint64 {
	if c.Members > 0 {
		return uint64(p.EvalCount)
	}
	share := c.Sampled * uint64(p.EvalCount) / max(p.asked(), 1)
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
		return slot < c.Members && uint64(permute(slot, c.Members, key)) < c.Sampled
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

const feistelRounds = 12

// unpermute is the inverse of permute.
func unpermute(slot, members uint32, key prng.Key) uint32 {
	half := (bits.Len32(members-1) + 1) / 2
	mask := uint32(1)<<half - 1
	for {
		l, r := slot>>half, slot&mask
		for i := range uint32(feistelRounds) {
			l, r = r^prng.Philox([4]uint32{l, feistelRounds - 1 - i, 0, 0}, key)[0]&mask, l
		}
		if slot = l<<half | r; slot < members {
			return slot
		}
	}
}

// permute applies a pseudo-random permutation of 0..members-1 to slot: a
// Feistel network of 12 rounds over the smallest even number of bits that holds
// members-1, applied again until the result is below members. Round i maps the
// halves (l, r) to (r, l XOR low bits of Philox({r, i, 0, 0}, key)[0]).
//
// With halves of one to three bits, four rounds are far from uniform: of 5 slots
// drawn 2 at a time, one pair came up 1.7 times as often as it should.
func permute(slot, members uint32, key prng.Key) uint32 {
	half := (bits.Len32(members-1) + 1) / 2
	mask := uint32(1)<<half - 1
	for {
		l, r := slot>>half, slot&mask
		for i := range uint32(feistelRounds) {
			l, r = r, l^prng.Philox([4]uint32{r, i, 0, 0}, key)[0]&mask
		}
		if slot = l<<half | r; slot < members {
			return slot
		}
	}
}
