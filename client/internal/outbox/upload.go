package outbox

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/wire"
)

var (
	// errNotWanted says that the coordinator refused this device's vector.
	errNotWanted = errors.New("the coordinator refused the vector: " +
		"the record is not open to this device, or the vector breaks the plan's limits")
	// errUpload says that the answer to a piece is malformed or impossible.
	errUpload = errors.New("bad answer to a piece of a vector")
)

// An upload is this device's contribution with transport=dense: a vector, which the device sends in
// pieces. The coordinator answers each piece with how much of the vector it has. So the device
// knows where to go on, even after another coordinator took over.
//
// Invariants:
//  1. If there is a working store, the store has the vector before the device sends a piece.
//  2. vector has the digest and the length that head says.
type upload struct {
	reply  // the announcement that the upload answers; frame is nil
	head   wire.Upload
	vector []byte // float32 little-endian
	has    uint64 // bytes that the coordinator with this epoch has
	epoch  uint64 // in which the device last sent a piece
	ending ending
	piece  []byte // scratch
}

// An ending is the coordinator's final answer to an upload. The answer is valid for one attempt of
// one epoch, for two reasons. A coordinator that restarted has no vectors. And if two coordinators
// believe that they lead, the answer may have come from the wrong coordinator.
type ending struct {
	state   wire.UploadState // 0: no final answer
	epoch   uint64
	attempt uint32
}

// over says whether the coordinator gave a final answer that is still valid for an
// announcement.
func (u *upload) over(a *wire.Announcement) bool {
	return u.ending.state != 0 && u.ending.epoch == a.Epoch && u.ending.attempt == a.Attempt
}

// taken says whether an announcement's coordinator seems to have the vector.
func (u *upload) taken(a *wire.Announcement) bool {
	return u.ending.state == wire.UploadTaken && u.ending.epoch == a.Epoch
}

// PromiseVector makes a vector this device's reply to an announcement, with the weight and loss of
// r, and stores the vector. [Outbox.Deliver] sends the vector.
func (o *Outbox) PromiseVector(a *Ask, r *wire.Reply, v []float32) error {
	u := &o.upload
	vector := appendVector(u.vector[:0], v)
	*u = upload{
		reply: reply{n: a.N, tip: r.Tip, final: true, step: a.StepSize, p: a.Perturbations},
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
	b = slices.Grow(b, 4*len(v))
	for _, e := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(e))
	}
	return b
}

// Deliver sends the vector that answers an announcement, and returns the loss that goes with the
// vector. ctx ends with the round. sent is false if the coordinator has the vector from an earlier
// attempt.
func (o *Outbox) Deliver(
	ctx context.Context, a *wire.Announcement,
) (loss float32, sent bool, err error) {
	u := &o.upload
	if u.over(a) {
		return 0, false, nil
	}
	if sent, err = o.send(ctx, a); err != nil {
		return 0, false, fmt.Errorf("upload of %d bytes, %d received: %w", u.head.Size, u.has, err)
	}
	return u.head.Loss, sent, nil
}

// send sends pieces until the coordinator has the vector or refuses it, or until ctx ends with the
// round. After a piece without progress, send pauses, longer each time, until the coordinator has
// more bytes than ever before. In two cases send asks the coordinator and sends no piece. In the
// first case, the coordinator has no memory for the vector: many devices may wait, and a piece
// would be wasted. In the second case, the coordinator seems to have the vector. sent says whether
// send sent a piece.
func (o *Outbox) send(ctx context.Context, a *wire.Announcement) (sent bool, err error) {
	u := &o.upload
	if u.epoch != a.Epoch { // a coordinator that restarted has no bytes of the vector
		u.has, u.epoch = 0, a.Epoch
	}
	shortest, asks := o.cfg.Pauses.First(), u.taken(a) // asks: send a question, not a piece
	for pause, most := shortest, u.has; ; {
		if err := o.cfg.Report(u.n, u.has, u.head.Size); err != nil {
			return sent, err
		}
		asked := asks
		sent = sent || !asked
		reply, err := o.sendPiece(ctx, asked)
		asks = err == nil && reply.State == wire.UploadBusy
		switch {
		case retry.Final(err):
			return sent, err
		case err != nil && ctx.Err() != nil:
			return sent, context.Cause(ctx)
		case err == nil && (reply.State == wire.UploadTaken || reply.State == wire.UploadRefused):
			return sent, u.end(reply.State, a)
		case err == nil && reply.State == wire.UploadMore && (reply.Offset > u.has || asked):
			if u.has = reply.Offset; u.has > most {
				pause, most = shortest, u.has
			}
			continue
		}
		wait := o.cfg.Pauses.Jitter(pause)
		switch {
		case err != nil:
			o.cfg.Logger.Info("no answer to a piece",
				"record", u.n, "offset", u.has, "err", err, "retry", wait)
		case reply.State == wire.UploadMore:
			u.has = reply.Offset
		case reply.Wait > 0:
			busy := time.Duration(reply.Wait) * time.Millisecond
			wait = busy + o.cfg.Pauses.Jitter(busy)
		}
		if err := retry.Sleep(ctx, wait); err != nil {
			return sent, err
		}
		pause = o.cfg.Pauses.Next(pause)
	}
}

// end notes the coordinator's final answer.
func (u *upload) end(state wire.UploadState, a *wire.Announcement) error {
	u.ending = ending{state, a.Epoch, a.Attempt}
	if state == wire.UploadRefused {
		return errNotWanted
	}
	return nil
}

// sendPiece sends the next piece, or only asks whether the coordinator takes it.
func (o *Outbox) sendPiece(ctx context.Context, asks bool) (wire.UploadReply, error) {
	u := &o.upload
	frame := u.head
	if frame.Offset = u.has; !asks {
		frame.Data = u.vector[u.has:min(u.has+o.cfg.Room(wire.MaxPiece), u.head.Size)]
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
		return reply, fmt.Errorf("%w: got record %d, byte %d of %d, want record %d",
			errUpload, reply.N, reply.Offset, u.head.Size, u.n)
	}
	return reply, nil
}
