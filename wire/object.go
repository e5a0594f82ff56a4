package wire

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/plan"
)

// An ObjectRequest asks for bytes of a record's dense vector, from Offset on, at most about
// MaxBytes bytes.
type ObjectRequest struct {
	Digest   [ObjectLen]byte // [Round.Object]
	Offset   uint64
	MaxBytes uint64
	Rest     []byte
}

// Append appends the encoding of r to b: the array [version, digest, offset,
// maxBytes], then Rest.
func (r *ObjectRequest) Append(b []byte) []byte {
	b = codec.AppendBin(append(codec.AppendArray(b, 4), FrameVersion), r.Digest[:])
	b = codec.AppendUint(codec.AppendUint(b, r.Offset), r.MaxBytes)
	return append(b, r.Rest...)
}

// DecodeObjectRequest reads a request for a vector.
func DecodeObjectRequest(b []byte) (ObjectRequest, error) {
	d := newReader("object request", b)
	d.Head(FrameVersion, 4)
	var r ObjectRequest
	d.bytes("digest", r.Digest[:])
	r.Offset = d.Uint("offset", 4*plan.MaxDense)
	r.MaxBytes = d.Uint("max bytes", math.MaxUint32)
	r.Rest = d.Rest()
	if !d.OK() {
		return ObjectRequest{}, d.err()
	}
	return r, nil
}

// An ObjectReply carries bytes of a dense vector that has Size bytes. Size = 0: the log does not
// hold this vector, or no longer holds the vector.
type ObjectReply struct {
	Size   uint64
	Offset uint64
	Data   []byte
	Rest   []byte
}

// Append appends the encoding of r to b: the array [version, size, offset, data],
// then Rest.
func (r *ObjectReply) Append(b []byte) []byte {
	b = codec.AppendUint(append(codec.AppendArray(b, 4), FrameVersion), r.Size)
	b = codec.AppendBin(codec.AppendUint(b, r.Offset), r.Data)
	return append(b, r.Rest...)
}

// DecodeObjectReply reads the reply to an ObjectRequest. Data and Rest alias b.
func DecodeObjectReply(b []byte) (ObjectReply, error) {
	d := newReader("object reply", b)
	d.Head(FrameVersion, 4)
	r := ObjectReply{Size: d.Uint("size", 4*plan.MaxDense), Offset: d.Uint("offset", 4*plan.MaxDense)}
	r.Data = d.Bin("data", MaxPiece)
	if d.OK() && uint64(len(r.Data)) > r.Size-min(r.Offset, r.Size) {
		d.Fail("data", ErrValue)
	}
	r.Rest = d.Rest()
	if !d.OK() {
		return ObjectReply{}, d.err()
	}
	return r, nil
}
