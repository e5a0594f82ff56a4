package coordinator

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

	"github.com/zofl/zofl/internal/disk"
)

// A FileLog is a [Log] in a directory of its own: the files log (records, see
// frame.go), roster (one id a line), epoch and lock, and of a run with
// dense transport a folder objects, a file for each vector.
//
// What it returns nil for, and what it has read when it was opened, is on the
// disk, not in the page cache alone: after a sync that failed, an append is
// written again from its beginning.
//
// Invariant: offsets[n-1] is where the frame of record n begins, and size is
// where the next one will.
type FileLog struct {
	fs     disk.FS
	dir    string
	lock   io.Closer
	log    *tailFile
	roster *rosterFile
	epoch  uint64     // the largest that may be stored
	stored ObjectName // the last vector
	folder bool       // the one of vectors is there for certain

	mu      sync.Mutex // guards what follows, for Last and Read
	offsets []int64
	size    int64
	tail    link
	led     uint64 // epoch of the last record
}

var _ Log = (*FileLog)(nil)

// OpenFileLog opens the log in a directory, and makes both if there are none.
// What a crash left of an append that never returned is cut off.
//
// Errors match [ErrLocked] or [ErrCorrupt], or are those of the file system.
func OpenFileLog(dir string) (*FileLog, error) { return OpenFileLogOn(disk.OS, dir) }

// OpenFileLogOn is [OpenFileLog] on another file system, for tests and
// simulations.
func OpenFileLogOn(fsys disk.FS, dir string) (*FileLog, error) {
	f := &FileLog{fs: fsys, dir: dir}
	if err := f.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("coordinator: log %s: %w", dir, err), f.Close())
	}
	return f, nil
}

func (f *FileLog) open() error {
	if err := disk.MakeDir(f.fs, f.dir); err != nil {
		return err
	}
	var err error
	if f.lock, err = f.fs.Lock(f.path("lock")); err != nil {
		if errors.Is(err, disk.ErrLocked) {
			err = fmt.Errorf("%w: %w", ErrLocked, err)
		}
		return err
	}
	if err := disk.RemoveUnfinished(f.fs, f.dir); err != nil {
		return err
	}
	if f.log, err = openTail(f.fs, f.path("log"), logHead); err != nil {
		return err
	}
	if err := f.scan(); err != nil {
		return err
	}
	if f.roster, err = openRoster(f.fs, f.path("roster")); err != nil {
		return err
	}
	if f.epoch, err = readEpoch(f.fs, f.path("epoch")); err != nil {
		return err
	}
	if err := f.settleObjects(); err != nil {
		return err
	}
	return f.fs.SyncDir(f.dir)
}

func (f *FileLog) path(name string) string { return filepath.Join(f.dir, name) }

// scan reads the log from its beginning and cuts off a torn tail.
func (f *FileLog) scan() error {
	f.size = int64(len(logHead))
	last := int64(0) // where begins what was written last
	r := newFrameReader(f.log.file, f.size, f.log.size)
	for {
		record, err := r.next()
		if record == nil && err == nil || errors.Is(err, errTorn) {
			return f.log.settle(last, f.size)
		}
		if err != nil {
			return fmt.Errorf("record %d at byte %d: %w", f.tail.n+1, f.size, err)
		}
		decoded, err := f.tail.follow(record)
		if err != nil {
			return err
		}
		f.led = decoded.Epoch
		last = f.size
		f.offsets = append(f.offsets, f.size)
		f.size = r.off
	}
}

// Begin implements [Log].
func (f *FileLog) Begin(context.Context) (epoch uint64, err error) {
	f.mu.Lock()
	epoch = max(f.epoch, f.led)
	f.mu.Unlock()
	if epoch == math.MaxUint64 {
		return 0, fmt.Errorf("log: %w: there is no epoch after %d", ErrCorrupt, epoch)
	}
	epoch++
	if err := f.keepEpoch(epoch); err != nil {
		return 0, err
	}
	return epoch, nil
}

func (f *FileLog) keepEpoch(epoch uint64) error {
	f.epoch = epoch
	if err := writeEpoch(f.fs, f.path("epoch"), epoch); err != nil {
		return fmt.Errorf("log: epoch: %w", err)
	}
	return nil
}

func (f *FileLog) lastEpoch(context.Context) (uint64, error) { return f.epoch, nil }

// passEpochs writes what may be stored already, too: it may not be.
func (f *FileLog) passEpochs(_ context.Context, last uint64) error {
	if last == 0 {
		return nil
	}
	return f.keepEpoch(max(f.epoch, last))
}

// Lost implements [Log]: its lock keeps others out.
func (f *FileLog) Lost() <-chan struct{} { return nil }

// Append implements [Log]: one write and one sync.
func (f *FileLog) Append(ctx context.Context, n uint64, record []byte) error {
	tail := f.tail
	if n > 0 && n <= tail.n {
		return f.compare(ctx, n, record)
	}
	if n != tail.n+1 {
		return fmt.Errorf("log: append of record %d after %d: %w", n, tail.n, ErrOrder)
	}
	decoded, err := tail.follow(record)
	if err == nil {
		err = f.log.append(appendFrame(nil, record))
	}
	if err != nil {
		return fmt.Errorf("log: append: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tail, f.led = tail, decoded.Epoch
	f.offsets = append(f.offsets, f.size)
	f.size = f.log.size
	return nil
}

// compare says what the append of a record that is there comes to.
func (f *FileLog) compare(ctx context.Context, n uint64, record []byte) error {
	var conflict *ConflictError
	err := f.Read(ctx, n, func(n uint64, stored []byte) bool {
		if !bytes.Equal(stored, record) {
			conflict = &ConflictError{N: n, Record: bytes.Clone(stored)}
		}
		return false
	})
	if err == nil && conflict != nil {
		return conflict
	}
	return err
}

// Last implements [Log].
func (f *FileLog) Last() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tail.n
}

// Read implements [Log]; an Append that is under way does not delay it.
func (f *FileLog) Read(ctx context.Context, from uint64, each func(n uint64, record []byte) bool) error {
	f.mu.Lock()
	offsets, size := f.offsets, f.size
	f.mu.Unlock()
	from = max(from, 1)
	if from > uint64(len(offsets)) {
		return nil
	}
	r := newFrameReader(f.log.file, offsets[from-1], size)
	for n := from; ; n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		record, err := r.next()
		if errors.Is(err, errTorn) {
			err = fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		if err != nil {
			return fmt.Errorf("log: record %d: %w", n, err)
		}
		if record == nil || !each(n, record) {
			return nil
		}
	}
}

// AddMembers implements [Log]: one write and one sync for each sector.
func (f *FileLog) AddMembers(_ context.Context, ids []string) error {
	if err := f.roster.add(ids); err != nil {
		return fmt.Errorf("log: roster: %w", err)
	}
	return nil
}

// Members implements [Log].
func (f *FileLog) Members() ([]string, error) { return slices.Clone(f.roster.ids), nil }

// Close implements [Log].
func (f *FileLog) Close() error {
	var errs []error
	if f.roster != nil {
		errs = append(errs, f.roster.tail.file.Close())
	}
	if f.log != nil {
		errs = append(errs, f.log.file.Close())
	}
	if f.lock != nil {
		errs = append(errs, f.lock.Close())
	}
	return errors.Join(errs...)
}
