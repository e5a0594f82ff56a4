package wire

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
)

// A Reference is the digest that the run trusts for the state after record N. The digest comes from
// a witness or from the reports of most devices. A device whose state after N has another digest
// must rebuild its state.
type Reference struct {
	N      uint64
	Tip    Tip     // of record N
	Digest [8]byte // the first bytes of the state's digest
}

// Append appends the encoding of r to b: the array [n, tip, digest].
func (r *Reference) Append(b []byte) []byte {
	b = codec.AppendUint(codec.AppendArray(b, 3), r.N)
	b = codec.AppendBin(b, r.Tip[:])
	return codec.AppendBin(b, r.Digest[:])
}

// Reference returns the reference at the beginning of an announcement's Rest, if there is one. Any
// other bytes in Rest belong to a later version and are no error.
func (a *Announcement) Reference() (r Reference, ok bool) {
	if len(a.Rest) == 0 {
		return Reference{}, false
	}
	d := reader{codec.NewReader("reference", a.Rest)}
	d.Tuple("reference", 3)
	r.N = d.Uint("n", math.MaxInt64)
	d.Positive("n", r.N)
	d.bytes("tip", r.Tip[:])
	d.bytes("digest", r.Digest[:])
	if !d.OK() {
		return Reference{}, false
	}
	return r, true
}
