// Package follow brings a replica to the head of the run's log, and proves the replica's state. The
// input is a [Head], and the output is a [Standing]. The follower fetches the records and vectors
// that the replica lacks and applies them, or takes a snapshot. The follower compares the state
// with the run's reference, and writes checkpoints. The package does not know the loss, slots or
// rounds, and publishes nothing: it only makes requests.
package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/zofl/zofl/client/internal/files"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A Source answers requests about the run. Each method makes one request and returns the answer
// undecoded; package wire defines the frames.
type Source interface {
	// Records answers a [wire.CatchUpRequest].
	Records(ctx context.Context, request []byte) ([]byte, error)
	// Snapshot answers a [wire.SnapshotRequest].
	Snapshot(ctx context.Context, request []byte) ([]byte, error)
	// Object answers a [wire.ObjectRequest].
	Object(ctx context.Context, request []byte) ([]byte, error)
	// Room returns how many bytes of at most most an answer may bring to this device.
	Room(most uint64) uint64
}

// An Observer receives each record of the log, in order.
type Observer interface {
	// See takes a record that the follower is about to apply or skip.
	See(r *wire.Record, record []byte)
	// Doubt says that the follower replaced the state with a snapshot, and that See did not get the
	// records before it.
	Doubt()
}

// A Witness receives the states that a passive replica reaches. A follower with a witness replays
// the whole log and downloads no snapshot.
type Witness interface {
	// Wants says whether See must be called with the state after record n.
	Wants(n uint64) bool
	// See receives a follower whose replica reached a state, during a replay up to record last.
	See(f *Follower, last uint64) error
}

// Progress is what the follower reports to the app.
type Progress struct {
	Aside    bool   // only a fault: the client does not catch up
	Snapshot uint64 // record of the snapshot that the device downloads; 0: none
	Vector   uint64 // record whose vector the device downloads; 0: none
	Received uint64 // bytes that arrived of the snapshot or vector
	Size     uint64 // bytes of the whole snapshot or vector
	Err      error
}

// Config holds what a follower needs.
type Config struct {
	Run      string
	Replica  replica.Config // for every replica that the follower makes
	Source   Source
	Files    *files.Keeper // nil: this device has no store
	Pauses   *retry.Pauses
	Logger   *slog.Logger
	Observer Observer // nil: none
	Witness  Witness  // nil: none
	// Report reports to the app. An error of Report ends Run.
	Report func(Progress) error
	// Horizon, CheckpointEvery and CheckpointInterval are as in client.Config.
	Horizon            uint64
	CheckpointEvery    uint64
	CheckpointInterval time.Duration
	// Signed says that the Source returns only signed messages of the coordinator, except snapshots.
	// The follower then takes a snapshot only if the coordinator vouches for its digest.
	Signed bool
}

// A Follower holds the replica and what this device knows about the log.
//
// The goroutine of Run owns a Follower. Other goroutines may call View, Params, Dim, Digest and
// Counts.
//
// Invariants:
//  1. Only the goroutine of Run changes replica, and only under mu.
//  2. If unproven is 0, the replica is the replay of the log up to its record. Otherwise the state
//     began with a snapshot, and no reference has agreed yet.
type Follower struct {
	cfg Config

	mu      sync.Mutex // guards replica against other goroutines
	replica *replica.Replica

	// unproven is the record of the snapshot with which the state began; 0: no snapshot, or a
	// reference agreed.
	unproven    uint64
	epoch       uint64        // of the last head that the follower reached
	last        uint64        // last record of the log, as far as this device knows
	start       wire.LogStart // where the log begins; N = 0: with record 1, as far as known
	ignored     int           // heads in a row that the follower ignored
	reached     uint64        // heads that the follower reached
	course      course
	batch       batch
	decoded     wire.Record // in a catch-up: the present record, in reused memory
	digests     digests
	repair      repair
	snapshots   snapshots
	objects     objects
	checkpoints checkpoints
	pace        pace
	replays     replays
	held        held
}

// New returns a follower with an empty replica.
func New(cfg Config) *Follower {
	f := &Follower{cfg: cfg}
	f.replica = f.blank()
	return f
}

func (f *Follower) blank() *replica.Replica { return replica.New(f.cfg.Replica) }

// View calls see with the replica. The replica does not change before see returns.
func (f *Follower) View(see func(*replica.Replica)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	see(f.replica)
}

// Params copies the model after record n to dst, which has one element per parameter. n is 0
// before record 1.
func (f *Follower) Params(dst []float32) (n uint64, err error) {
	dim := f.Dim()
	if dim == 0 {
		return 0, nil // a passive replica without a plan yet
	}
	if len(dst) != dim {
		return 0, fmt.Errorf("params: dst has %d elements: give one for each of the %d parameters",
			len(dst), dim)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	copy(dst, f.replica.Params())
	return f.replica.Whole(), nil
}

// Dim is the number of parameters: the configured one, or the plan's once there is a plan.
func (f *Follower) Dim() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(int(f.cfg.Replica.Dim), len(f.replica.Params()))
}

// Digest returns the digest of the state after record n; n is 0 while the state lacks vectors.
func (f *Follower) Digest() (n uint64, digest [32]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.whole() {
		return 0, digest
	}
	return f.replica.N(), f.replica.Digest()
}

// Counts returns the index of the last record that the follower applied, and the number of rounds
// up to that record.
func (f *Follower) Counts() (n, rounds uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.replica.N(), f.replica.Rounds()
}

// Replica returns the replica. Do not change it.
func (f *Follower) Replica() *replica.Replica { return f.replica }

// Plan is the plan with all changes so far; nil before record 1.
func (f *Follower) Plan() *plan.Plan { return f.replica.Plan() }

// N is the index of the last record that the follower applied.
func (f *Follower) N() uint64 { return f.replica.N() }

// Reached is how many heads the follower reached.
func (f *Follower) Reached() uint64 { return f.reached }

// Epoch is the epoch of the last head that the follower reached; 0: none.
func (f *Follower) Epoch() uint64 { return f.epoch }

// Last is the last record of the log, as far as this device knows.
func (f *Follower) Last() uint64 { return max(f.last, f.replica.N()) }

// Heard notes that a coordinator said that the log ends with record last.
func (f *Follower) Heard(last uint64) { f.last = max(f.last, last) }

// Live says whether record n is part of the state: no rollback undid it.
func (f *Follower) Live(n uint64) bool { return f.course.path(f.replica.N()).has(n) }

// Final says whether the run has ended and nothing remains to prove or to fetch.
func (f *Follower) Final() bool { return f.replica.Ended() != nil && f.unproven == 0 && f.whole() }

// Unproven is the record of the snapshot with which the state began; 0: no snapshot, or a reference
// agreed.
func (f *Follower) Unproven() uint64 { return f.unproven }

// Downloading says whether a snapshot download has begun and not ended.
func (f *Follower) Downloading() bool { return f.snapshots.download != nil }

// Save writes a state file.
func (f *Follower) Save(w io.Writer) error { return f.replica.Save(w, f.history()) }

// Begin applies record 1. The error, for a plan that this device cannot run, is a [retry.Claim].
func (f *Follower) Begin(record []byte) error {
	if err := f.apply(record); err != nil {
		return retry.Claim{Err: ofPlan(f.keyed(err))}
	}
	if err := f.checkPrivate(); err != nil {
		f.replace(f.blank())
		return retry.Claim{Err: fmt.Errorf("plan: %w", err)}
	}
	f.digestIfDue(1)
	return nil
}

// ofPlan says that an error concerns the plan. For an error that wraps a *plan.Error, ofPlan
// returns the *plan.Error, because its text names the plan.
func ofPlan(err error) error {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if fault, ok := e.(*plan.Error); ok {
			return fault
		}
	}
	return fmt.Errorf("plan: %w", err)
}

// Reset forgets the log, and which digests the device reported.
func (f *Follower) Reset() {
	f.replays.owed = f.replica.N() > 1
	if p := f.replica.Plan(); p != nil && p.Summed() {
		f.HoldSums(p.SecureLists > 0)
	}
	f.replace(f.blank())
	f.epoch, f.last, f.ignored, f.unproven, f.start = 0, 0, 0, 0, wire.LogStart{}
	f.batch, f.course = batch{}, course{}
	f.checkpoints.stored, f.checkpoints.last = mark{}, 0
	f.forgetOthers()
}

// Forget drops what the follower knows about the store, because another client of this device may
// have changed the store. Forget keeps the state, because the state is still a state of the log.
func (f *Follower) Forget() {
	f.checkpoints.stored, f.checkpoints.last = mark{}, 0
	f.forgetOthers()
}

// forgetOthers forgets digests, repairs and downloads.
func (f *Follower) forgetOthers() {
	f.digests, f.repair, f.snapshots = digests{}, repair{}, snapshots{}
	f.objects = objects{}
}

// FreeDownload frees the memory of a download, because a stopped device does not need it.
func (f *Follower) FreeDownload() { f.snapshots.download = nil }

// applyAll applies the next records.
func (f *Follower) applyAll(records [][]byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.replica.ApplyAll(records)
	return err
}

// apply applies the next record.
func (f *Follower) apply(record []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.replica.Apply(record)
}

// replace replaces the replica.
func (f *Follower) replace(r *replica.Replica) {
	f.mu.Lock()
	f.replica = r
	f.mu.Unlock()
}

// keyed adds the remedy to an error about the run key.
func (f *Follower) keyed(err error) error {
	if errors.Is(err, plan.ErrRunKey) {
		return fmt.Errorf("%w: set Config.RunKey to the 32 bytes "+
			"that the plan of run %q was made with",
			err, f.cfg.Run)
	}
	return err
}

// checkPrivate refuses a plan with a public run key if the app has a secret run key. Otherwise
// anyone who has that plan could compute the model.
func (f *Follower) checkPrivate() error {
	if f.private() && !f.replica.Plan().Private() {
		return fmt.Errorf("%w: this device has a secret one, and the plan's is public: "+
			"leave Config.RunKey nil for a run that is not private", plan.ErrRunKey)
	}
	return nil
}

// private says whether the app has a secret run key.
func (f *Follower) private() bool { return len(f.cfg.Replica.RunKey) > 0 }
