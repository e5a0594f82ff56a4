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
	// errGone: the coordinator has a vector no longer that the state lacks.
	errGone = errors.New("vector gone")
	// errObject: what came is not the vector that a record names.
	errObject = errors.New("bad vector")
)

// objects are the vectors of a dense run that the state lacks.
type objects struct {
	parts []part
	gone  bool                 // one of them was, when it was asked for last
	told  [wire.ObjectLen]byte // of the last that was told to be gone or unusable
	spare []byte               // memory of one that came
}

// A part is a vector that comes in pieces. What came stays, for another time.
type part struct {
	replica.Object
	data []byte
	bad  error // it is the record's, and no state can have it
}

// whole says whether the state lacks no vector.
func (f *Follower) whole() bool { return len(f.replica.Missing()) == 0 }

// Complete makes the state at the head whole, and compares it with the reference there may
// be. It asks for no vectors between the head and the record that the state was whole
// after. Where it cannot, it tells the app and says so; the next head brings another
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

// takeInstead takes a snapshot in the place of a vector that is gone, and goes on from
// there; without one the error is still that.
func (f *Follower) takeInstead(ctx context.Context, h *Head, gone error) error {
	if !f.mayTake(h.Last) {
		return gone
	}
	was := f.replica
	if err := f.takeSnapshot(ctx, h.Last, f.course.path(h.Last)); err != nil {
		return err
	}
	if f.replica == was {
		return gone
	}
	return f.catchUp(ctx, h)
}

// complete fetches what the state lacks and does what is due after it. A repair may
// begin the state anew, which lacks vectors then.
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

// incomplete tells what is in the way of a whole state; of a vector that nobody has any
// more once.
func (f *Follower) incomplete(err error) error {
	o := &f.objects
	f.cfg.Logger.Warn("the state is not whole", "record", f.replica.N(), "whole", f.replica.Whole(), "err", err)
	if errors.Is(err, errGone) || errors.Is(err, replica.ErrObject) {
		first := f.replica.Missing()[0].Digest
		if o.told == first {
			return nil
		}
		o.told = first
	}
	return f.report(Progress{Err: err})
}

// fetchObjects fetches the vectors that the state lacks, and supplies them together, so
// that parameters are of a whole state at any time.
func (f *Follower) fetchObjects(ctx context.Context) error {
	o, missing := &f.objects, f.replica.Missing()
	o.parts = slices.DeleteFunc(o.parts, func(p part) bool {
		return !slices.ContainsFunc(missing, func(m replica.Object) bool { return m.Digest == p.Digest })
	})
	for _, m := range missing {
		if err := f.fetchObject(ctx, o.part(m)); err != nil {
			o.gone = errors.Is(err, errGone)
			return err
		}
	}
	return f.supply()
}

// part returns the one of an object, begun if there is none.
func (o *objects) part(m replica.Object) *part {
	i := slices.IndexFunc(o.parts, func(p part) bool { return p.Digest == m.Digest && p.Elements == m.Elements })
	if i < 0 {
		i = len(o.parts)
		o.parts = append(o.parts, part{Object: m, data: o.spare[:0]})
		o.spare = nil
	}
	return &o.parts[i]
}

// fetchObject gets the rest of a vector, and asks more than once for a piece that does
// not come.
func (f *Follower) fetchObject(ctx context.Context, p *part) error {
	if p.bad != nil {
		return p.bad
	}
	size := 4 * p.Elements
	for uint64(len(p.data)) < size {
		var piece wire.ObjectReply
		err := f.again(ctx, Progress{Vector: p.N, Received: uint64(len(p.data)), Size: size}, func() (err error) {
			piece, err = f.askObject(ctx, p)
			return err
		})
		switch {
		case err != nil:
			return err
		case piece.Size == 0:
			return fmt.Errorf("%w: that of record %d: waiting for a later record", errGone, p.N)
		case piece.Size != size || piece.Offset != uint64(len(p.data)) || len(piece.Data) == 0:
			return fmt.Errorf("%w: record %d: %d bytes at %d of %d, asked for byte %d of %d",
				errObject, p.N, len(piece.Data), piece.Offset, piece.Size, len(p.data), size)
		}
		p.take(piece.Data, size)
	}
	return f.report(Progress{Vector: p.N, Received: size, Size: size})
}

// take adds a piece. Memory doubles as bytes come, up to size, the vector's.
func (p *part) take(piece []byte, size uint64) {
	if need := len(p.data) + len(piece); need > cap(p.data) {
		grown := make([]byte, len(p.data), min(max(2*cap(p.data), need), int(size)))
		copy(grown, p.data)
		p.data = grown
	}
	p.data = append(p.data, piece...)
}

// askObject asks for the next piece of a vector.
func (f *Follower) askObject(ctx context.Context, p *part) (wire.ObjectReply, error) {
	request := wire.ObjectRequest{Digest: p.Digest, Offset: uint64(len(p.data)), MaxBytes: wire.MaxPiece}
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

// supply gives the state the vectors that came. One that is not what its record names is
// fetched anew the next time; one that is, and that no state can have, is not.
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
