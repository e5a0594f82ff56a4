package outbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/zofl/zofl/client/internal/files"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// errUploadFile says that the stored upload is not one that this device wrote.
var errUploadFile = errors.New("not a vector of this device")

// An upload file holds the head of a file of package files, LE32 the bits of the announced step
// size, LE32 the announced perturbations, LE32 the length of the upload's frame, the frame without
// a piece, the SHA-256 of all that, and the vector. The frame contains the vector's digest and
// length.
const (
	uploadMagic   = "zofl upload 1\n"
	uploadHead    = 12
	uploadHeadMax = len(uploadMagic) + files.Overhead + uploadHead + 256
)

// saveUpload stores the vector. PromiseVector calls saveUpload before the device sends the first
// piece. So this device sends no other vector for the same record, even after a crash. Otherwise
// the coordinator could mix pieces of two vectors.
func (o *Outbox) saveUpload() error {
	s, u := o.cfg.Files, &o.upload
	if s == nil {
		return nil
	}
	head := s.Head(uploadMagic)
	frame := u.head.Append(nil)
	head = binary.LittleEndian.AppendUint32(head, math.Float32bits(u.step))
	head = binary.LittleEndian.AppendUint32(head, u.p)
	head = append(binary.LittleEndian.AppendUint32(head, uint32(len(frame))), frame...)
	sum := sha256.Sum256(head)
	return s.Check(itemUpload, s.Save(itemUpload, func(w io.Writer) error {
		for _, part := range [][]byte{head, sum[:], u.vector} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	}))
}

// loadUpload loads the vector that an earlier process stored, unless this process sent a later
// vector that the store failed to save.
func (o *Outbox) loadUpload() error {
	s := o.cfg.Files
	err := s.Load(itemUpload, func(r *io.SectionReader) error {
		u, err := o.parseUpload(r)
		if err == nil && u.n > o.upload.n {
			o.upload = u
		}
		return err
	})
	return s.Loaded(itemUpload, errUploadFile, err)
}

// parseUpload reads an upload file. parseUpload allocates no more than the file's size. Once there
// is a plan, it allocates no more than the plan's largest vector.
func (o *Outbox) parseUpload(r *io.SectionReader) (upload, error) {
	head := make([]byte, min(r.Size(), int64(uploadHeadMax)))
	if _, err := io.ReadFull(r, head); err != nil {
		return upload{}, err
	}
	u, read, fault := o.parseUploadHead(head)
	if fault != "" {
		return u, fmt.Errorf("%w: %s", errUploadFile, fault)
	}
	if rest := uint64(r.Size()) - uint64(read); rest != u.head.Size || rest > o.largestVector() {
		return u, fmt.Errorf("%w: %d bytes, want %d, at most %d",
			errUploadFile, rest, u.head.Size, o.largestVector())
	}
	u.vector = make([]byte, u.head.Size)
	if _, err := r.ReadAt(u.vector, int64(read)); err != nil && err != io.EOF {
		return u, err
	}
	if got := wire.HashObject(u.vector); got != u.head.Digest {
		return u, fmt.Errorf("%w: the vector's digest is %x, want %x",
			errUploadFile, got[:8], u.head.Digest[:8])
	}
	return u, nil
}

// parseUploadHead parses what comes before the vector. parseUploadHead returns the upload without
// its vector, the number of bytes that it read, and a text that says what is wrong with these
// bytes.
func (o *Outbox) parseUploadHead(b []byte) (u upload, read int, fault string) {
	own := o.cfg.Files.Head(uploadMagic)
	if !bytes.HasPrefix(b, own) || len(b) < len(own)+uploadHead {
		return u, 0, "another run, id or format"
	}
	at := b[len(own):]
	read = len(own) + uploadHead + int(min(binary.LittleEndian.Uint32(at[8:]), math.MaxInt32/2))
	if len(b) < read+sha256.Size {
		return u, 0, "it ends early"
	}
	if sum := sha256.Sum256(b[:read]); !bytes.Equal(sum[:], b[read:read+sha256.Size]) {
		return u, 0, "the checksum is wrong"
	}
	frame, err := wire.DecodeUpload(at[uploadHead : read-len(own)])
	if err != nil {
		return u, 0, err.Error()
	}
	frame.Data, frame.Rest = nil, nil // Data and Rest alias b
	u.head = frame
	u.reply = reply{
		n: frame.N, tip: frame.Tip, final: true,
		step: math.Float32frombits(binary.LittleEndian.Uint32(at)),
		p:    binary.LittleEndian.Uint32(at[4:]),
	}
	return u, read + sha256.Size, ""
}

// largestVector bounds the length of this device's vector in bytes.
func (o *Outbox) largestVector() uint64 {
	p := o.cfg.Log.Plan()
	if p == nil {
		return 4 * plan.MaxDense
	}
	most := uint64(0)
	for phase := range uint8(3) {
		most = max(most, 4*p.Object(phase))
	}
	return most
}
