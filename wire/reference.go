package wire

import "math"

// A Reference is what a run takes for the digest of the state after record N,
// by a witness or by what most devices report: whoever holds another state
// there has to rebuild it.
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

// Reference returns the reference that follows a's array, if one does; Rest of
// an announcement that brings one begins with its encoding. What else follows,
// or stands in its place, is of later versions and no fault.
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
