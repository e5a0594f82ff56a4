package filelog

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/internal/disk/disktest"
)

// later sets a file's time as a later write would. These tests are faster than a tick of the file
// system's clock.
func later(t *testing.T, path string) {
	t.Helper()
	at := time.Now().Add(time.Second)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

// Somebody changes the file of records while a coordinator runs. After that the log acknowledges no
// record and no member, the error says what happened, and the log does not change the file. Once
// the file is restored, the log goes on.
func TestLogIsGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files that are open can be neither renamed nor removed")
	}
	type act func(t *testing.T, path string)
	do := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	other := func(t *testing.T) string { dir := ledLog(t, 9, false); return dir }
	write := func(t *testing.T, path string, b []byte) { writeFile(t, path, b); later(t, path) }
	whole := func(t *testing.T, path string) {
		write(t, path, mustRead(t, path+".copy"))
	}
	for name, test := range map[string]struct {
		spoil, mend act
		says        string
		rescued     bool
	}{
		"the folder is removed": {spoil: func(t *testing.T, path string) {
			do(os.RemoveAll(filepath.Dir(path)))
		}, says: "removed or renamed", rescued: true},
		"the folder is renamed": {spoil: func(t *testing.T, path string) {
			do(os.Rename(filepath.Dir(path), filepath.Dir(path)+"-old"))
		}, mend: func(t *testing.T, path string) {
			do(os.Rename(filepath.Dir(path)+"-old", filepath.Dir(path)))
		}, says: "removed or renamed", rescued: true},
		"the folder is another log's": {spoil: func(t *testing.T, path string) {
			do(os.Rename(filepath.Dir(path), filepath.Dir(path)+"-old"),
				os.Rename(other(t), filepath.Dir(path)))
		}, mend: func(t *testing.T, path string) {
			do(os.RemoveAll(filepath.Dir(path)), os.Rename(filepath.Dir(path)+"-old", filepath.Dir(path)))
		}, says: "in the place of the log", rescued: true},
		"the file is removed": {spoil: func(t *testing.T, path string) { do(os.Remove(path)) },
			says: "removed or renamed", rescued: true},
		"the file is renamed": {spoil: func(t *testing.T, path string) {
			do(os.Rename(path, path+"-old"))
		}, mend: func(t *testing.T, path string) {
			do(os.Rename(path+"-old", path))
		}, says: "removed or renamed", rescued: true},
		"a copy takes its place": {spoil: func(t *testing.T, path string) {
			do(os.Rename(path+".copy", path))
		}, says: "in the place of the log", rescued: true},
		"the file is emptied": {spoil: func(t *testing.T, path string) { do(os.Truncate(path, 0)) },
			mend: whole, says: "cut the log from"},
		"the file is cut": {spoil: func(t *testing.T, path string) { do(os.Truncate(path, 300)) },
			mend: whole, says: "cut the log from"},
		"the file is another log's": {spoil: func(t *testing.T, path string) {
			write(t, path, mustRead(t, filepath.Join(other(t), "log")))
		}, says: "bytes to the end of the log"},
		"the file is overwritten, and as long": {spoil: func(t *testing.T, path string) {
			write(t, path, bytes.Repeat([]byte("no log "), 1000)[:len(mustRead(t, path))])
		}, mend: whole, says: "after record 0 it is not what was stored"},
		"a bit flips": {spoil: func(t *testing.T, path string) {
			b := mustRead(t, path)
			b[len(b)-5] ^= 8
			write(t, path, b)
		}, mend: whole, says: "after record 4 it is not what was stored"},
		"the last records are others": {spoil: func(t *testing.T, path string) {
			b := mustRead(t, path)
			copy(b[len(b)-100:], make([]byte, 100))
			write(t, path, b)
		}, mend: whole, says: "it is not what was stored"},
		"another program appends": {spoil: func(t *testing.T, path string) {
			write(t, path, append(mustRead(t, path), "four"...))
		}, mend: func(t *testing.T, path string) {
			do(os.Truncate(path, int64(len(mustRead(t, path+".copy")))))
		}, says: "wrote 4 bytes to the end of the log"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "kitchen.log")
			f, records := openLog(t, dir), chaintest.Records(t, 8)
			begin(t, f, 1)
			chaintest.Append(t, f, records[:4])
			handOver(t, f, records[4], []byte("trend"))
			chaintest.Append(t, f, records[4:5])
			decided := runlog.Decisions{Pause: &runlog.Pause{Reason: "lunch"}}
			if err := f.Decide(t.Context(), decided); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "log")
			writeFile(t, path+".copy", mustRead(t, path))
			test.spoil(t, path)
			there, _ := os.ReadFile(path)
			before := tree(t, filepath.Dir(dir))
			for range 3 {
				for _, err := range []error{
					f.Append(t.Context(), 6, records[5]),
					f.AddMembers(t.Context(), []string{"a"}),
					f.PutObject(t.Context(), runlog.ObjectName{N: 6}, []byte("four")),
					f.Decide(t.Context(), runlog.Decisions{}),
				} {
					if err == nil || !strings.Contains(err.Error(), test.says) ||
						errors.Is(err, runlog.ErrCorrupt) ||
						strings.Contains(err.Error(), "rescued-1") != test.rescued {
						t.Fatalf("error %v, want one that says %q", err, test.says)
					}
				}
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, there) || f.Last() != 5 {
				t.Errorf("%d bytes became %d; record %d", len(there), len(now), f.Last())
			}
			rescue := dir + ".rescued-1"
			after := slices.DeleteFunc(tree(t, filepath.Dir(dir)), func(name string) bool {
				return strings.HasPrefix(name, rescue)
			})
			if !slices.Equal(before, after) {
				t.Errorf("files %q became %q", before, after)
			}
			if test.mend != nil {
				test.mend(t, path)
				chaintest.Append(t, f, records[5:])
				chaintest.Check(t, f, records)
			}
			closeLog(t, f)
			if test.rescued {
				f = openLog(t, rescue)
				chaintest.Check(t, f, records[:5])
				if d, err := f.Decisions(t.Context()); err != nil || d.Pause == nil {
					t.Errorf("decisions %+v, %v, want those of the log", d, err)
				}
				if state, err := f.HandedOver(t.Context()); err != nil || string(state) != "trend" {
					t.Errorf("handover %q, %v, want that of the log", state, err)
				}
				begin(t, f, 2)
				if err := runlog.CheckLoss(t.Context(), f, 0); err != nil {
					t.Error(err)
				}
				chaintest.Append(t, f, records[5:])
			}
		})
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tree returns the paths of all files.
func tree(t *testing.T, dir string) (all []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// If somebody changes the file during an append, the log does not acknowledge the record.
func TestLogIsGoneMeanwhile(t *testing.T) {
	records := chaintest.Records(t, 3)
	for name, spoil := range map[string]func(d *disktest.Disk) error{
		"removed": func(d *disktest.Disk) error { return d.Remove(bookDir + "/log") },
		"longer": func(d *disktest.Disk) error {
			file, err := d.Open(bookDir+"/log", os.O_RDWR)
			if err == nil {
				_, err = file.WriteAt([]byte("four"), 10_000)
			}
			return err
		},
		"cut": func(d *disktest.Disk) error {
			file, err := d.Open(bookDir+"/log", os.O_RDWR)
			if err == nil {
				err = file.Truncate(20)
			}
			return err
		},
	} {
		d := disktest.New()
		l := &fileBook{t: t}
		l.open(d)
		chaintest.Append(t, l.log, records[:1])
		l.log.log.file = &busyFile{l.log.log.file, func() error { return spoil(d) }}
		for range 3 {
			if err := l.log.Append(t.Context(), 2, records[1]); err == nil ||
				!strings.Contains(err.Error(), "the run goes on") {
				t.Errorf("%s: error %v, want one that says how to go on", name, err)
			}
		}
	}
}

// A busyFile is a file that another process changes during a Sync.
type busyFile struct {
	disk.File
	do func() error
}

func (f *busyFile) Sync() error {
	err := errors.Join(f.File.Sync(), f.do())
	f.do = func() error { return nil }
	return err
}

// If only the time of the file changes, the log reads the file again a few times, and then ignores
// the time.
func TestTouchedLog(t *testing.T) {
	dir := t.TempDir()
	f, records := openLog(t, dir), chaintest.Records(t, 12)
	chaintest.Append(t, f, records[:1])
	for i := range 10 {
		later(t, filepath.Join(dir, "log"))
		chaintest.Append(t, f, records[i+1:i+2])
	}
	if f.log.idle != mostIdle {
		t.Errorf("it was read again %d times, want %d", f.log.idle, mostIdle)
	}
	if err := os.Truncate(filepath.Join(dir, "log"), 100); err != nil {
		t.Fatal(err)
	}
	if err := f.Append(t.Context(), 12, records[11]); err == nil {
		t.Error("a log that was cut took a record")
	}
}

// If the disk refuses writes, the error names the file, and the log goes on once the disk accepts
// writes.
func TestReadOnlyDisk(t *testing.T) {
	d := disktest.New()
	l := &fileBook{t: t}
	l.open(d)
	records := chaintest.Records(t, 2)
	chaintest.Append(t, l.log, records[:1])
	d.Fail(1, 1, syscall.EROFS)
	err := l.log.Append(t.Context(), 2, records[1])
	if !errors.Is(err, syscall.EROFS) ||
		!strings.Contains(err.Error(), "goes on once the log can be written again") {
		t.Errorf("error %v, want EROFS and how to go on", err)
	}
	chaintest.Append(t, l.log, records[1:])
	chaintest.Check(t, l.log, records)
}
