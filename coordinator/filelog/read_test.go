package filelog

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/internal/disk/disktest"
)

// If a stored record is appended again, the same bytes are no error, and other bytes are a
// conflict.
func TestFileLogConflict(t *testing.T) {
	d := disktest.New()
	f, err := openOn(d, "log")
	if err != nil {
		t.Fatal(err)
	}
	records := chaintest.Records(t, 3)
	chaintest.Append(t, f, records)
	if err := f.Append(t.Context(), 2, records[1]); err != nil {
		t.Errorf("the same again: %v", err)
	}
	var conflict *runlog.ConflictError
	err = f.Append(t.Context(), 2, records[2])
	if !errors.As(err, &conflict) || conflict.N != 2 || !bytes.Equal(conflict.Record, records[1]) {
		t.Errorf("another record 2: %v, want what is there", err)
	}
	d.FailReads(syscall.EIO)
	if err := f.Append(t.Context(), 2, records[2]); !errors.Is(err, syscall.EIO) ||
		errors.Is(err, runlog.ErrOrder) {
		t.Errorf("record 2 cannot be read: %v, want EIO", err)
	}
}

// If the disk fails to read the file, the error does not match ErrCorrupt.
func TestFileLogReadErrors(t *testing.T) {
	d := disktest.New()
	f, err := openOn(d, "log")
	if err != nil {
		t.Fatal(err)
	}
	chaintest.Append(t, f, chaintest.Records(t, 3))
	d.FailReads(syscall.EIO)
	err = f.Read(t.Context(), 2, func(uint64, []byte) bool { return true })
	if !errors.Is(err, syscall.EIO) || errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("Read: %v, want EIO", err)
	}
	d.Kill()
	d.FailReads(syscall.EIO)
	if _, err := openOn(d, "log"); !errors.Is(err, syscall.EIO) ||
		errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("open: %v, want EIO", err)
	}
}

// Another process truncates the file while it is open.
func TestFileLogBecomesShorter(t *testing.T) {
	path, whole := written(t, chaintest.Records(t, 3))
	f := openLog(t, filepath.Dir(path))
	if err := os.Truncate(path, int64(len(whole))-5); err != nil {
		t.Fatal(err)
	}
	if err := f.Read(t.Context(), 1, func(uint64, []byte) bool { return true }); !errors.Is(err,
		runlog.ErrCorrupt) {
		t.Errorf("Read: %v, want ErrCorrupt", err)
	}
	tail := tailFile{file: f.log.file}
	if err := tail.settle(0, int64(len(whole))); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("settle: %v, want ErrCorrupt", err)
	}
}

// If a sector of the last record becomes zeros while the log is open, Read reports damage and no
// unfinished append.
func TestFileLogLosesASectorWhileOpen(t *testing.T) {
	records := chaintest.Records(t, 2)
	records = append(records, longRecord(records, 1))
	path, whole := written(t, records)
	f := openLog(t, filepath.Dir(path))
	clear(whole[1024 : 1024+disk.Sector])
	writeFile(t, path, whole)
	if err := f.Read(t.Context(), 3, func(uint64, []byte) bool { return true }); !errors.Is(err,
		runlog.ErrCorrupt) {
		t.Errorf("Read: %v, want ErrCorrupt", err)
	}
}

func TestFileLogAddsNobody(t *testing.T) {
	d := disktest.New()
	f, err := openOn(d, "log")
	if err != nil {
		t.Fatal(err)
	}
	before := d.Fingerprint()
	if err := f.AddMembers(t.Context(), nil); err != nil || d.Fingerprint() != before {
		t.Errorf("AddMembers of nobody: %v, want nil and no effect", err)
	}
}

// A slowFile is a file whose Sync waits.
type slowFile struct {
	disk.File
	syncing, sync chan struct{}
}

func (f slowFile) Sync() error {
	close(f.syncing)
	<-f.sync
	return f.File.Sync()
}

func TestFileLogReadsDuringAnAppend(t *testing.T) {
	f, records := openLog(t, t.TempDir()), chaintest.Records(t, 3)
	chaintest.Append(t, f, records[:2])
	fast := f.log.file
	slow := slowFile{fast, make(chan struct{}), make(chan struct{})}
	f.log.file = slow
	var appended sync.WaitGroup
	appended.Go(func() {
		if err := f.Append(t.Context(), 3, records[2]); err != nil {
			t.Error(err)
		}
	})
	<-slow.syncing
	chaintest.Check(t, f, records[:2])
	close(slow.sync)
	appended.Wait()
	f.log.file = fast
	chaintest.Check(t, f, records)
}

// Two goroutines read while one appends, for the race detector.
func TestFileLogReadsAndAppends(t *testing.T) {
	f, records := openLog(t, t.TempDir()), chaintest.Records(t, 60)
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for f.Last() < uint64(len(records)) {
				last, got := f.Last(), uint64(0)
				err := f.Read(t.Context(), 1, func(n uint64, record []byte) bool {
					if !bytes.Equal(record, records[n-1]) {
						t.Errorf("record %d differs", n)
					}
					got = n
					return true
				})
				if err != nil || got < last {
					t.Errorf("%d records, %v, want at least %d", got, err, last)
				}
			}
		})
	}
	chaintest.Append(t, f, records)
	readers.Wait()
}

// BenchmarkFileLogRead reads 100 records from the middle of a log.
func BenchmarkFileLogRead(b *testing.B) {
	f := openLog(b, b.TempDir())
	frames := []byte(nil)
	for _, r := range chaintest.Records(b, 10_000) {
		f.offsets = append(f.offsets, int64(len(logHead)+len(frames)))
		frames = appendFrame(frames, r)
	}
	if err := f.log.append(frames); err != nil {
		b.Fatal(err)
	}
	f.size = f.log.size
	for b.Loop() {
		if err := f.Read(b.Context(), 5000, func(n uint64,
			_ []byte) bool {
			return n < 5100
		}); err != nil {
			b.Fatal(err)
		}
	}
}

// Read ends when its context ends.
func TestReadEnds(t *testing.T) {
	for _, log := range []runlog.Log{&runlog.Memory{}, openLog(t, t.TempDir())} {
		chaintest.Append(t, log, chaintest.Records(t, 5))
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		last := uint64(0)
		err := log.Read(ctx, 1, func(n uint64, _ []byte) bool {
			if last = n; n == 3 {
				cancel(enough)
			}
			return true
		})
		if !errors.Is(err, enough) || last != 3 {
			t.Errorf("%T: read up to record %d, %v; want the cause after record 3", log, last, err)
		}
	}
}
