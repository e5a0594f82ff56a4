package wire

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/plan"
)

// A Known is what a joining device knows of the run. To a device that has accepted no plan yet, the
// coordinator sends the plan but no slot. So a device that cannot run the plan never gets a slot.
type Known struct {
	Key  Tip    // [KeyTip] of the plan that it accepted; zero: none
	Plan Tip    // of record 1
	N    uint64 // last record that it applied; 0: none
	Tip  Tip    // of record N
}

// Append appends the encoding of k to b: the array [key, plan, n, tip].
func (k *Known) Append(b []byte) []byte {
	b = codec.AppendBin(codec.AppendArray(b, 4), k.Key[:])
	b = codec.AppendBin(b, k.Plan[:])
	b = codec.AppendUint(b, k.N)
	return codec.AppendBin(b, k.Tip[:])
}

// Known returns what the device knows, if Rest of a join request begins with a Known, and the bytes
// after it. ok is false for a device of an earlier version: such a device reads the plan only after
// it has a slot.
func (r *JoinRequest) Known() (k Known, rest []byte, ok bool) {
	d := reader{codec.NewReader("known", r.Rest)}
	d.Tuple("known", 4)
	d.bytes("key", k.Key[:])
	d.bytes("plan", k.Plan[:])
	k.N = d.Uint("n", math.MaxInt64)
	d.bytes("tip", k.Tip[:])
	if !d.OK() {
		return Known{}, nil, false
	}
	return k, d.Rest(), true
}

// KeyTip identifies the key from which a plan's directions derive, and so the run. KeyTip is the
// first 8 bytes of SHA-256("zofl/1 key\x00" + RunKey), with KeyCheck in place of RunKey if the key
// is secret. KeyTip does not reveal a secret key.
func KeyTip(p *plan.Plan) Tip {
	key := p.RunKey
	if p.Private() {
		key = p.KeyCheck
	}
	return hash(append([]byte("zofl/1 key\x00"), key...)).Tip()
}
