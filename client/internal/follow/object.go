package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

var (
	// errGone says that the coordinator no longer has a vector that the state lacks.
	errGone = errors.New("vector gone")
	// errObject says that the bytes that came are not the vector that a record names.
	errObject = errors.New("bad vector")
)

// objects says which vectors the state lacks, with transport=dense.
type objects struct {
	parts    []part
	gone     bool                 // at the last request, the coordinator lacked one of the vectors
	reported [wire.ObjectLen]byte // digest of the vector last reported as gone or unusable
	spare    []byte               // memory of an earlier vector, to use again
}

// A part is a vector of which only some pieces have arrived. The device keeps the pieces for later
// tries.
type part struct {
	replica.Object
	data []byte
	bad  error // why no state can take the vector, although its digest is right
}

// whole says whether the state lacks no vector.
func (f *Follower) whole() bool { return len(f.replica.Missing()) == 0 }

// Complete fetches the vectors that the state at the head lacks, and compares the state with the
// run's reference, if there is one. Complete skips vectors that later vectors replaced. If a vector
// does not come, Complete reports why, and Standing.Whole is false; the next head is another
// chance.
func (f *Follower) Complete(ctx context.Context, h *Head) (Standing, error) {
	for !f.whole() {
		err := f.complete(ctx, h)
		if errors.Is(err, errGone) {
			err = f.takeInstead(ctx, h, err)
		}
		switch {
		case ctx.Err() != nil:
			return f.standing(h), context.Cause(ctx)
		case err != nil && !passing(ctx, err):
			return f.standing(h), err
		case err != nil:
			return f.standing(h), f.incomplete(err)
		}
	}
	return f.standing(h), nil
}

// takeInstead takes a snapshot because a vector is gone, and catches up from the snapshot. If there
// is no snapshot, takeInstead returns gone.
func (f *Follower) takeInstead(ctx context.Context, h *Head, gone error) error {
	if !f.mayTake(h.Last) {
		return gone
	}
	before := f.replica
	if err := f.takeSnapshot(ctx, h.Last, f.course.path(h.Last)); err != nil {
		return err
	}
	if f.replica == before {
		return gone
	}
	return f.catchUp(ctx, h)
}

// complete fetches the vectors that the state lacks, and then does the tasks that are due. The
// state may lack vectors again afterwards, because a repair may rebuild the state.
func (f *Follower) complete(ctx context.Context, h *Head) error {
	if err := f.fetchObjects(ctx); err != nil {
		return err
	}
	n := f.replica.N()
	f.digestIfDue(n)
	if err := f.witness(n); err != nil {
		return err
	}
	if err := f.compare(ctx, h); err != nil {
		return err
	}
	return f.prove(ctx, h)
}

// incomplete reports why the state is not whole. incomplete reports only once that a vector is gone
// or unusable.
func (f *Follower) incomplete(err error) error {
	o := &f.objects
	f.cfg.Logger.Warn("the state lacks vectors",
		"record", f.replica.N(), "whole", f.replica.Whole(), "err", err)
	if errors.Is(err, errGone) || errors.Is(err, replica.ErrObject) {
		first := f.replica.Missing()[0].Digest
		if o.reported == first {
			return nil
		}
		o.reported = first
	}
	return f.report(Progress{Err: err})
}

// fetchObjects fetches the vectors that the state lacks, and gives them to the state together. So
// the parameters always belong to a whole state.
func (f *Follower) fetchObjects(ctx context.Context) error {
	o, missing := &f.objects, f.replica.Missing()
	o.parts = slices.DeleteFunc(o.parts, func(p part) bool {
		return !slices.ContainsFunc(missing,
			func(m replica.Object) bool { return m.Digest == p.Digest })
	})
	for _, m := range missing {
		if err := f.fetchObject(ctx, o.part(m)); err != nil {
			o.gone = errors.Is(err, errGone)
			return err
		}
	}
	return f.supply()
}

// part returns an object's part, and begins one if there is none.
func (o *objects) part(m replica.Object) *part {
	i := slices.IndexFunc(o.parts, func(p part) bool {
		return p.Digest == m.Digest && p.Elements == m.Elements
	})
	if i < 0 {
		i = len(o.parts)
		o.parts = append(o.parts, part{Object: m, data: o.spare[:0]})
		o.spare = nil
	}
	return &o.parts[i]
}

// fetchObject fetches the rest of a vector, and asks again for a piece that does not come.
func (f *Follower) fetchObject(ctx context.Context, p *part) error {
	if p.bad != nil {
		return p.bad
	}
	size := 4 * p.Elements
	for uint64(len(p.data)) < size {
		var piece wire.ObjectReply
		progress := Progress{Vector: p.N, Received: uint64(len(p.data)), Size: size}
		err := f.again(ctx, progress, func() (err error) {
			if piece, err = f.askObject(ctx, p); err == nil && piece.Size == 0 && f.replica.Ended() != nil {
				err = goneOf(p) // another coordinator may still have the vector: ask again
			}
			return err
		})
		switch {
		case err != nil:
			return err
		case piece.Size == 0:
			return goneOf(p)
		case piece.Size != size || piece.Offset != uint64(len(p.data)) || len(piece.Data) == 0:
			return fmt.Errorf("%w: record %d: %d bytes at %d of %d, asked for byte %d of %d",
				errObject, p.N, len(piece.Data), piece.Offset, piece.Size, len(p.data), size)
		}
		p.take(piece.Data, size)
	}
	return f.report(Progress{Vector: p.N, Received: size, Size: size})
}

func goneOf(p *part) error {
	return fmt.Errorf("%w: the coordinator no longer has that of record %d: "+
		"waiting for a later record", errGone, p.N)
}

// take adds a piece. With the first piece, take allocates the whole vector, whose size the plan
// says: a part that grew would be in memory twice for a while.
func (p *part) take(piece []byte, size uint64) {
	if uint64(cap(p.data)) < size {
		p.data = append(make([]byte, 0, size), p.data...)
	}
	p.data = append(p.data, piece...)
}

// askObject requests the next piece of a vector.
func (f *Follower) askObject(ctx context.Context, p *part) (wire.ObjectReply, error) {
	request := wire.ObjectRequest{
		Digest: p.Digest, Offset: uint64(len(p.data)),
		MaxBytes: f.cfg.Source.Room(wire.MaxPiece),
	}
	b, err := f.cfg.Source.Object(ctx, request.Append(nil))
	if err != nil {
		return wire.ObjectReply{}, fmt.Errorf("vector of record %d: %w", p.N, err)
	}
	reply, err := wire.DecodeObjectReply(b)
	if err != nil {
		return reply, fmt.Errorf("%w: record %d: %w", errObject, p.N, err)
	}
	return reply, nil
}

// supply gives the complete vectors to the state. If the digest of a vector is wrong, the device
// fetches the vector again the next time. If the digest is right but no state can take the vector,
// the device does not fetch the vector again.
func (f *Follower) supply() error {
	o := &f.objects
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range o.parts {
		p := &o.parts[i]
		err := f.replica.Supply(p.Digest, p.data)
		switch {
		case err == nil:
			continue
		case wire.HashObject(p.data) == p.Digest:
			p.bad = err
		default:
			err = fmt.Errorf("%w: %w", errObject, err)
		}
		p.data = nil
		return err
	}
	for i := range o.parts {
		if p := &o.parts[i]; cap(p.data) > cap(o.spare) {
			o.spare = p.data
		}
	}
	o.parts, o.gone = nil, false
	return nil
}
