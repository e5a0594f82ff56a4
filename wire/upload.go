package wire

import "math"

// An Upload is a piece of a device's contribution to record N with [DenseVectors]: the
// bytes of its vector, float32 little-endian, from Offset on. Every piece has all
// other fields of a [Contribution], so that any coordinator, also one that has just
// started, can receive the vector from its beginning or continue in the middle.
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
	b = appendUint(append(appendArray(b, 9), FrameVersion), u.N)
	b = appendBin(b, u.Tip[:])
	b = appendFloat(appendUint(b, uint64(u.Weight)), u.Loss)
	b = appendUint(b, u.Size)
	b = appendBin(b, u.Digest[:])
	b = appendBin(appendUint(b, u.Offset), u.Data)
	return append(b, u.Rest...)
}

// DecodeUpload reads an upload without allocating; Data and Rest alias b.
func DecodeUpload(b []byte) (Upload, error) {
	d := reader{frame: "upload", b: b}
	if len(b) > MaxFrame {
		d.fail("upload", ErrLimit)
	}
	d.head(FrameVersion, 9)
	var u Upload
	u.N = d.uint("n", math.MaxInt64)
	d.positive("n", u.N)
	d.bytes("tip", u.Tip[:])
	u.Weight = d.weight()
	u.Loss = d.float("loss")
	u.Size = d.uint("size", 4*MaxDense)
	if d.err == nil && (u.Size == 0 || u.Size%4 != 0) {
		d.fail("size", ErrValue)
	}
	d.bytes("digest", u.Digest[:])
	u.Offset = d.uint("offset", 4*MaxDense)
	u.Data = d.bin("data", MaxPiece)
	if d.err == nil && uint64(len(u.Data)) > u.Size-min(u.Offset, u.Size) {
		d.fail("data", ErrValue)
	}
	u.Rest = d.rest()
	if d.err != nil {
		return Upload{}, d.err
	}
	return u, nil
}

// UploadState is the coordinator's answer to an [Upload].
type UploadState uint8

const (
	// UploadMore: the coordinator wants the vector from Offset on.
	UploadMore UploadState = 1
	// UploadTaken: the coordinator has the whole vector and counts it.
	UploadTaken UploadState = 2
	// UploadBusy: the coordinator has no memory for another unfinished vector; ask
	// again after Wait milliseconds.
	UploadBusy UploadState = 3
	// UploadRefused: the coordinator does not want the vector. The record is not open,
	// the device is not asked, or the vector has numbers that are not accepted.
	UploadRefused UploadState = 4
)

func (s UploadState) String() string {
	return enumName([]string{"", "more", "taken", "busy", "refused"}, int(s))
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
	b = appendUint(append(appendArray(b, 5), FrameVersion), r.N)
	b = appendUint(b, uint64(r.State))
	b = appendUint(appendUint(b, r.Offset), r.Wait)
	return append(b, r.Rest...)
}

// DecodeUploadReply reads an upload's answer. Rest aliases b.
func DecodeUploadReply(b []byte) (UploadReply, error) {
	d := newReader("upload reply", b)
	d.head(FrameVersion, 5)
	r := UploadReply{N: d.uint("n", math.MaxInt64)}
	r.State = UploadState(d.known("state", uint64(UploadRefused)))
	d.positive("state", uint64(r.State))
	r.Offset = d.uint("offset", 4*MaxDense)
	r.Wait = d.uint("wait", math.MaxUint32)
	r.Rest = d.rest()
	if d.err != nil {
		return UploadReply{}, d.err
	}
	return r, nil
}
