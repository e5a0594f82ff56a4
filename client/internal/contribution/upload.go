package contribution

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/wire"
)

var (
	// errNotWanted: the coordinator does not take this device's vector.
	errNotWanted = errors.New("the coordinator refused the vector: the record is not open to this device, or its numbers are none that it takes")
	// errUpload: an answer to a piece is none that can be.
	errUpload = errors.New("bad answer to a vector's piece")
)

// An upload is this device's contribution with transport=dense: a vector, which travels in
// pieces. Each is answered with what the coordinator has of it, so that whoever leads the
// run says where to go on.
//
// Invariants:
//  1. The store has it before its first piece is sent, if there is a store that works.
//  2. vector has the digest and the length that head says.
type upload struct {
	reply  // what it answers; it has no frame
	head   wire.Upload
	vector []byte // float32 little-endian
	has    uint64 // bytes that the coordinator has, of epoch asked
	asked  uint64 // epoch in which a piece was sent last
	ending ending
	piece  []byte // scratch
}

// An ending is what the coordinator said last of an upload: taken stands for its
// epoch, as a coordinator that restarted has no vectors, refused for its attempt.
type ending struct {
	state   wire.UploadState // 0: nothing final
	epoch   uint64
	attempt uint32
}

// over says whether an announcement asks for nothing that was not answered.
func (u *upload) over(a *wire.Announcement) bool {
	e := &u.ending
	return e.epoch == a.Epoch && (e.state == wire.UploadTaken || e.state == wire.UploadRefused && e.attempt == a.Attempt)
}

// PromiseVector makes a vector this device's reply to an announcement, with the weight and
// loss of r, and keeps it in the store. [Outbox.Deliver] sends it.
func (o *Outbox) PromiseVector(a *wire.Announcement, r *wire.Reply, v []float32) error {
	u := &o.upload
	vector := appendVector(u.vector[:0], v)
	*u = upload{
		reply: reply{n: a.N, tip: r.Tip, final: true, step: a.Step, p: a.Perturbations},
		head: wire.Upload{
			N: a.N, Tip: r.Tip, Weight: r.Weight, Loss: r.Loss,
			Size: uint64(len(vector)), Digest: wire.HashObject(vector),
		},
		vector: vector, piece: u.piece,
	}
	return o.saveUpload()
}

// appendVector appends the elements of v, little-endian.
func appendVector(b []byte, v []float32) []byte {
	for _, e := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(e))
	}
	return b
}

// Deliver sends the vector that answers an announcement until ctx, the round's, ends, and
// returns the loss that goes with it. sent is false where the coordinator said earlier all
// that there is to say.
func (o *Outbox) Deliver(ctx context.Context, a *wire.Announcement) (loss float32, sent bool, err error) {
	u := &o.upload
	if u.over(a) {
		return 0, false, nil
	}
	if err := o.send(ctx, a); err != nil {
		return 0, false, fmt.Errorf("upload of %d bytes, %d sent: %w", u.head.Size, u.has, err)
	}
	return u.head.Loss, true, nil
}

// send sends pieces until the coordinator has the vector, refuses it, or ctx, the
// round's, ends. It pauses after a piece that brought the upload no further, longer
// each time until it comes further than before. Where there was no place for it, it
// only asks for one the next time: many may wait, and none need send a piece in vain.
func (o *Outbox) send(ctx context.Context, a *wire.Announcement) error {
	u := &o.upload
	if u.asked != a.Epoch { // a coordinator that restarted has nothing
		u.has, u.asked = 0, a.Epoch
	}
	shortest, asks := o.cfg.Pauses.First(), false
	for pause, most := shortest, u.has; ; {
		if err := o.cfg.Report(u.n, u.has, u.head.Size); err != nil {
			return err
		}
		asked := asks
		reply, err := o.sendPiece(ctx, asked)
		asks = err == nil && reply.State == wire.UploadBusy
		switch {
		case retry.Final(err):
			return err
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && (reply.State == wire.UploadTaken || reply.State == wire.UploadRefused):
			return u.end(reply.State, a)
		case err == nil && reply.State == wire.UploadMore && (reply.Offset > u.has || asked):
			if u.has = reply.Offset; u.has > most {
				pause, most = shortest, u.has
			}
			continue
		}
		wait := o.cfg.Pauses.Jitter(pause)
		switch {
		case err != nil:
			o.cfg.Logger.Info("piece not answered", "record", u.n, "offset", u.has, "err", err, "retry", wait)
		case reply.State == wire.UploadMore:
			u.has = reply.Offset
		case reply.Wait > 0:
			busy := time.Duration(reply.Wait) * time.Millisecond
			wait = busy + o.cfg.Pauses.Jitter(busy)
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return err
		}
		pause = o.cfg.Pauses.Next(pause)
	}
}

// end notes what the coordinator said of the upload.
func (u *upload) end(state wire.UploadState, a *wire.Announcement) error {
	u.ending = ending{state, a.Epoch, a.Attempt}
	if state == wire.UploadRefused {
		return errNotWanted
	}
	return nil
}

// sendPiece sends the next piece, or only asks for it.
func (o *Outbox) sendPiece(ctx context.Context, asks bool) (wire.UploadReply, error) {
	u := &o.upload
	frame := u.head
	if frame.Offset = u.has; !asks {
		frame.Data = u.vector[u.has:min(u.has+wire.MaxPiece, u.head.Size)]
	}
	u.piece = frame.Append(u.piece[:0])
	b, err := o.cfg.Upload(ctx, u.piece)
	if err != nil {
		return wire.UploadReply{}, err
	}
	reply, err := wire.DecodeUploadReply(b)
	switch {
	case err != nil:
		return reply, fmt.Errorf("%w: %w", errUpload, err)
	case reply.N != u.n || reply.State == wire.UploadMore && reply.Offset >= u.head.Size:
		return reply, fmt.Errorf("%w: record %d, byte %d of %d: asked about record %d", errUpload, reply.N, reply.Offset, u.head.Size, u.n)
	}
	return reply, nil
}
