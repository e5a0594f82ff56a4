package follow

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// ignoreFor is how many heads in a row may name an earlier record or epoch than this device knows,
// before the device asks the log. A few such heads may be delayed announcements. A coordinator
// whose log lost its tail sends only such heads.
const ignoreFor = 3

var (
	// ErrNotOurs says that the run's log does not hold the last record that this replica applied.
	ErrNotOurs = errors.New("the log does not hold this replica's last record")
	// errForged says that a head contradicts the log.
	errForged = errors.New("announcement contradicts the log")
)

// A Head says where the log ends, according to the coordinator that announced it.
type Head struct {
	Last      uint64 // index of the log's last record, at least 1
	Epoch     uint64
	Records   wire.Records   // the log's last records, up to Last; fewer than Last
	Reference wire.Reference // N = 0: none

	// packed is the short form of record Last. packed stands in place of Records until the replica is
	// at the record before. Until then tip is the tip of record Last; otherwise tip is zero.
	packed *compact.Announcement
	tip    wire.Tip
}

// HeadOf returns the head in an announcement. ok is false if no log can have such a head.
func HeadOf(a *compact.Announcement) (h Head, ok bool) {
	if a.N < 2 || uint64(a.Records.Len()) >= a.N { // there is no record before the plan
		return h, false
	}
	h = Head{Last: a.N - 1, Epoch: a.Epoch, Records: a.Records}
	if a.Compact() {
		h.packed, h.tip = a, a.Tip
	}
	if r, ok := a.Reference(); ok {
		h.Reference = r
	}
	return h, true
}

// first is the index of the first element of Records.
func (h *Head) first() uint64 { return h.Last + 1 - uint64(h.Records.Len()) }

// unpack rebuilds record Last if the replica is at the record before it, because unpack needs that
// record's hash. If the record does not follow the replica's log, unpack leaves it out. Then the
// log decides, as for a head without records.
func (h *Head) unpack(r *replica.Replica) {
	if h.packed == nil || r.N()+1 != h.Last {
		return
	}
	if record, err := h.packed.Record(r.Hash()); err == nil {
		h.Records.Add(record)
	}
	h.packed = nil
}

// A Standing says how far the follower got towards a head.
type Standing struct {
	At    bool // the replica is at the head
	Whole bool // At, and the replica lacks no vector
	Ended bool // At, and the run has ended, with every vector that is still available
}

// standing returns the replica's standing towards a head.
func (f *Follower) standing(h *Head) Standing {
	s := Standing{At: f.replica.N() == h.Last}
	s.Whole = s.At && f.whole()
	// After the run's end, no later vector replaces one that is gone.
	s.Ended = s.At && f.replica.Ended() != nil && (s.Whole || f.objects.gone)
	return s
}

// To applies the records up to a head. To compares the state with the run's reference, if there is
// one, and proves the state if the run has ended. To fetches no vectors: see [Follower.Complete]. A
// head older than the known head changes nothing.
//
// The error is [ErrNotOurs], or a final error (see [retry.Final]), or an error that the next head
// may cure.
func (f *Follower) To(ctx context.Context, h *Head) (Standing, error) {
	followed, err := f.reach(ctx, h)
	switch {
	case err == nil && !followed:
		return Standing{}, nil // though the replica may be at a record of that index
	case err != nil, f.replica.N() != h.Last:
		return f.standing(h), err
	}
	err = f.compare(ctx, h)
	if err == nil {
		err = f.prove(ctx, h)
	}
	return f.standing(h), err
}

// reach brings the replica to the head. If the head is older than what this device knows, or
// contradicts the log, reach ignores the head, and followed is false.
func (f *Follower) reach(ctx context.Context, h *Head) (followed bool, err error) {
	// During a pass over the log, the replica has fewer records than the course.
	shorter := !f.course.straight() && h.Last < f.course.known()
	if behind := h.Last < f.replica.N(); behind || shorter || h.Epoch < f.epoch {
		lost := behind && h.Epoch > f.replica.Epoch()
		if f.ignored++; f.ignored < ignoreFor && !lost {
			return false, nil
		}
		f.ignored = 0
		if err := f.Confirm(ctx); err != nil || behind {
			return true, err
		}
		if shorter {
			f.course.cut(h.Last)
		}
	}
	err = f.extend(ctx, h)
	if errors.Is(err, replica.ErrFork) {
		if err := f.Confirm(ctx); err != nil {
			return true, err
		}
		return true, fmt.Errorf("%w: %w", errForged, err)
	}
	if err == nil {
		f.epoch, f.ignored, f.reached = h.Epoch, 0, f.reached+1
	}
	return true, err
}

// extend applies the records up to the head. extend checks before and after that the head agrees
// with the replica, because the log may lose its tail meanwhile. Then the records that extend
// fetches are of another log than the head.
func (f *Follower) extend(ctx context.Context, h *Head) error {
	h.unpack(f.replica)
	if err := f.agrees(h); err != nil {
		return err
	}
	if h.Reference.N > 0 { // before the catch-up, which may compare a snapshot with the reference
		f.digests.setReference(h.Reference)
	}
	if err := f.catchUp(ctx, h); err != nil {
		return err
	}
	return f.agrees(h)
}

// agrees returns an error if the head has another record, or another tip, for the index of the
// replica's last record.
func (f *Follower) agrees(h *Head) error {
	n, fork := h.first(), false
	h.Records.Each(func(record []byte) bool {
		fork = n == f.replica.N() && wire.HashRecord(record) != f.replica.Hash()
		n++
		return n <= f.replica.N()
	})
	fork = fork || h.tip != wire.Tip{} && h.Last == f.replica.N() && h.tip != f.replica.Hash().Tip()
	if fork {
		return fmt.Errorf("%w: record %d", replica.ErrFork, f.replica.N())
	}
	return nil
}

// Confirm asks whether the log holds the last record that this replica applied. If not, the log
// lost its tail or the replica followed another log, and Confirm returns [ErrNotOurs].
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
	if record == nil && f.ownsBelow() {
		return nil
	}
	if record == nil || wire.HashRecord(record) != f.replica.Hash() {
		return fmt.Errorf("%w, record %d", ErrNotOurs, f.replica.N())
	}
	return nil
}

// FetchPlan fetches record 1.
func (f *Follower) FetchPlan(ctx context.Context) ([]byte, error) {
	reply, err := f.fetch(ctx, 1, f.cfg.Source.Room(wire.MaxFrame))
	if err != nil {
		return nil, err
	}
	if reply.Records.Len() == 0 {
		return nil, fmt.Errorf("%w from 1 on", errNoRecords)
	}
	f.Heard(reply.Last)
	return first(reply.Records), nil
}

// FetchHead asks where the log ends. FetchHead returns a head without records. The error is
// [ErrNotOurs] if the log does not hold this replica's last record.
func (f *Follower) FetchHead(ctx context.Context) (Head, error) {
	reply, err := f.fetch(ctx, f.replica.N(), 1)
	if err != nil {
		return Head{}, err
	}
	return Head{Last: reply.Last, Epoch: f.epoch}, f.owns(first(reply.Records))
}

// report reports to the app.
func (f *Follower) report(p Progress) error { return f.cfg.Report(p) }

// passing says whether the next head may cure an error.
func passing(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !retry.Final(err) && !errors.Is(err, ErrNotOurs)
}
