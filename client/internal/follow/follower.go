// Package follow brings a replica to the head of the run's log, and proves it: a [Head] in,
// a [Standing] out. It fetches what the replica lacks, replays it or takes a snapshot,
// compares the state with the run's reference, and keeps checkpoints. It never probes the
// loss and sends nothing of its own accord.
package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/internal/shelf"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// A Source answers requests about the run. Each method makes one request and returns the
// answer as it came; the frames are those of package wire.
type Source interface {
	// Records answers a [wire.CatchUpRequest].
	Records(ctx context.Context, request []byte) ([]byte, error)
	// Snapshot answers a [wire.SnapshotRequest].
	Snapshot(ctx context.Context, request []byte) ([]byte, error)
	// Object answers a [wire.ObjectRequest].
	Object(ctx context.Context, request []byte) ([]byte, error)
}

// An Observer hears of each record of the log, in order.
type Observer interface {
	// See is called with a record that is about to be applied or passed over.
	See(r *wire.Record, record []byte)
	// Doubt is called when the state jumps over records, to a snapshot's.
	Doubt()
}

// A Witness is a passive replica's interest in states. A follower with a witness replays
// all of the log: it takes no snapshot.
type Witness interface {
	// Wants says whether the state after record n is one to see.
	Wants(n uint64) bool
	// See is called on a state that the replica came to, in a replay up to record last.
	See(f *Follower, last uint64) error
}

// Progress is what the app is told of following.
type Progress struct {
	Aside    bool   // not a step of catching up
	Snapshot uint64 // record of the snapshot that is taken, 0: none is
	Vector   uint64 // record whose vector is fetched, 0: none is
	Received uint64 // bytes of either that came
	Size     uint64 // its bytes
	Err      error
}

// Config is what a follower needs.
type Config struct {
	Run      string
	Replica  replica.Config // of every replica that the follower makes
	Source   Source
	Shelf    *shelf.Shelf
	Pauses   *retry.Pauses
	Logger   *slog.Logger
	Observer Observer // nil: nobody
	Witness  Witness  // nil: nobody
	// Report tells the app; its error ends Run.
	Report func(Progress) error
	// Horizon, CheckpointEvery and CheckpointInterval are as in client.Config.
	Horizon            uint64
	CheckpointEvery    uint64
	CheckpointInterval time.Duration
}

// A Follower holds the replica and all that is known of the log.
//
// The goroutine of Run owns it. Any goroutine may call View, Params, Dim, Digest and Counts.
//
// Invariants:
//  1. Only the goroutine of Run changes replica, and only under mu.
//  2. The replica is the replay of the log up to its record, except while unproven is not
//     0: then a reference has yet to agree.
type Follower struct {
	cfg Config

	mu      sync.Mutex // guards replica against other goroutines
	replica *replica.Replica

	unproven    uint64 // record of the snapshot that the state began with, until a reference agrees; 0: none
	epoch       uint64 // of the last head that was followed
	last        uint64 // last record of the log, as far as known
	ignored     int    // heads in a row that were not followed
	course      course
	batch       batch
	decoded     wire.Record // in a catch-up: the record looked at
	digests     digests
	repair      repair
	snapshots   snapshots
	objects     objects
	checkpoints checkpoints
	pace        pace
}

// New returns a follower whose replica is blank.
func New(cfg Config) *Follower {
	f := &Follower{cfg: cfg}
	f.replica = f.blank()
	return f
}

func (f *Follower) blank() *replica.Replica { return replica.New(f.cfg.Replica) }

// View calls see with the replica, which nobody changes meanwhile.
func (f *Follower) View(see func(*replica.Replica)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	see(f.replica)
}

// Params copies the model to dst, which has one element per parameter, and returns the
// index of the record after which it is; 0 before record 1.
func (f *Follower) Params(dst []float32) (n uint64, err error) {
	dim := f.Dim()
	if dim == 0 {
		return 0, nil // a passive replica's that has no plan yet
	}
	if len(dst) != dim {
		return 0, fmt.Errorf("params: dst has %d elements, the model %d", len(dst), dim)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	copy(dst, f.replica.Params())
	return f.replica.Whole(), nil
}

// Dim is the number of parameters: the objective's, or the plan's once there is one.
func (f *Follower) Dim() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(int(f.cfg.Replica.Dim), len(f.replica.Params()))
}

// Digest returns the digest of the state and the index of the record after which it is;
// n = 0 while the state lacks vectors.
func (f *Follower) Digest() (n uint64, digest [32]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.whole() {
		return 0, digest
	}
	return f.replica.N(), f.replica.Digest()
}

// Counts returns the index of the last record that the state has, and the rounds among
// them.
func (f *Follower) Counts() (n, rounds uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.replica.N(), f.replica.Rounds()
}

// Replica is the replica. Whoever gets it must not change it.
func (f *Follower) Replica() *replica.Replica { return f.replica }

// Plan is the plan as changed so far; nil before record 1.
func (f *Follower) Plan() *wire.Plan { return f.replica.Plan() }

// N is the index of the last record that was applied.
func (f *Follower) N() uint64 { return f.replica.N() }

// Epoch is the epoch of the last head that was followed; 0: none.
func (f *Follower) Epoch() uint64 { return f.epoch }

// Last is the last record of the log, as far as known.
func (f *Follower) Last() uint64 { return max(f.last, f.replica.N()) }

// Heard takes the word of a coordinator that the log ends with record last.
func (f *Follower) Heard(last uint64) { f.last = max(f.last, last) }

// Live says whether record n counts for the state: no rollback undid it.
func (f *Follower) Live(n uint64) bool { return f.course.path(f.replica.N()).has(n) }

// Final says whether the run has ended, and nothing is left to prove or to fetch.
func (f *Follower) Final() bool { return f.replica.Ended() != nil && f.unproven == 0 && f.whole() }

// Unproven is the record of the snapshot that the state began with, until a reference
// agrees; 0: none.
func (f *Follower) Unproven() uint64 { return f.unproven }

// Downloading says whether a snapshot is under way.
func (f *Follower) Downloading() bool { return f.snapshots.download != nil }

// Save writes the state and what goes with it.
func (f *Follower) Save(w io.Writer) error { return f.replica.Save(w, f.history()) }

// Begin applies record 1. A plan that this device cannot run is an error that no waiting
// cures.
func (f *Follower) Begin(record []byte) error {
	if err := f.apply(record); err != nil {
		return fmt.Errorf("plan: %w", f.keyed(err))
	}
	if err := f.checkPrivate(); err != nil {
		f.replace(f.blank())
		return fmt.Errorf("plan: %w", err)
	}
	f.digestIfDue(1)
	return nil
}

// Reset forgets the log, and what was reported of its states.
func (f *Follower) Reset() {
	f.replace(f.blank())
	f.epoch, f.last, f.ignored, f.unproven = 0, 0, 0, 0
	f.batch, f.course = batch{}, course{}
	f.checkpoints.kept, f.checkpoints.tried = mark{}, 0
	f.forgetOthers()
}

// Forget forgets what another client of this device may have replaced in the store. The
// state stays until there is another: it is one of the log's.
func (f *Follower) Forget() {
	f.checkpoints.kept, f.checkpoints.tried = mark{}, 0
	f.forgetOthers()
}

// forgetOthers forgets what others said of states, and what is fetched.
func (f *Follower) forgetOthers() {
	f.digests, f.repair, f.snapshots = digests{}, repair{}, snapshots{}
	f.objects = objects{}
}

// Rest drops what a device that stops needs no longer: the memory of a download.
func (f *Follower) Rest() { f.snapshots.download = nil }

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

// replace puts another replica in the place of the present one.
func (f *Follower) replace(r *replica.Replica) {
	f.mu.Lock()
	f.replica = r
	f.mu.Unlock()
}

// keyed adds to a fault of the run key what to do about it.
func (f *Follower) keyed(err error) error {
	if errors.Is(err, wire.ErrRunKey) {
		return fmt.Errorf("%w: set Config.RunKey to the 32 bytes that the plan of run %q was made with",
			err, f.cfg.Run)
	}
	return err
}

// checkPrivate refuses a plan with a public run key where the app has a secret one: to
// whoever made that plan the model would be no secret.
func (f *Follower) checkPrivate() error {
	if f.private() && !f.replica.Plan().Private() {
		return fmt.Errorf("%w: this device has a secret one, and the plan's is public: "+
			"leave Config.RunKey nil for a run that is not private", wire.ErrRunKey)
	}
	return nil
}

// private says whether the app has a secret run key.
func (f *Follower) private() bool { return len(f.cfg.Replica.RunKey) > 0 }
