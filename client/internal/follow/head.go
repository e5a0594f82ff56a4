package follow

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// ignoreFor is how many heads in a row may name an earlier record or epoch than this device
// knows before it asks the log. Few are delayed on the way; a coordinator whose log lost
// its tail sends nothing else.
const ignoreFor = 3

var (
	// ErrNotOurs: the run's log does not hold what this replica applied.
	ErrNotOurs = errors.New("the log does not hold this replica's last record")
	// errForged: a head is at odds with the log.
	errForged = errors.New("announcement at odds with the log")
)

// A Head is where the log is, in the words of whoever announced it.
type Head struct {
	Last      uint64 // index of the log's last record, at least 1
	Epoch     uint64
	Records   wire.Records   // the log's last ones, up to Last; fewer than Last
	Reference wire.Reference // N = 0: none
}

// HeadOf returns the head that an announcement shows. ok is false where it cannot be one.
func HeadOf(a *wire.Announcement) (h Head, ok bool) {
	if a.N < 2 || uint64(a.Records.Len()) >= a.N { // there is no record before the plan
		return h, false
	}
	h = Head{Last: a.N - 1, Epoch: a.Epoch, Records: a.Records}
	if r, ok := a.Reference(); ok {
		h.Reference = r
	}
	return h, true
}

// first is the index of the first of Records.
func (h *Head) first() uint64 { return h.Last + 1 - uint64(h.Records.Len()) }

// A Standing is what became of following a head.
type Standing struct {
	At    bool // the replica is at the head
	Whole bool // and lacks no vector
	Ended bool // and the run has ended, with all of the state that can be had
}

// standing says where the replica stands.
func (f *Follower) standing(h *Head) Standing {
	s := Standing{At: f.replica.N() == h.Last}
	s.Whole = s.At && f.whole()
	// A run that ended brings no later vector in the place of one that is gone.
	s.Ended = s.At && f.replica.Ended() != nil && (s.Whole || f.objects.gone)
	return s
}

// To applies the records up to a head, compares the state with the reference there may
// be, and proves it where the run has ended. It fetches no vectors: see [Follower.Complete].
// A head that is older than what this device knows changes nothing.
//
// The error is [ErrNotOurs], final in the sense of [retry.Final], or one that the next head
// may cure.
func (f *Follower) To(ctx context.Context, h *Head) (Standing, error) {
	if err := f.reach(ctx, h); err != nil || f.replica.N() != h.Last {
		return f.standing(h), err
	}
	err := f.compare(ctx, h)
	if err == nil {
		err = f.prove(ctx, h)
	}
	return f.standing(h), err
}

// reach brings the replica to the head, unless that is older than what this device has
// seen, or lies.
func (f *Follower) reach(ctx context.Context, h *Head) error {
	// While a rollback is under way the replica is behind what is known.
	shorter := h.Last < f.course.known()
	if behind := h.Last < f.replica.N(); behind || shorter || h.Epoch < f.epoch {
		lost := behind && h.Epoch > f.replica.Epoch()
		if f.ignored++; f.ignored < ignoreFor && !lost {
			return nil
		}
		f.ignored = 0
		if err := f.Confirm(ctx); err != nil || behind {
			return err
		}
		if shorter {
			f.course.cut(h.Last)
		}
	}
	err := f.extend(ctx, h)
	if errors.Is(err, replica.ErrFork) {
		if err := f.Confirm(ctx); err != nil {
			return err
		}
		return fmt.Errorf("%w: %w", errForged, err)
	}
	if err == nil {
		f.epoch, f.ignored = h.Epoch, 0
	}
	return err
}

// extend applies the records up to the head, unless one that it brings is not what this
// replica applied. What this replica asks for on the way may be of another log than the
// head: one that lost its tail meanwhile.
func (f *Follower) extend(ctx context.Context, h *Head) error {
	if err := f.agrees(h); err != nil {
		return err
	}
	f.digests.heed(h) // a snapshot may have to agree with it
	if err := f.catchUp(ctx, h); err != nil {
		return err
	}
	return f.agrees(h)
}

// agrees says whether a head brings this replica's last record, if it brings a record
// with that index.
func (f *Follower) agrees(h *Head) error {
	n, fork := h.first(), false
	h.Records.Each(func(record []byte) bool {
		fork = n == f.replica.N() && wire.HashRecord(record) != f.replica.Hash()
		n++
		return n <= f.replica.N()
	})
	if fork {
		return fmt.Errorf("%w: record %d", replica.ErrFork, f.replica.N())
	}
	return nil
}

// Confirm asks whether the log holds the last record that this replica applied. If not,
// the log lost its tail or this replica followed another: [ErrNotOurs].
func (f *Follower) Confirm(ctx context.Context) error {
	if f.replica.N() == 0 {
		return ErrNotOurs
	}
	record, err := f.Record(ctx, f.replica.N())
	if err != nil {
		return err
	}
	return f.owns(record)
}

// owns checks that a record of the log is the last one that this replica applied.
func (f *Follower) owns(record []byte) error {
	if record == nil || wire.HashRecord(record) != f.replica.Hash() {
		return fmt.Errorf("%w, number %d", ErrNotOurs, f.replica.N())
	}
	return nil
}

// FetchPlan asks for record 1.
func (f *Follower) FetchPlan(ctx context.Context) ([]byte, error) {
	reply, err := f.fetch(ctx, 1, wire.MaxFrame)
	if err != nil {
		return nil, err
	}
	if reply.Records.Len() == 0 {
		return nil, fmt.Errorf("%w from 1 on", errNoRecords)
	}
	f.Heard(reply.Last)
	return first(reply.Records), nil
}

// FetchHead asks where the log is. It returns a head without records. The error is
// [ErrNotOurs] where the log does not hold this replica's last record.
func (f *Follower) FetchHead(ctx context.Context) (Head, error) {
	reply, err := f.fetch(ctx, f.replica.N(), 1)
	if err != nil {
		return Head{}, err
	}
	return Head{Last: reply.Last, Epoch: f.epoch}, f.owns(first(reply.Records))
}

// report tells the app.
func (f *Follower) report(p Progress) error { return f.cfg.Report(p) }

// passing says whether an error is one that the next head may cure.
func passing(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !retry.Final(err) && !errors.Is(err, ErrNotOurs)
}
