package client

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/zofl/zofl/wire"
)

var (
	// errNotWanted: the coordinator does not take this device's vector.
	errNotWanted = errors.New("the coordinator refused the vector: the record is not open to this device, or its numbers are none that it takes")
	// errUpload: an answer to a piece is none that can be.
	errUpload = errors.New("bad answer to a vector's piece")
)

// An upload is this device's contribution to a record of a dense run: a vector, which
// travels in pieces. Each is answered with what the coordinator has of it, so that
// whoever leads the run says where to go on.
//
// Invariants:
//  1. The store has it before its first piece is sent, if there is a store that works.
//  2. vector has the digest and the length that head says.
type upload struct {
	sent   // what it answers; it has no frame
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
	state wire.UploadState // 0: nothing final
	epoch uint64
	tries uint32
}

// over says whether an announcement asks for nothing that was not answered.
func (u *upload) over(a *arrival) bool {
	e := &u.ending
	return e.epoch == a.Epoch && (e.state == wire.UploadTaken || e.state == wire.UploadRefused && e.tries == a.Attempt)
}

// reconsider forgets a refusal: to a coordinator that had lost its members this device
// may have been nobody.
func (u *upload) reconsider() {
	if u.ending.state == wire.UploadRefused {
		u.ending = ending{}
	}
}

// settled says whether the vector is this device's last word to an announcement.
func (u *upload) settled(a *arrival, tip wire.Tip) bool { return u.answers(a, tip) && u.over(a) }

// dense says whether devices of this run send vectors.
func (c *Client) dense() bool { return c.replica.Plan().SendsVectors() }

// offer makes the vector of an estimation this device's contribution, keeps it, and
// sends it within the round.
func (c *Client) offer(ctx, round context.Context, a *arrival, reply *wire.Reply) error {
	u := &c.upload
	vector := appendVector(u.vector[:0], c.vector)
	*u = upload{
		sent: sent{n: a.N, tip: reply.Tip, final: true, step: a.Step, p: a.Perturbations},
		head: wire.Upload{
			N: a.N, Tip: reply.Tip, Weight: reply.Weight, Loss: reply.Loss,
			Size: uint64(len(vector)), Digest: wire.HashObject(vector),
		},
		vector: vector, piece: u.piece,
	}
	if err := c.keepUpload(); err != nil {
		return err
	}
	return c.deliver(ctx, round, a)
}

// appendVector appends the elements of v, little-endian.
func appendVector(b []byte, v []float32) []byte {
	for _, e := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(e))
	}
	return b
}

// resumeUpload goes on with the upload that answers an announcement, unless the coordinator
// said all that there is to say.
func (c *Client) resumeUpload(ctx context.Context, a *arrival) error {
	if c.upload.over(a) {
		return nil
	}
	round, cancel := c.roundContext(ctx, a)
	defer cancel()
	return c.deliver(ctx, round, a)
}

// deliver sends the upload within the round, and says what came of it.
func (c *Client) deliver(ctx, round context.Context, a *arrival) error {
	u := &c.upload
	err := c.send(round, a)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case fatal(err):
		return fmt.Errorf("upload: %w", err)
	case err != nil: // the next announcement goes on
		c.cfg.Logger.Warn("vector not sent", "record", u.n, "sent", u.has, "bytes", u.head.Size, "err", err)
		err = fmt.Errorf("upload of %d bytes, %d sent: %w", u.head.Size, u.has, err)
		return c.record(Progress{State: Waiting, Err: err})
	}
	return c.record(Progress{State: Waiting, Contributed: true, Loss: float64(u.head.Loss)})
}

// send sends pieces until the coordinator has the vector, refuses it, or ctx, the
// round's, ends. It pauses after a piece that brought the upload no further, longer
// each time until it comes further than before. Where there was no place for it, it
// only asks for one the next time: many may wait, and none need send a piece in vain.
func (c *Client) send(ctx context.Context, a *arrival) error {
	u := &c.upload
	if u.asked != a.Epoch { // a coordinator that restarted has nothing
		u.has, u.asked = 0, a.Epoch
	}
	shortest, asks := c.cfg.RetryMax/32, false
	for pause, most := shortest, u.has; ; {
		if err := c.record(Progress{State: Working, Vector: u.n, Received: u.has, Size: u.head.Size}); err != nil {
			return err
		}
		asked := asks
		reply, err := c.sendPiece(ctx, asked)
		asks = err == nil && reply.State == wire.UploadBusy
		switch {
		case fatal(err):
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
		wait := c.jitter(pause)
		switch {
		case err != nil:
			c.cfg.Logger.Info("piece not answered", "record", u.n, "offset", u.has, "err", err, "retry", wait)
		case reply.State == wire.UploadMore:
			u.has = reply.Offset
		case reply.Wait > 0:
			busy := time.Duration(reply.Wait) * time.Millisecond
			wait = busy + c.jitter(busy)
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
		pause = min(2*pause, c.cfg.RetryMax)
	}
}

// end notes what the coordinator said of the upload.
func (u *upload) end(state wire.UploadState, a *arrival) error {
	u.ending = ending{state, a.Epoch, a.Attempt}
	if state == wire.UploadRefused {
		return errNotWanted
	}
	return nil
}

// sendPiece sends the next piece, or only asks for it.
func (c *Client) sendPiece(ctx context.Context, asks bool) (wire.UploadReply, error) {
	u := &c.upload
	frame := u.head
	if frame.Offset = u.has; !asks {
		frame.Data = u.vector[u.has:min(u.has+wire.MaxPiece, u.head.Size)]
	}
	u.piece = frame.Append(u.piece[:0])
	b, err := c.request(ctx, wire.UploadSubject(c.cfg.Run, c.cfg.ID), u.piece)
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
