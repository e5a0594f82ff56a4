package coordinator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A FileLog is a [Log] in a directory of its own: the files log (records, see
// frame.go), roster (one id a line) and lock.
//
// Invariants:
//  1. offsets[n-1] is where the frame of record n begins, and size is where the
//     next one will; what the file has beyond is of an append that failed.
//  2. The bytes before size are on the disk.
type FileLog struct {
	dir  string
	lock *os.File
	log  *os.File

	mu      sync.Mutex // guards what follows
	offsets []int64
	size    int64
	tail    link
	dirty   bool // the file has bytes beyond size
	roster  *rosterFile
}

var _ Log = (*FileLog)(nil)

// OpenFileLog opens the log in a directory, and makes both if there are none.
// What a crash left of an append that never returned is cut off.
//
// Errors match [ErrLocked] or [ErrCorrupt], or are those of the file system.
func OpenFileLog(dir string) (*FileLog, error) {
	f := &FileLog{dir: dir}
	if err := f.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("coordinator: log %s: %w", dir, err), f.Close())
	}
	return f, nil
}

func (f *FileLog) open() error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	var err error
	if f.lock, err = lockFile(filepath.Join(f.dir, "lock")); err != nil {
		return err
	}
	if f.log, err = openWithHead(filepath.Join(f.dir, "log"), logHead); err != nil {
		return err
	}
	if err := f.scan(); err != nil {
		return err
	}
	if f.roster, err = openRoster(filepath.Join(f.dir, "roster")); err != nil {
		return err
	}
	return syncDir(f.dir)
}

// openWithHead opens a file that begins with head, and makes it if there is
// none or if a crash left less than its head.
func openWithHead(path, head string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	got := make([]byte, len(head)+1)
	n, err := readAt(file, got, 0)
	got = got[:n]
	switch {
	case err != nil:
	case strings.HasPrefix(string(got), head):
		return file, nil
	case strings.HasPrefix(head, string(got)), n <= len(head) && allZero(got):
		if err = writeAt(file, []byte(head), 0); err == nil {
			return file, nil
		}
	default:
		err = fmt.Errorf("%s: %w: it does not begin with %q", filepath.Base(path), ErrCorrupt, head)
	}
	return nil, errors.Join(err, file.Close())
}

// writeAt writes b at the end that off says the file has, and returns when it
// is on the disk.
func writeAt(file *os.File, b []byte, off int64) error {
	if err := file.Truncate(off); err != nil {
		return err
	}
	if _, err := file.WriteAt(b, off); err != nil {
		return err
	}
	return file.Sync()
}

// scan reads the log from its beginning and cuts off a torn tail.
func (f *FileLog) scan() error {
	info, err := f.log.Stat()
	if err != nil {
		return err
	}
	f.size = int64(len(logHead))
	r := newFrameReader(f.log, f.size, info.Size())
	for {
		record, err := r.next()
		if errors.Is(err, errTorn) {
			return writeAt(f.log, nil, f.size)
		}
		if err != nil {
			return fmt.Errorf("record %d at byte %d: %w", f.tail.n+1, f.size, err)
		}
		if record == nil {
			return nil
		}
		if _, err := f.tail.follow(record); err != nil {
			return err
		}
		f.offsets = append(f.offsets, f.size)
		f.size = r.off
	}
}

// Append implements [Log]: one write and one sync.
func (f *FileLog) Append(n uint64, record []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n != f.tail.n+1 {
		return fmt.Errorf("log: append of record %d after %d: %w", n, f.tail.n, ErrOrder)
	}
	tail := f.tail
	if _, err := tail.follow(record); err != nil {
		return fmt.Errorf("log: append: %w", err)
	}
	if f.dirty {
		if err := f.log.Truncate(f.size); err != nil {
			return fmt.Errorf("log: append: %w", err)
		}
	}
	f.dirty = true
	frame := appendFrame(nil, record)
	if _, err := f.log.WriteAt(frame, f.size); err != nil {
		return fmt.Errorf("log: append: %w", err)
	}
	if err := f.log.Sync(); err != nil {
		return fmt.Errorf("log: append: %w", err)
	}
	f.dirty, f.tail = false, tail
	f.offsets = append(f.offsets, f.size)
	f.size += int64(len(frame))
	return nil
}

// Last implements [Log].
func (f *FileLog) Last() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tail.n
}

// Read implements [Log].
func (f *FileLog) Read(from uint64, each func(n uint64, record []byte) bool) error {
	f.mu.Lock()
	offsets, size := f.offsets, f.size
	f.mu.Unlock()
	from = max(from, 1)
	if from > uint64(len(offsets)) {
		return nil
	}
	r := newFrameReader(f.log, offsets[from-1], size)
	for n := from; ; n++ {
		record, err := r.next()
		if err != nil {
			return fmt.Errorf("log: record %d: %w", n, errors.Join(ErrCorrupt, err))
		}
		if record == nil || !each(n, record) {
			return nil
		}
	}
}

// AddMembers implements [Log].
func (f *FileLog) AddMembers(ids []string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.roster.add(ids); err != nil {
		return fmt.Errorf("log: roster: %w", err)
	}
	return nil
}

// Members implements [Log].
func (f *FileLog) Members() ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.roster.ids), nil
}

// Close implements [Log].
func (f *FileLog) Close() error {
	var errs []error
	if f.roster != nil {
		errs = append(errs, f.roster.file.Close())
	}
	if f.log != nil {
		errs = append(errs, f.log.Close())
	}
	if f.lock != nil {
		errs = append(errs, unlockFile(f.lock))
	}
	return errors.Join(errs...)
}
