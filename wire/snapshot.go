package wire

import (
	"math"

	"github.com/zofl/zofl/internal/codec"
)

// A SnapshotRequest asks for a piece of a snapshot of the state after record N, or of the newest
// snapshot if N is 0: the bytes from Offset on, in a reply of at most about MaxBytes bytes. With
// MaxBytes = 0 the request asks only for the N, tip and size of the snapshot.
type SnapshotRequest struct {
	N        uint64
	Offset   uint64
	MaxBytes uint64
	Rest     []byte
}

// Append appends the encoding of r to b: the array [version, n, offset,
// maxBytes], then Rest.
func (r *SnapshotRequest) Append(b []byte) []byte {
	b = append(codec.AppendArray(b, 4), FrameVersion)
	b = codec.AppendUint(b, r.N)
	b = codec.AppendUint(b, r.Offset)
	b = codec.AppendUint(b, r.MaxBytes)
	return append(b, r.Rest...)
}

// DecodeSnapshotRequest reads a snapshot request.
func DecodeSnapshotRequest(b []byte) (SnapshotRequest, error) {
	d := newReader("snapshot request", b)
	d.Head(FrameVersion, 4)
	r := SnapshotRequest{
		N:        d.Uint("n", math.MaxInt64),
		Offset:   d.Uint("offset", math.MaxInt64),
		MaxBytes: d.Uint("max bytes", math.MaxUint32),
		Rest:     d.Rest(),
	}
	if !d.OK() {
		return SnapshotRequest{}, d.err()
	}
	return r, nil
}

// SnapshotPiece is the largest number of bytes of a snapshot in one reply.
const SnapshotPiece = MaxFrame - 128

// A SnapshotReply carries bytes of a snapshot, a file of Size bytes that holds the state after
// record N. Package client/replica defines the file's format. N = 0: there is no snapshot, or the
// requested snapshot is gone.
type SnapshotReply struct {
	N      uint64
	Tip    Tip // of record N
	Size   uint64
	Offset uint64
	Data   []byte
	Rest   []byte
}

// Append appends the encoding of r to b: the array [version, n, tip, size,
// offset, data], then Rest.
func (r *SnapshotReply) Append(b []byte) []byte {
	b = append(codec.AppendArray(b, 6), FrameVersion)
	b = codec.AppendUint(b, r.N)
	b = codec.AppendBin(b, r.Tip[:])
	b = codec.AppendUint(b, r.Size)
	b = codec.AppendUint(b, r.Offset)
	b = codec.AppendBin(b, r.Data)
	return append(b, r.Rest...)
}

// DecodeSnapshotReply reads a snapshot reply. Data and Rest alias b.
func DecodeSnapshotReply(b []byte) (SnapshotReply, error) {
	d := newReader("snapshot reply", b)
	d.Head(FrameVersion, 6)
	var r SnapshotReply
	r.N = d.Uint("n", math.MaxInt64)
	d.bytes("tip", r.Tip[:])
	r.Size = d.Uint("size", math.MaxInt64)
	r.Offset = d.Uint("offset", math.MaxInt64)
	r.Data = d.Bin("data", MaxFrame)
	if d.OK() && uint64(len(r.Data)) > r.Size-min(r.Offset, r.Size) {
		d.Fail("data", ErrValue)
	}
	r.Rest = d.Rest()
	if !d.OK() {
		return SnapshotReply{}, d.err()
	}
	return r, nil
}
