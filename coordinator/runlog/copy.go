package runlog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zofl/zofl/wire"
)

// ErrOther: the target log of a copy holds something that is not the beginning of the source log.
var ErrOther = errors.New("the log to copy to holds something else")

// Copy makes dst hold the members and records of src, and the vectors that the records name, and
// verifies the copy. Copy does not change src. dst must be empty or hold the beginning of src, so
// that a repeated call continues an interrupted copy. If progress is not nil, Copy calls it with
// the index of each record that dst holds.
//
// No other coordinator may lead either log meanwhile, because Copy would miss the records that this
// coordinator adds. So call Begin on both logs before Copy. Then Copy's error matches [ErrDeposed]
// if another coordinator may have led during the copy.
//
// Where both logs implement [Epochs], Begin on dst returns larger epochs than any Begin on src did.
// Otherwise Begin on dst only returns epochs larger than the epoch of the last record.
//
// Errors match [ErrOther], if dst holds something else; [ErrCorrupt]; [ErrDeposed] if another
// coordinator may lead; or come from the logs.
func Copy(ctx context.Context, dst, src Log, progress func(n uint64)) error {
	if progress == nil {
		progress = func(uint64) {}
	}
	if err := copyLog(ctx, dst, src, progress); err != nil {
		return fmt.Errorf("runlog: copy: %w", err)
	}
	return nil
}

func copyLog(ctx context.Context, dst, src Log, progress func(n uint64)) error {
	if start := Start(src); start > 0 {
		return fmt.Errorf("the log to copy begins with the state after record %d: %w: only a log "+
			"that begins with record 1 can be copied", start, ErrBelow)
	}
	if err := CheckLoss(ctx, src, 0); err != nil {
		return fmt.Errorf("the log to copy: %w", err)
	}
	ledDst, ledSrc := dst.Lost(), src.Lost()
	if err := copyMembers(ctx, dst, src); err != nil {
		return err
	}
	if err := copyObjects(ctx, dst, src); err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	end, err := copyRecords(ctx, dst, src, progress)
	if err != nil {
		return err
	}
	if err := copyEpochs(ctx, dst, src); err != nil {
		return fmt.Errorf("epochs: %w", err)
	}
	if err := copyDecisions(ctx, dst, src); err != nil {
		return fmt.Errorf("decisions: %w", err)
	}
	if err := verifyCopy(ctx, dst, src, end); err != nil {
		return err
	}
	switch {
	case IsLost(ledSrc):
		return fmt.Errorf("the log to copy: %w: it may have added records that are not in the "+
			"copy: copy again", ErrDeposed)
	case IsLost(ledDst):
		return fmt.Errorf("the log to copy to: %w: it may have added records to the copy: copy "+
			"again", ErrDeposed)
	}
	return nil
}

// copyEpochs makes later epochs of dst larger than those of src. Devices know the epoch of every
// coordinator that led src, even of a coordinator that appended nothing.
func copyEpochs(ctx context.Context, dst, src Log) error {
	from, known := src.(Epochs)
	to, ok := dst.(Epochs)
	if !known || !ok {
		return nil
	}
	last, err := from.LastEpoch(ctx)
	if err != nil {
		return err
	}
	return to.PassEpochs(ctx, last)
}

// copyDecisions copies the decisions, so that a paused run stays paused.
func copyDecisions(ctx context.Context, dst, src Log) error {
	d, err := DecisionsOf(ctx, src)
	to, ok := dst.(Decider)
	if err != nil || !ok || d.None() {
		return err
	}
	return to.Decide(ctx, d)
}

// copyHandover copies what was stored with the last record, so that a coordinator of the copy makes
// the records that one of the log would have made.
func copyHandover(ctx context.Context, dst, src Log, n uint64, tip wire.Tip) error {
	state, err := HandoverOf(ctx, src)
	to, ok := dst.(Handovers)
	if err != nil || !ok || state == nil {
		return err
	}
	return to.HandOver(ctx, n, tip, state)
}

// copyMembers copies the members before the records, because records name members' slots.
func copyMembers(ctx context.Context, dst, src Log) error {
	want, got, err := bothRosters(dst, src)
	if err != nil {
		return err
	}
	if !got.begins(want) {
		return fmt.Errorf("members: %w: it has %d, the log to copy has %d, and they do not begin "+
			"alike", ErrOther, len(got.members), len(want.members))
	}
	if err := prefixed(ctx, dst, src); err != nil {
		return err
	}
	for some := range slices.Chunk(want.members[len(got.members):], MemberBatch) {
		if err := dst.AddMembers(ctx, some); err != nil {
			return fmt.Errorf("members: %w", err)
		}
	}
	for _, id := range want.retired[len(got.retired):] {
		if err := dst.Retire(ctx, id); err != nil {
			return fmt.Errorf("members: %w", err)
		}
	}
	return nil
}

// A roster is the members by slot, and the set of retired ones.
type roster struct{ members, retired []string }

// begins says whether r is the beginning of other.
func (r roster) begins(other roster) bool {
	starts := func(a, b []string) bool { return len(a) <= len(b) && slices.Equal(a, b[:len(a)]) }
	return starts(r.members, other.members) && starts(r.retired, other.retired)
}

func rosterOf(log Log) (r roster, err error) {
	if r.members, err = log.Members(); err == nil {
		r.retired, err = log.Retired()
	}
	return r, err
}

func bothRosters(dst, src Log) (want, got roster, err error) {
	if want, err = rosterOf(src); err != nil {
		return want, got, fmt.Errorf("members to copy: %w", err)
	}
	if got, err = rosterOf(dst); err != nil {
		return want, got, fmt.Errorf("members: %w", err)
	}
	return want, got, nil
}

// prefixed returns an error unless dst is the beginning of src. Copy calls it before it writes to
// dst.
func prefixed(ctx context.Context, dst, src Log) error {
	last := dst.Last()
	if last > src.Last() {
		return fmt.Errorf("%w: it ends at record %d, the log to copy at record %d", ErrOther, last,
			src.Last())
	}
	want, err := hashOf(ctx, src, last)
	if err != nil {
		return fmt.Errorf("record to copy: %w", err)
	}
	got, err := hashOf(ctx, dst, last)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%w: its record %d is not the one to copy", ErrOther, last)
	}
	return nil
}

// hashOf returns the hash of record n, or zero for n = 0. The hash depends on all records up to n.
func hashOf(ctx context.Context, log Log, n uint64) (h wire.Hash, err error) {
	if n == 0 {
		return h, nil
	}
	err = log.Read(ctx, n, func(_ uint64, record []byte) bool {
		h = wire.HashRecord(record)
		return false
	})
	return h, err
}

// copyRecords appends to dst the records that dst lacks, and returns the end of the chain.
func copyRecords(
	ctx context.Context, dst, src Log, progress func(n uint64),
) (end Chain, err error) {
	have := dst.Last()
	var bad error
	err = src.Read(ctx, 1, func(n uint64, record []byte) bool {
		if _, bad = end.Follow(record); bad != nil {
			return false
		}
		if n == src.Last() {
			bad = copyHandover(ctx, dst, src, n, end.Hash.Tip())
		}
		if n > have && bad == nil {
			bad = dst.Append(ctx, n, record)
		}
		var conflict *ConflictError
		if errors.As(bad, &conflict) {
			bad = fmt.Errorf("%w: somebody appends to it: %w", ErrOther, bad)
		}
		if bad == nil {
			progress(n)
		}
		return bad == nil
	})
	return end, errors.Join(bad, err)
}

// verifyCopy reads dst back and compares it with the records read from src.
func verifyCopy(ctx context.Context, dst, src Log, want Chain) error {
	var got Chain
	var bad error
	err := dst.Read(ctx, 1, func(_ uint64, record []byte) bool {
		_, bad = got.Follow(record)
		return bad == nil
	})
	if err := errors.Join(bad, err); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if got != want {
		return fmt.Errorf("verify: %w: the copy ends with record %d, hash %x; it should with %d, "+
			"%x",
			ErrCorrupt, got.N, got.Hash, want.N, want.Hash)
	}
	members, copied, err := bothRosters(dst, src)
	if err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if !members.begins(copied) || !copied.begins(members) {
		return fmt.Errorf("verify: %w: the copy has %d members, and they are not the %d of the log",
			ErrCorrupt, len(copied.members), len(members.members))
	}
	return nil
}
