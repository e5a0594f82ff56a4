package filelog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"sync"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/internal/seam"
	"github.com/zofl/zofl/wire"
)

// A Log is a [runlog.Log] in a directory of its own. The directory has these files: log (records,
// see frame.go), roster (see package roster), epoch, seen, decisions, handover and lock. With
// transport=dense the directory also has the folder objects, with one file for each vector. A Log
// also implements [runlog.Objects], [runlog.Epochs] and [runlog.Handovers].
//
// When a method returns nil, what it stored is on the disk, and not only in the page cache. The
// same holds for everything that Open has read. After a failed sync, the next Append writes all
// bytes of its record again.
//
// Only the goroutine that leads may use a Log, but any goroutine may call Last, Read, Lost and
// Object.
//
// Invariant: offsets[n-1-s] is the file offset at which the frame of record n begins. size is the
// offset at which the next frame will begin. s is the record after which the log begins: 0 unless
// the log begins with a state.
type Log struct {
	fs      disk.FS
	dir     string
	lock    io.Closer
	log     *tailFile
	roster  *rosterFile
	epoch   uint64    // the largest epoch that may be stored
	first   wire.Hash // of record 1
	base    *base     // nil: the log begins with record 1
	seen    *seenFile
	notes   []string          // unfinished work that open found
	left    string            // what the directory held besides records when the log was opened
	fixed   bool              // read-only: the Log writes nothing
	stored  runlog.ObjectName // the vector that PutObject stored last
	folder  bool              // the folder of vectors certainly exists
	rescued rescued

	decisions runlog.Decisions // the stored decisions
	handover  disk.File        // nil until this coordinator hands over
	handed    []byte           // the content of handover; nil: nobody asked for it

	mu      sync.Mutex // guards what follows, for Last and Read
	offsets []int64
	size    int64
	tail    runlog.Chain
	led     uint64 // the last record's epoch
}

var _ runlog.Log = (*Log)(nil)

// Open opens the log in a directory. Open creates the directory and the log if there are none. If a
// crash interrupted an append, Open cuts off the unfinished record.
//
// An error matches [runlog.ErrLocked] or [runlog.ErrCorrupt], or comes from the file system.
func Open(dir string) (*Log, error) { return openOn(disk.OS, dir) }

func init() {
	seam.SetFileLog(func(fsys disk.FS, dir string) (runlog.Log, error) {
		log, err := openOn(fsys, dir)
		if err != nil {
			return nil, err
		}
		return log, nil
	})
}

// openOn is [Open] on another file system; see package seam.
func openOn(fsys disk.FS, dir string) (*Log, error) {
	f := &Log{fs: fsys, dir: dir}
	if err := f.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("filelog: %s: %w", dir, err), f.Close())
	}
	return f, nil
}

func (f *Log) open() error {
	if err := disk.MakeDir(f.fs, f.dir); err != nil {
		return err
	}
	var err error
	if f.lock, err = f.fs.Lock(f.path("lock")); err != nil {
		return locked(err)
	}
	if err := disk.RemoveUnfinished(f.fs, f.dir); err != nil {
		return err
	}
	if f.log, err = openTail(f.fs, f.path("log"), logHead); err != nil {
		return err
	}
	if err := f.load(); err != nil {
		return err
	}
	if f.roster.absent {
		if err := f.roster.write(f.first, nil, nil); err != nil {
			return err
		}
	}
	if err := f.settleObjects(); err != nil {
		return err
	}
	return f.fs.SyncDir(f.dir)
}

// load reads all files of the log except the vectors.
func (f *Log) load() (err error) {
	if err := f.openBase(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	if err := f.scan(); err != nil {
		return err
	}
	if f.roster, err = openRoster(f.fs, f.path("roster"), f.first); err != nil {
		return err
	}
	if f.roster.torn > 0 {
		f.notes = append(f.notes, fmt.Sprintf("roster: %s of an unfinished line at its end",
			inBytes(int64(f.roster.torn))))
	}
	if f.epoch, err = readEpoch(f.fs, f.path("epoch")); err != nil {
		return err
	}
	if f.seen, err = readSeen(f.fs, f.path("seen")); err != nil {
		return err
	}
	f.left = f.remains()
	if f.decisions, err = readDecisions(f.fs, f.path("decisions")); err != nil {
		return err
	}
	return f.mend()
}

func locked(err error) error {
	if errors.Is(err, disk.ErrLocked) {
		err = fmt.Errorf("%w: %w", runlog.ErrLocked, err)
	}
	return err
}

func (f *Log) path(name string) string { return filepath.Join(f.dir, name) }

// scan reads the file of records from its beginning, up to its end or to an unfinished last frame.
func (f *Log) scan() error {
	f.size = int64(len(logHead))
	r := newFrameReader(f.log.file, f.size, f.log.size)
	for {
		record, err := r.next()
		if record == nil && err == nil || errors.Is(err, errTorn) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("record %d at byte %d: %w%s", f.tail.N+1, f.size, err,
				behind(f.log.file, f.size, f.log.size))
		}
		decoded, err := f.tail.Follow(record)
		if err != nil {
			return err
		}
		if f.led = decoded.Epoch; f.tail.N == 1 {
			f.first = f.tail.Hash
		}
		f.offsets = append(f.offsets, f.size)
		f.size = r.off
	}
}

// Notes implements [runlog.Notes].
func (f *Log) Notes() []string { return f.notes }

// Begin implements [runlog.Log].
func (f *Log) Begin(context.Context) (epoch uint64, err error) {
	if f.fixed {
		return 0, errFixed
	}
	f.mu.Lock()
	epoch = max(f.epoch, f.led)
	f.mu.Unlock()
	if epoch == math.MaxUint64 {
		return 0, fmt.Errorf("log: %w: there is no epoch after %d", runlog.ErrCorrupt, epoch)
	}
	epoch++
	if f.roster.old {
		if err := f.roster.write(f.first, f.roster.members, nil); err != nil {
			return 0, fmt.Errorf("log: %w", err)
		}
	}
	if err := f.keepEpoch(epoch); err != nil {
		return 0, err
	}
	if err := f.seen.begin(max(f.seen.n, f.tail.N)); err != nil {
		return 0, fmt.Errorf("log: %w", err)
	}
	return epoch, nil
}

func (f *Log) keepEpoch(epoch uint64) error {
	f.epoch = epoch
	if err := writeEpoch(f.fs, f.path("epoch"), epoch); err != nil {
		return fmt.Errorf("log: epoch: %w", err)
	}
	return nil
}

func (f *Log) LastEpoch(context.Context) (uint64, error) { return f.epoch, nil }

// PassEpochs implements [runlog.Epochs]. PassEpochs also writes f.epoch again, because an earlier
// write of that epoch may have failed.
func (f *Log) PassEpochs(_ context.Context, last uint64) error {
	if last == 0 {
		return nil
	}
	if f.fixed {
		return errFixed
	}
	return f.keepEpoch(max(f.epoch, last))
}

// Lost implements [runlog.Log]: because of the lock, no other coordinator can lead.
func (f *Log) Lost() <-chan struct{} { return nil }

// Append implements [runlog.Log] with one write and one sync.
func (f *Log) Append(ctx context.Context, n uint64, record []byte) error {
	if f.fixed {
		return errFixed
	}
	tail := f.tail
	if f.lost() {
		return &runlog.LossError{Last: tail.N, Seen: f.seen.n}
	}
	if n > 0 && n <= tail.N {
		return f.compare(ctx, n, record)
	}
	if n != tail.N+1 {
		return fmt.Errorf("log: append of record %d after %d: %w", n, tail.N, runlog.ErrOrder)
	}
	decoded, err := tail.Follow(record)
	if err == nil {
		err = f.unchanged()
	}
	if err == nil {
		err = f.explain(f.log.append(appendFrame(nil, record)))
	}
	if err != nil {
		return fmt.Errorf("log: append: %w", err)
	}
	if n == 1 {
		f.first = tail.Hash
	}
	f.mu.Lock()
	f.tail, f.led = tail, decoded.Epoch
	f.offsets = append(f.offsets, f.size)
	f.size = f.log.size
	f.mu.Unlock()
	if err := f.seen.note(n); err != nil {
		return fmt.Errorf("log: append: %w", err)
	}
	return nil
}

// compare returns a ConflictError if record n of the log differs from the record that the caller
// appends.
func (f *Log) compare(ctx context.Context, n uint64, record []byte) error {
	var conflict *runlog.ConflictError
	err := f.Read(ctx, n, func(n uint64, stored []byte) bool {
		if !bytes.Equal(stored, record) {
			conflict = &runlog.ConflictError{N: n, Record: bytes.Clone(stored)}
		}
		return false
	})
	if err == nil && conflict != nil {
		return conflict
	}
	return err
}

// Last implements [runlog.Log].
func (f *Log) Last() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tail.N
}

// Read implements [runlog.Log]. Read does not wait for a running Append.
func (f *Log) Read(ctx context.Context, from uint64,
	each func(n uint64, record []byte) bool) error {
	f.mu.Lock()
	offsets, size := f.offsets, f.size
	f.mu.Unlock()
	from = max(from, 1)
	start := f.start()
	switch {
	case from <= start:
		return fmt.Errorf("log: record %d: %w, after record %d", from, runlog.ErrBelow, start)
	case from > start+uint64(len(offsets)):
		return nil
	}
	r := newFrameReader(f.log.file, offsets[from-start-1], size)
	for n := from; ; n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		record, err := r.next()
		if errors.Is(err, errTorn) {
			err = fmt.Errorf("%w: %w", runlog.ErrCorrupt, err)
		}
		if err != nil {
			return fmt.Errorf("log: record %d: %w", n, err)
		}
		if record == nil || !each(n, record) {
			return nil
		}
	}
}

// AddMembers implements [runlog.Log]. AddMembers writes the whole roster, about 30 bytes for each
// member.
func (f *Log) AddMembers(_ context.Context, ids []string) error {
	if f.fixed {
		return errFixed
	}
	err := f.unchanged()
	if err == nil {
		err = f.roster.add(f.first, ids)
	}
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	return nil
}

// Retire implements [runlog.Log].
func (f *Log) Retire(_ context.Context, id string) error {
	if f.fixed {
		return errFixed
	}
	err := f.unchanged()
	if err == nil {
		err = f.roster.retire(f.first, id)
	}
	if err == nil || errors.Is(err, runlog.ErrNoMember) {
		return err
	}
	return fmt.Errorf("log: %w", err)
}

// Members implements [runlog.Log].
func (f *Log) Members() ([]string, error) { return slices.Clone(f.roster.members), nil }

// Retired implements [runlog.Log].
func (f *Log) Retired() ([]string, error) { return slices.Clone(f.roster.retired), nil }

// Close implements [runlog.Log].
func (f *Log) Close() error {
	var errs []error
	if f.base != nil {
		errs = append(errs, f.base.state.Close())
	}
	if f.log != nil {
		errs = append(errs, f.log.file.Close())
	}
	if f.handover != nil {
		errs = append(errs, f.handover.Close())
	}
	if f.seen != nil {
		errs = append(errs, f.seen.close())
	}
	if f.lock != nil {
		errs = append(errs, f.lock.Close())
	}
	return errors.Join(errs...)
}
