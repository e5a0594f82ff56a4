package replica

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Supply gives the state an object that the state lacks: data is float32, little-endian. If two
// objects are missing, the caller may supply them in any order. Supply does not keep data.
//
// The error matches [ErrObject] if no object of this digest is missing, or if the bytes have
// another length, another digest, or a NaN or an infinity. After an error the state is unchanged.
func (r *Replica) Supply(digest [wire.ObjectLen]byte, data []byte) error {
	wanted, fits, got := 0, 0, [wire.ObjectLen]byte{}
	for i := range r.objects {
		if h := &r.objects[i]; h.isWanted(digest) {
			if wanted++; h.fits(data) {
				fits++
			}
		}
	}
	if fits > 0 {
		got = wire.HashObject(data)
	}
	if fits == 0 || got != digest {
		return wrongObject(wanted, fits, len(data), digest)
	}
	if err := checkFinite(data); err != nil {
		return err
	}
	for i := range r.objects {
		if h := &r.objects[i]; h.isWanted(digest) && h.fits(data) {
			r.replace(i, data)
		}
	}
	r.settle()
	return nil
}

func (h *objectState) isWanted(digest [wire.ObjectLen]byte) bool {
	return h.want.N > 0 && h.want.Digest == digest
}

func (h *objectState) fits(data []byte) bool { return uint64(len(data)) == 4*h.want.Elements }

// wrongObject explains why an object of this size does not fit a digest.
func wrongObject(wanted, fits, size int, digest [wire.ObjectLen]byte) error {
	switch {
	case wanted == 0:
		return fmt.Errorf("%w: no object of digest %x is missing: call Missing for those that are",
			ErrObject, digest[:8])
	case fits == 0:
		return fmt.Errorf("%w: %d bytes for digest %x, another length than Missing says: "+
			"fetch it again", ErrObject, size, digest[:8])
	}
	return fmt.Errorf("%w: the digest of %d bytes is not %x: fetch it again",
		ErrObject, size, digest[:8])
}

// checkFinite refuses elements that cannot be the mean of contributions.
func checkFinite(data []byte) error {
	const exponent = 0x7f800000
	for i := 0; i < len(data); i += 4 {
		if bits := binary.LittleEndian.Uint32(data[i:]); bits&exponent == exponent {
			return fmt.Errorf("%w: element %d is %v: the coordinator that made the record is "+
				"at fault, roll back to an earlier one",
				ErrObject, i/4, math.Float32frombits(bits))
		}
	}
	return nil
}

// replace copies an object into the vectors that objects of its kind replace.
func (r *Replica) replace(kind int, data []byte) {
	h := &r.objects[kind]
	*h = objectState{from: h.want.N}
	dst := [][]float32{r.x, nil}
	switch {
	case kind == ofParams && r.plan.Control == plan.ScaffoldMean:
		dst[1] = r.control
	case kind == ofOther && r.plan.Estimator == plan.Surrogate:
		dst[0] = r.w
	case kind == ofOther:
		dst[0] = r.control
	}
	for _, v := range dst {
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		data = data[4*len(v):]
	}
}
