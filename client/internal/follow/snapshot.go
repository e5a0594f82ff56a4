package follow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/internal/seal"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

const (
	// snapshotHead is about the size of a state file without vectors and registers; usually that part
	// is smaller.
	snapshotHead = 4 << 10
	// snapshotHeadMost bounds the size of a state file without vectors and registers.
	snapshotHeadMost = 3 << 20
	// snapshotPause is the least time between searches for a snapshot.
	snapshotPause = time.Minute
	// snapshotStrikes is how many wrong snapshots a client gets before it asks for no more.
	snapshotStrikes = 3
)

var (
	// errSnapshot says that a snapshot is malformed, or not of this run's log, or unproven.
	errSnapshot = errors.New("bad snapshot")
	// errNoSnapshot says that there is no snapshot, or none that helps.
	errNoSnapshot = errors.New("no snapshot")
	// errBehind ends a replay because a snapshot may be faster.
	errBehind = errors.New("far behind")
)

// snapshots says whether the client takes snapshots, and holds the client's download.
type snapshots struct {
	notBefore  time.Time // the earliest time of the next search
	mustBefore time.Time // the same, if only a snapshot helps
	strikes    int       // wrong snapshots so far
	distrust   bool      // a snapshot may have led to a wrong state: take no more
	download   *download // nil: none
}

// A download is a snapshot of which only some pieces have arrived.
type download struct {
	n      uint64
	tip    wire.Tip
	size   uint64
	record []byte // record n of the log; nil: the log begins with this snapshot
	digest []byte // digest that the coordinator vouches for; nil: none
	offset uint64
	to     io.Writer // the loader, or an opener that decrypts for the loader
	loader *replica.Loader
}

// mayTake says whether a snapshot may help on the way to record last: either the replica misses
// more records than its horizon, or the best possible snapshot is much cheaper than the records.
func (f *Follower) mayTake(last uint64) bool {
	s, n := &f.snapshots, f.replica.Whole()
	if f.must() {
		return !time.Now().Before(s.mustBefore)
	}
	// With transport=dense a vector is as long as a snapshot, and a record proves the vector.
	if n > 0 && f.replica.Plan().SendsVectors() && !f.objects.gone {
		return false
	}
	if f.cfg.Witness != nil || s.distrust || s.strikes >= snapshotStrikes || f.course.scanning ||
		f.repair.stage != agreed || n == 0 || last <= n || time.Now().Before(s.notBefore) {
		return false
	}
	if s.download != nil {
		return true
	}
	return f.pays(f.snapshotSize(), last-n, 0)
}

// pays says whether a snapshot of the given number of bytes is cheaper than replaying the missing
// records. left is how many records the device must replay after the snapshot.
func (f *Follower) pays(bytes, missing, left uint64) bool {
	if f.objects.gone || f.must() || f.cfg.Horizon > 0 && missing > f.cfg.Horizon {
		return true
	}
	plan := f.replica.Plan()
	if plan.DigestEvery == 0 { // no reference would ever prove the snapshot
		return false
	}
	record, p := float64(valid.RecordBytes(plan)), &f.pace
	return better(p.snapshot(bytes, left, record), p.replay(missing, record))
}

// takeSnapshot replaces the state with a snapshot, if there is a useful one on the way to record
// last. takeSnapshot returns only errors that end Run: without a snapshot, the client replays the
// log. Other goroutines can read the present state until the new state is complete.
func (f *Follower) takeSnapshot(ctx context.Context, last uint64, live path) error {
	s := &f.snapshots
	err := f.fetchSnapshot(ctx, last, live)
	s.notBefore = time.Now().Add(snapshotPause)
	if f.must() { // only a snapshot still helps
		s.mustBefore = time.Now().Add(mustPause)
	}
	switch {
	case errors.Is(err, bus.ErrPermission):
		s.distrust = true // without the permission to ask, replay the log
	case err == nil, ctx.Err() != nil, retry.Final(err):
		return err
	case errors.Is(err, errSnapshot), errors.Is(err, replica.ErrState),
		errors.Is(err, seal.ErrFile):
		s.download = nil
		s.strikes++
	case errors.Is(err, errNoSnapshot):
		s.download = nil
	}
	f.cfg.Logger.Info("no snapshot, replaying", "record", f.replica.N(), "last", last, "err", err)
	return f.report(Progress{Err: err})
}

func (f *Follower) fetchSnapshot(ctx context.Context, last uint64, live path) error {
	s := &f.snapshots
	if d := s.download; d != nil && (d.n <= f.replica.Whole() || d.n > last || !live.has(d.n)) {
		s.download = nil
	}
	if s.download == nil {
		d, err := f.findSnapshot(ctx, last, live)
		if err != nil {
			return err
		}
		s.download = d
	}
	if err := f.receive(ctx, s.download); err != nil {
		return err
	}
	d := s.download
	s.download = nil
	return f.adopt(d)
}

// findSnapshot asks for the newest snapshot, and begins to download the snapshot if it helps.
func (f *Follower) findSnapshot(ctx context.Context, last uint64, live path) (*download, error) {
	offer, err := f.askSnapshot(ctx, wire.SnapshotRequest{})
	if err != nil {
		return nil, err
	}
	n := f.replica.Whole()
	size, right := f.contentSize(offer.Size)
	least, most := stateSize(f.replica.Plan())
	switch {
	case offer.N == 0 || offer.N <= n || offer.N > last || !live.has(offer.N):
		return nil, fmt.Errorf("%w between records %d and %d: the newest follows record %d",
			errNoSnapshot, n, last, offer.N)
	case !right || size < least || size > most+snapshotHeadMost:
		return nil, fmt.Errorf("%w: %d bytes, but its vectors have %d",
			errSnapshot, offer.Size, most)
	case !f.pays(offer.Size, last-n, last-offer.N):
		return nil, fmt.Errorf("%w: that after record %d costs more than the records up to %d",
			errNoSnapshot, offer.N, last)
	}
	reply, err := f.fetch(ctx, offer.N, 1)
	record := first(reply.Records)
	vouched, vouches := signed.Vouched(&reply)
	vouches = vouches && vouched.N == offer.N && vouched.Tip == offer.Tip
	switch {
	case err != nil:
		return nil, err
	case f.cfg.Signed && !vouches:
		return nil, fmt.Errorf("%w: the coordinator does not vouch for that after record %d",
			errNoSnapshot, offer.N)
	case record == nil && offer.N == f.start.N && f.start.Hash.Tip() == offer.Tip:
		// the snapshot is the state with which the log begins
	case wire.HashRecord(record).Tip() != offer.Tip:
		return nil, fmt.Errorf("%w: the log's record %d is another", errSnapshot, offer.N)
	}
	f.cfg.Logger.Info("taking a snapshot", "record", offer.N, "bytes", offer.Size, "from", n,
		"last", last)
	d, err := f.newDownload(&offer, size, record)
	if err == nil && f.cfg.Signed {
		d.digest = vouched.Digest[:]
	}
	return d, err
}

// newDownload begins the download of a snapshot whose state file has size bytes.
func (f *Follower) newDownload(
	offer *wire.SnapshotReply, size uint64, record []byte,
) (*download, error) {
	cfg := f.cfg.Replica
	if f.replica.Plan().Pool == 0 {
		cfg.Initial, cfg.ReadInitial = nil, nil // not needed: examine compares the plans
	}
	d := &download{
		n: offer.N, tip: offer.Tip, size: offer.Size, record: record,
		loader: replica.NewLoader(cfg, int64(size)),
	}
	d.to = d.loader
	if !f.private() {
		return d, nil
	}
	u, err := seal.NewOpener(d.loader, f.cfg.Replica.RunKey, offer.Size)
	if err == nil && f.replica.Plan().DerivesKeys() {
		u.Bind(f.cfg.Run, offer.N)
	}
	d.to = u
	return d, err
}

// receive downloads the rest of a snapshot, and asks again for a piece that does not come. The
// pieces that came stay for later tries.
func (f *Follower) receive(ctx context.Context, d *download) error {
	for d.offset < d.size {
		var piece wire.SnapshotReply
		progress := Progress{Snapshot: d.n, Received: d.offset, Size: d.size}
		err := f.again(ctx, progress, func() (err error) {
			request := wire.SnapshotRequest{N: d.n, Offset: d.offset,
				MaxBytes: f.cfg.Source.Room(wire.SnapshotPiece)}
			piece, err = f.askSnapshot(ctx, request)
			if err == nil && piece.N == 0 { // a slower replica may still have the snapshot: ask again
				err = fmt.Errorf("%w: that after record %d is gone", errNoSnapshot, d.n)
			}
			return err
		})
		switch {
		case err != nil:
			return err
		case piece.N != d.n || piece.Tip != d.tip || piece.Size != d.size ||
			piece.Offset != d.offset || len(piece.Data) == 0:
			return fmt.Errorf("%w: got another piece than asked for", errSnapshot)
		}
		if _, err := d.to.Write(piece.Data); err != nil {
			if retry.Unfit(err) {
				// Only the log may end Run, and not a snapshot.
				err = fmt.Errorf("%w: %v", errSnapshot, err)
			}
			return err
		}
		d.offset += uint64(len(piece.Data))
	}
	return f.report(Progress{Snapshot: d.n, Received: d.offset, Size: d.size})
}

// askSnapshot makes one request for a snapshot.
func (f *Follower) askSnapshot(
	ctx context.Context, request wire.SnapshotRequest,
) (wire.SnapshotReply, error) {
	began := time.Now()
	b, err := f.cfg.Source.Snapshot(ctx, request.Append(nil))
	if err != nil {
		return wire.SnapshotReply{}, fmt.Errorf("snapshot: %w", err)
	}
	f.pace.fetched(time.Since(began), len(b))
	reply, err := wire.DecodeSnapshotReply(b)
	if err != nil {
		return reply, fmt.Errorf("%w: %v", errSnapshot, err)
	}
	return reply, nil
}

// adopt replaces the state with a complete snapshot, if the snapshot is of this run's log. The
// client trusts the snapshot's vectors until a reference disagrees.
func (f *Follower) adopt(d *download) error {
	r, h, err := d.loader.Replica()
	if err != nil {
		return err
	}
	if err := f.examine(d, r); err != nil {
		return err
	}
	f.course.merge(h.Rollbacks, min(f.replica.N(), r.N()), r.N())
	f.replace(r)
	f.objects = objects{}
	if f.cfg.Observer != nil {
		f.cfg.Observer.Doubt()
	}
	f.unproven = r.N()
	if d.digest != nil || d.record == nil && f.digests.refersTo(r.N(), d.tip) {
		f.unproven = 0 // examine has compared r with the run's digest of this very state
	}
	f.digests.forget()
	f.digestIfDue(r.N())
	f.cfg.Logger.Info("took a snapshot", "record", r.N())
	return nil
}

// examine checks a snapshot against the log and against the reference.
func (f *Follower) examine(d *download, r *replica.Replica) error {
	if r.N() != d.n || r.Hash().Tip() != d.tip ||
		!bytes.Equal(r.PlanRecord(), f.replica.PlanRecord()) {
		return fmt.Errorf("%w: of another log, or of another record than offered: record %d %v",
			errSnapshot, r.N(), r.Hash())
	}
	if d.record == nil {
		return f.examineStart(d, r)
	}
	in, err := wire.DecodeRecord(d.record)
	switch {
	case err != nil:
		return err
	case wire.HashRecord(d.record) != r.Hash() || in.Epoch != r.Epoch() ||
		(in.Kind == wire.KindEnd) != (r.Ended() != nil):
		return fmt.Errorf("%w: the log's record %d is another", errSnapshot, d.n)
	}
	return f.examineDigest(d, r)
}

// samePlan says whether two plans have the same numbers.
func samePlan(a, b *plan.Plan) bool {
	encoded := func(p *plan.Plan) []byte {
		return (&wire.Record{N: 1, Kind: wire.KindPlan, Plan: p}).Append(nil)
	}
	return bytes.Equal(encoded(a), encoded(b))
}

// examineDigest checks a snapshot against the reference.
func (f *Follower) examineDigest(d *download, r *replica.Replica) error {
	digest := r.Digest()
	switch {
	case d.digest != nil && !bytes.Equal(d.digest, digest[:len(d.digest)]):
		return fmt.Errorf("%w: after record %d digest %x, the coordinator vouches for %x",
			errSnapshot, d.n, digest[:len(d.digest)], d.digest)
	case d.digest != nil && !samePlan(r.Plan(), f.replica.Plan()):
		return fmt.Errorf("%w: after record %d other numbers in the plan, for which nobody vouches",
			errSnapshot, d.n)
	}
	want := f.digests.reference.Digest
	if f.digests.refersTo(r.N(), d.tip) && want != [8]byte(digest[:8]) {
		return fmt.Errorf("%w: after record %d digest %x, the run's is %x",
			errSnapshot, d.n, digest[:8], want)
	}
	return nil
}
