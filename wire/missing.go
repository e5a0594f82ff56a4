package wire

import (
	"encoding/binary"
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/plan"
)

// MaxMissing bounds the bytes of the slots that an announcement names as missing.
const MaxMissing = 256

// Missing holds the slots of the devices for which an announcement still waits. A repetition of an
// announcement names the missing slots when they are few. A device that has answered, and whose
// slot is not missing, does not answer again.
//
// The slots ascend. The slots are coded as unsigned LEB128 numbers: the first slot, then each
// difference from the slot before, less 1.
type Missing []byte

// MissingOf returns the encoding of ascending slots. ok is false if the slots need more than
// MaxMissing bytes.
func MissingOf(slots []uint32) (m Missing, ok bool) {
	next := uint32(0)
	for _, slot := range slots {
		m = binary.AppendUvarint(m, uint64(slot-next))
		if len(m) > MaxMissing {
			return nil, false
		}
		next = slot + 1
	}
	return m, true
}

// Has says whether a slot is missing.
func (m Missing) Has(slot uint32) bool {
	next := uint64(0)
	for len(m) > 0 {
		gap, n := binary.Uvarint(m)
		if n <= 0 || gap > plan.MaxMembers {
			return false
		}
		if next += gap; next >= uint64(slot) {
			return next == uint64(slot)
		}
		next++
		m = m[n:]
	}
	return false
}

// Tail returns the bytes that follow an announcement: the reference, unless its N is 0, and the
// missing slots, unless named is false.
func Tail(reference Reference, m Missing, named bool) []byte {
	var b []byte
	switch {
	case reference.N > 0:
		b = reference.Append(nil)
	case named:
		b = codec.AppendArray(nil, 0)
	}
	if named {
		b = codec.AppendBin(codec.AppendArray(b, 1), m)
	}
	return b
}

// Missing returns the slots that Rest of an announcement names after its reference. ok is false if
// the announcement has no list of missing slots: then every device that the announcement asks
// answers, even a device that has answered before.
func (a *Announcement) Missing() (m Missing, ok bool) {
	d := reader{codec.NewReader("missing", a.Rest)}
	switch n := d.Array("reference", codec.MaxFields, 1); n {
	case 0:
	case 3:
		d.Uint("n", math.MaxInt64)
		d.Bin("tip", MaxHead)
		d.Bin("digest", MaxHead)
	default:
		return nil, false
	}
	d.Tuple("missing", 1)
	m = d.Bin("missing", MaxMissing)
	return m, d.OK()
}
