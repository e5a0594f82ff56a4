package wire

import "math"

// A Reference is the digest that the run trusts for the state after record N, from a
// witness or from most devices' reports. A device whose state after N has another
// digest must rebuild it.
type Reference struct {
	N      uint64
	Tip    Tip     // of record N
	Digest [8]byte // the first bytes of the state's digest
}

// Append appends the encoding of r to b: the array [n, tip, digest].
func (r *Reference) Append(b []byte) []byte {
	b = appendUint(appendArray(b, 3), r.N)
	b = appendBin(b, r.Tip[:])
	return appendBin(b, r.Digest[:])
}

// Reference returns the reference with which Rest of an announcement begins, if it has
// one. Anything else there belongs to a later version and is no error.
func (a *Announcement) Reference() (r Reference, ok bool) {
	d := reader{frame: "reference", b: a.Rest}
	d.tuple("reference", 3)
	r.N = d.uint("n", math.MaxInt64)
	d.positive("n", r.N)
	d.bytes("tip", r.Tip[:])
	d.bytes("digest", r.Digest[:])
	if d.err != nil {
		return Reference{}, false
	}
	return r, true
}
