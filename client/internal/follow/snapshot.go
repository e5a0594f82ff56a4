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
	"github.com/zofl/zofl/wire"
)

const (
	snapshotHead = 4 << 10 // more than a state file takes beside vectors and registers, as a rule
	// snapshotHeadMost bounds what a state file may take beside them.
	snapshotHeadMost = 3 << 20
	snapshotPause    = time.Minute // between questions of what there is
	// snapshotStrikes is how many snapshots may turn out to be wrong before
	// this client takes no more.
	snapshotStrikes = 3
)

var (
	// errSnapshot: a snapshot is not what it has to be.
	errSnapshot = errors.New("bad snapshot")
	// errNoSnapshot: there is none, or no longer, or none that helps.
	errNoSnapshot = errors.New("no snapshot")
	// errBehind ends a replay that a snapshot is to shorten.
	errBehind = errors.New("far behind")
)

// snapshots is what a client knows of other parties' snapshots.
type snapshots struct {
	notBefore time.Time // when to ask again
	strikes   int       // snapshots that were wrong
	distrust  bool      // one led to another state than the run's: take no more
	download  *download // under way
}

// A download is a snapshot that comes in pieces.
type download struct {
	n      uint64
	tip    wire.Tip
	size   uint64
	record []byte // of the log, that the state is after
	offset uint64
	to     io.Writer // the loader, of a sealed snapshot by way of an unsealer
	loader *replica.Loader
}

// mayTake says whether a snapshot may help on the way to record last: whether
// the device is beyond its horizon, or as good a snapshot as there can be is
// much cheaper than the records.
func (f *Follower) mayTake(last uint64) bool {
	s, n := &f.snapshots, f.replica.Whole()
	if n > 0 && f.replica.Plan().SendsVectors() && !f.objects.gone { // a vector is as long, and its record vouches for it
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

// pays says whether a snapshot of so many bytes, which leaves some of the
// missing records to replay, is the cheaper way.
func (f *Follower) pays(bytes, missing, left uint64) bool {
	if f.objects.gone || f.cfg.Horizon > 0 && missing > f.cfg.Horizon {
		return true
	}
	plan := f.replica.Plan()
	if plan.DigestEvery == 0 { // nothing would ever prove it
		return false
	}
	record, p := float64(plan.RecordBytes()), &f.pace
	return better(p.snapshot(bytes, left, record), p.replay(missing, record))
}

// takeSnapshot puts a snapshot in the place of the state, if there is one on
// the way to record last. Whatever comes of it, the log is there to go on with:
// errors are those that end Run. The state stays as it is, and readable, until
// the other one is whole.
func (f *Follower) takeSnapshot(ctx context.Context, last uint64, live path) error {
	s := &f.snapshots
	err := f.fetchSnapshot(ctx, last, live)
	s.notBefore = time.Now().Add(snapshotPause)
	switch {
	case errors.Is(err, bus.ErrPermission):
		s.distrust = true // who may not ask replays
	case err == nil, ctx.Err() != nil, retry.Final(err):
		return err
	case errors.Is(err, errSnapshot), errors.Is(err, replica.ErrState), errors.Is(err, seal.ErrFile):
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

// findSnapshot asks what snapshot there is, and says whether it helps.
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
		return nil, fmt.Errorf("%w: of the way from record %d to %d, the newest is of %d", errNoSnapshot, n, last, offer.N)
	case !right || size < least || size > most+snapshotHeadMost:
		return nil, fmt.Errorf("%w: %d bytes, its vectors have %d", errSnapshot, offer.Size, most)
	case !f.pays(offer.Size, last-n, last-offer.N):
		return nil, fmt.Errorf("%w: that after record %d costs more than records up to %d", errNoSnapshot, offer.N, last)
	}
	record, err := f.Record(ctx, offer.N)
	switch {
	case err != nil:
		return nil, err
	case wire.HashRecord(record).Tip() != offer.Tip:
		return nil, fmt.Errorf("%w: the log's record %d is another", errSnapshot, offer.N)
	}
	f.cfg.Logger.Info("taking a snapshot", "record", offer.N, "bytes", offer.Size, "from", n, "last", last)
	return f.newDownload(&offer, size, record)
}

// newDownload begins a download of a snapshot of size bytes, sealed or not.
func (f *Follower) newDownload(offer *wire.SnapshotReply, size uint64, record []byte) (*download, error) {
	cfg := f.cfg.Replica
	if f.replica.Plan().Pool == 0 {
		cfg.Initial = nil // its plan is compared with ours
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
	d.to = u
	return d, err
}

// receive gets the rest of a download, and asks more than once for a piece that
// does not come. What came stays, for another time.
func (f *Follower) receive(ctx context.Context, d *download) error {
	for d.offset < d.size {
		var piece wire.SnapshotReply
		err := f.again(ctx, Progress{Snapshot: d.n, Received: d.offset, Size: d.size}, func() (err error) {
			piece, err = f.askSnapshot(ctx, wire.SnapshotRequest{N: d.n, Offset: d.offset, MaxBytes: wire.SnapshotPiece})
			if err == nil && piece.N == 0 { // another replica that has it may be slower
				err = fmt.Errorf("%w: that after record %d is gone", errNoSnapshot, d.n)
			}
			return err
		})
		switch {
		case err != nil:
			return err
		case piece.N != d.n || piece.Tip != d.tip || piece.Size != d.size || piece.Offset != d.offset || len(piece.Data) == 0:
			return fmt.Errorf("%w: another piece than asked for", errSnapshot)
		}
		if _, err := d.to.Write(piece.Data); err != nil {
			return err
		}
		d.offset += uint64(len(piece.Data))
	}
	return f.report(Progress{Snapshot: d.n, Received: d.offset, Size: d.size})
}

// askSnapshot makes one request for a snapshot.
func (f *Follower) askSnapshot(ctx context.Context, request wire.SnapshotRequest) (wire.SnapshotReply, error) {
	began := time.Now()
	b, err := f.cfg.Source.Snapshot(ctx, request.Append(nil))
	if err != nil {
		return wire.SnapshotReply{}, fmt.Errorf("snapshot: %w", err)
	}
	f.pace.fetched(time.Since(began), len(b))
	reply, err := wire.DecodeSnapshotReply(b)
	if err != nil {
		return reply, fmt.Errorf("%w: %w", errSnapshot, err)
	}
	return reply, nil
}

// adopt goes on with a snapshot that is whole, if it is of this run's log. Its
// vectors are believed until a reference says otherwise.
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
	f.digests.forget()
	f.digestIfDue(r.N())
	f.cfg.Logger.Info("took a snapshot", "record", r.N())
	return nil
}

// examine compares a snapshot with the log and with the reference.
func (f *Follower) examine(d *download, r *replica.Replica) error {
	if r.N() != d.n || r.Hash().Tip() != d.tip || !bytes.Equal(r.First(), f.replica.First()) {
		return fmt.Errorf("%w: of record %d %v of a log that begins otherwise, or not as told", errSnapshot, r.N(), r.Hash())
	}
	in, err := wire.DecodeRecord(d.record)
	switch {
	case err != nil:
		return err
	case wire.HashRecord(d.record) != r.Hash() || in.Epoch != r.Epoch() || (in.Kind == wire.KindEnd) != (r.Ended() != nil):
		return fmt.Errorf("%w: the log's record %d is another", errSnapshot, d.n)
	}
	digest := r.Digest()
	if f.digests.of(r.N(), d.tip) && f.digests.reference.Digest != [8]byte(digest[:8]) {
		return fmt.Errorf("%w: after record %d digest %x, the run's is %x", errSnapshot, d.n, digest[:8], f.digests.reference.Digest)
	}
	return nil
}
