package wire

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
	"github.com/zofl/zofl/plan"
)

// An Upload is a piece of a device's contribution to record N with [plan.DenseVectors]: the bytes
// of its vector, float32 little-endian, from Offset on. Every piece also has all other fields of a
// [Contribution]. So a coordinator that just started can receive the vector from its beginning or
// continue in the middle.
type Upload struct {
	N      uint64
	Tip    Tip    // of record N-1
	Weight uint32 // samples, 1..MaxWeight
	Loss   float32
	Size   uint64 // bytes of the whole vector
	Digest [ObjectLen]byte
	Offset uint64
	Data   []byte
	Rest   []byte // fields of later versions
}

// Append appends the encoding of u to b: the array [version, n, tip, weight, loss,
// size, digest, offset, data], then Rest.
func (u *Upload) Append(b []byte) []byte {
	b = codec.AppendUint(append(codec.AppendArray(b, 9), FrameVersion), u.N)
	b = codec.AppendBin(b, u.Tip[:])
	b = codec.AppendFloat(codec.AppendUint(b, uint64(u.Weight)), u.Loss)
	b = codec.AppendUint(b, u.Size)
	b = codec.AppendBin(b, u.Digest[:])
	b = codec.AppendBin(codec.AppendUint(b, u.Offset), u.Data)
	return append(b, u.Rest...)
}

// DecodeUpload reads an upload without allocating; Data and Rest alias b.
func DecodeUpload(b []byte) (Upload, error) {
	d := reader{codec.NewReader("upload", b)}
	if len(b) > MaxFrame {
		d.Fail("upload", ErrLimit)
	}
	d.Head(FrameVersion, 9)
	var u Upload
	u.N = d.Uint("n", math.MaxInt64)
	d.Positive("n", u.N)
	d.bytes("tip", u.Tip[:])
	u.Weight = d.weight()
	u.Loss = d.Float("loss")
	u.Size = d.Uint("size", 4*plan.MaxDense)
	if d.OK() && (u.Size == 0 || u.Size%4 != 0) {
		d.Fail("size", ErrValue)
	}
	d.bytes("digest", u.Digest[:])
	u.Offset = d.Uint("offset", 4*plan.MaxDense)
	u.Data = d.Bin("data", MaxPiece)
	if d.OK() && uint64(len(u.Data)) > u.Size-min(u.Offset, u.Size) {
		d.Fail("data", ErrValue)
	}
	u.Rest = d.Rest()
	if !d.OK() {
		return Upload{}, d.err()
	}
	return u, nil
}

// UploadState is the coordinator's answer to an [Upload].
type UploadState uint8

const (
	// UploadMore: the coordinator wants the vector from Offset on.
	UploadMore UploadState = 1
	// UploadTaken: the coordinator holds the whole vector and counts it.
	UploadTaken UploadState = 2
	// UploadBusy: the coordinator has no memory for another unfinished vector. The device sends the
	// piece again after Wait milliseconds.
	UploadBusy UploadState = 3
	// UploadRefused: the coordinator does not want the vector. The record is not open, the device was
	// not asked, or the vector holds numbers that the coordinator does not accept.
	UploadRefused UploadState = 4
)

func (s UploadState) String() string {
	return codec.Name([]string{"", "more", "taken", "busy", "refused"}, int(s))
}

// An UploadReply answers an [Upload].
type UploadReply struct {
	N      uint64
	State  UploadState
	Offset uint64 // UploadMore: bytes that the coordinator already has
	Wait   uint64 // UploadBusy: milliseconds
	Rest   []byte
}

// Append appends the encoding of r to b: the array [version, n, state, offset,
// wait], then Rest.
func (r *UploadReply) Append(b []byte) []byte {
	b = codec.AppendUint(append(codec.AppendArray(b, 5), FrameVersion), r.N)
	b = codec.AppendUint(b, uint64(r.State))
	b = codec.AppendUint(codec.AppendUint(b, r.Offset), r.Wait)
	return append(b, r.Rest...)
}

// DecodeUploadReply reads an upload's answer. Rest aliases b.
func DecodeUploadReply(b []byte) (UploadReply, error) {
	d := newReader("upload reply", b)
	d.Head(FrameVersion, 5)
	r := UploadReply{N: d.Uint("n", math.MaxInt64)}
	r.State = UploadState(d.Known("state", uint64(UploadRefused)))
	d.Positive("state", uint64(r.State))
	r.Offset = d.Uint("offset", 4*plan.MaxDense)
	r.Wait = d.Uint("wait", math.MaxUint32)
	r.Rest = d.Rest()
	if !d.OK() {
		return UploadReply{}, d.err()
	}
	return r, nil
}
