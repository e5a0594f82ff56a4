package disk_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/internal/disk/disktest"
)

// both calls f with the operating system's file system and that of the tests, and a
// folder in each.
func both(t *testing.T, f func(t *testing.T, fsys disk.FS, dir string)) {
	t.Run("system", func(t *testing.T) { f(t, disk.OS, t.TempDir()) })
	t.Run("disktest", func(t *testing.T) { f(t, disktest.New(), "/") })
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func content(t testing.TB, fsys disk.FS, path string) string {
	t.Helper()
	f, err := fsys.Open(path, os.O_RDONLY)
	must(t, err)
	defer f.Close()
	size, err := f.Size()
	must(t, err)
	b, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	must(t, err)
	return string(b)
}

func names(t testing.TB, fsys disk.FS, dir string) []string {
	t.Helper()
	got, err := fsys.ReadDir(dir)
	must(t, err)
	return got
}

func TestReplace(t *testing.T) {
	long := strings.Repeat("long", 100_000)
	both(t, func(t *testing.T, fsys disk.FS, dir string) {
		path := filepath.Join(dir, "x")
		for _, want := range []string{"first", long, "", "last"} {
			must(t, disk.Replace(fsys, path, text(want)))
			if got := content(t, fsys, path); got != want {
				t.Errorf("got %d bytes, want %d", len(got), len(want))
			}
		}
		if got := names(t, fsys, dir); !slices.Equal(got, []string{"x"}) {
			t.Errorf("files %v, want x alone", got)
		}
	})
}

func TestReplaceKeepsTheOldAfterAnError(t *testing.T) {
	ours := errors.New("ours")
	both(t, func(t *testing.T, fsys disk.FS, dir string) {
		path := filepath.Join(dir, "x")
		must(t, disk.Replace(fsys, path, text("old")))
		err := disk.Replace(fsys, path,
			func(w io.Writer) error { return errors.Join(text("new")(w), ours) })
		if got := content(t, fsys, path); !errors.Is(err, ours) || got != "old" {
			t.Errorf("%v, then %q", err, got)
		}
		if got := names(t, fsys, dir); !slices.Equal(got, []string{"x"}) {
			t.Errorf("files %v, want x alone", got)
		}
	})
}

// The file that an interrupted Replace left may be another name of the old file, so it
// is not written to.
func TestReplaceAfterACrash(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	must(t, disk.Replace(disk.OS, path, text("old")))
	must(t, os.Link(path, path+".zofl-new"))
	err := disk.Replace(disk.OS, path, func(io.Writer) error { return syscall.EIO })
	if got := content(t, disk.OS, path); !errors.Is(err, syscall.EIO) || got != "old" {
		t.Errorf("%v, then %q", err, got)
	}
	must(t, os.Mkdir(path+".zofl-new", 0o700))
	must(t, os.WriteFile(filepath.Join(path+".zofl-new", "y"), nil, 0o600))
	if err := disk.Replace(disk.OS, path, text("new")); err == nil {
		t.Error("a folder in the way: no error")
	}
}

func TestReplaceRemovesWhatItCannotRename(t *testing.T) {
	d := disktest.New()
	must(t, disk.Replace(d, "x", text("old")))
	d.Fail(4, 1, syscall.EIO) // after open, write, sync and close
	if err := disk.Replace(d, "x", text("new")); !errors.Is(err, syscall.EIO) ||
		!strings.Contains(err.Error(), "rename") {
		t.Errorf("%v, want EIO of rename", err)
	}
	if got := names(t, d, "/"); !slices.Equal(got, []string{"x"}) || content(t, d, "x") != "old" {
		t.Errorf("files %v, want the old x alone", got)
	}
}

// Whatever fails, the file is complete, and new if the result was nil; the next call
// works.
func TestReplaceFaults(t *testing.T) {
	var errs []error
	run := func(d *disktest.Disk) {
		errs = []error{disk.Replace(d, "x", text("old")), disk.Replace(d, "x", text("new"))}
	}
	for _, fault := range []error{syscall.EIO, syscall.ENOSPC} {
		for d := range disktest.Faults(fault, run) {
			failed := slices.ContainsFunc(errs,
				func(err error) bool { return errors.Is(err, fault) })
			if failed == d.Failing() && errs[0] == nil && errs[1] == nil {
				t.Errorf("an operation failed and no call: %v\n%s", errs, d.Trace())
			}
			for state := range d.States() {
				got := ""
				if slices.Contains(names(t, state, "/"), "x") {
					got = content(t, state, "x")
				}
				if got != "new" &&
					(errs[1] == nil || got != "old" && errs[0] == nil ||
						got != "old" && got != "") {
					t.Errorf("errors %v, then %q\n%s", errs, got, state.Trace())
				}
				must(t, disk.RemoveUnfinished(state, "/"))
				must(t, disk.Replace(state, "x", text("again")))
				if got := names(t, state, "/"); !slices.Equal(got, []string{"x"}) {
					t.Errorf("files %v, want x alone", got)
				}
			}
		}
	}
}

func TestRemoveUnfinished(t *testing.T) {
	both(t, func(t *testing.T, fsys disk.FS, dir string) {
		for _, name := range []string{"x.zofl-new", "x", "y.new"} {
			f, err := fsys.Open(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR)
			must(t, err)
			must(t, f.Close())
		}
		must(t, disk.RemoveUnfinished(fsys, dir))
		if got := names(t, fsys, dir); !slices.Equal(got, []string{"x", "y.new"}) {
			t.Errorf("files %v", got)
		}
	})
	d := disktest.New()
	for skip := range 2 {
		f, err := d.Open("x.zofl-new", os.O_CREATE|os.O_RDWR)
		must(t, err)
		must(t, f.Close())
		d.Fail(skip, 1, syscall.EIO)
		if err := disk.RemoveUnfinished(d, "/"); !errors.Is(err, syscall.EIO) {
			t.Errorf("operation %d failed: %v, want EIO", skip, err)
		}
	}
}

func TestMakeDir(t *testing.T) {
	both(t, func(t *testing.T, fsys disk.FS, dir string) {
		path := filepath.Join(dir, "a", "b", "c")
		for range 2 {
			must(t, disk.MakeDir(fsys, path))
		}
		f, err := fsys.Open(filepath.Join(path, "x"), os.O_CREATE|os.O_RDWR)
		must(t, err)
		must(t, f.Close())
		if err := disk.MakeDir(fsys, filepath.Join(path, "x")); err == nil {
			t.Error("a file in the way: no error")
		}
		if err := disk.MakeDir(fsys, filepath.Join(path, "x", "y", "z")); err == nil {
			t.Error("a file above in the way: no error")
		}
	})
}

// A folder survives a power cut even if the process that first made it was killed before
// it synced its name.
func TestMakeDirSurvives(t *testing.T) {
	made := false
	for d := range disktest.Crashes(
		func(d *disktest.Disk) { made = disk.MakeDir(d, "a/b/c") == nil }) {
		if _, err := d.ReadDir("a/b/c"); made && err != nil {
			t.Errorf("MakeDir returned nil, and then: %v\n%s", err, d.Trace())
		}
	}
	for changes := range 9 {
		d := disktest.New()
		d.CutAfter(changes)
		disk.MakeDir(d, "a/b/c")
		d.Kill()
		must(t, disk.MakeDir(d, "a/b/c"))
		for state := range d.States() {
			if _, err := state.ReadDir("a/b/c"); err != nil {
				t.Errorf("killed after %d changes, then MakeDir returned nil, and then: %v",
					changes, err)
			}
		}
	}
}

func TestMakeDirFaults(t *testing.T) {
	var err error
	for d := range disktest.Faults(syscall.EIO,
		func(d *disktest.Disk) { err = disk.MakeDir(d, "a/b") }) {
		if d.Failing() != (err == nil) {
			t.Errorf("%v\n%s", err, d.Trace())
		}
		d.Kill()
		must(t, disk.MakeDir(d, "a/b"))
	}
	d := disktest.New()
	must(t, disk.MakeDir(d, "a"))
	d.Fail(1, 1, syscall.EIO)
	if err := disk.MakeDir(d, "a"); !errors.Is(err, syscall.EIO) {
		t.Errorf("a folder that cannot be read: %v, want EIO", err)
	}
	d.Fail(2, 1, fs.ErrPermission)
	if err := disk.MakeDir(d, "a"); err != nil {
		t.Errorf("a folder above that is not ours: %v", err)
	}
	d.Fail(2, 1, fs.ErrPermission)
	if err := disk.MakeDir(d, "b"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a folder above that is not ours, but holds what we made: %v", err)
	}
}

func TestLock(t *testing.T) {
	both(t, func(t *testing.T, fsys disk.FS, dir string) {
		path := filepath.Join(dir, "lock")
		held, err := fsys.Lock(path)
		must(t, err)
		if _, err := fsys.Lock(path); !errors.Is(err, disk.ErrLocked) {
			t.Errorf("second Lock: %v, want ErrLocked", err)
		}
		must(t, held.Close())
		held, err = fsys.Lock(path)
		must(t, err)
		must(t, held.Close())
		if _, err := fsys.Lock(filepath.Join(dir, "missing", "lock")); !errors.Is(err,
			fs.ErrNotExist) {
			t.Errorf("Lock in no folder: %v, want ErrNotExist", err)
		}
	})
}

func TestSystem(t *testing.T) {
	dir := t.TempDir()
	must(t, disk.OS.Mkdir(filepath.Join(dir, "a")))
	f, err := disk.OS.Open(filepath.Join(dir, "a", "x"), os.O_CREATE|os.O_RDWR)
	must(t, err)
	must(t, f.Truncate(7))
	if size, err := f.Size(); size != 7 || err != nil {
		t.Errorf("Size() = %d, %v, want 7", size, err)
	}
	must(t, f.Close())
	if _, err := f.Size(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Size of a closed file: %v", err)
	}
	must(t, disk.OS.Remove(filepath.Join(dir, "a", "x")))
	if _, err := disk.OS.Open(filepath.Join(dir, "a", "x"), os.O_RDWR); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("Open of no file: %v", err)
	}
	if _, err := disk.OS.ReadDir(filepath.Join(dir, "b")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadDir of no folder: %v", err)
	}
	if runtime.GOOS == "linux" {
		if err := disk.OS.SyncDir("/proc"); err != nil {
			t.Errorf("SyncDir where folders cannot be synced: %v", err)
		}
		if err := disk.OS.SyncDir(filepath.Join(dir, "b")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("SyncDir of no folder: %v", err)
		}
		for path, want := range map[string]fs.FileMode{"a": 0o700, "x": 0o600} {
			f, err := disk.OS.Open(filepath.Join(dir, "x"), os.O_CREATE|os.O_RDWR)
			must(t, err)
			must(t, f.Close())
			info, err := os.Stat(filepath.Join(dir, path))
			must(t, err)
			if got := info.Mode().Perm(); got != want {
				t.Errorf("%s has mode %v, want %v", path, got, want)
			}
		}
	}
}

// A lock ends with its process: the file that a killed one leaves keeps nobody out.
func TestLockOfTheKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if os.Getenv("ZOFL_TEST_LOCK") != "" {
		if _, err := disk.OS.Lock(os.Getenv("ZOFL_TEST_LOCK")); err != nil {
			t.Fatal(err)
		}
		os.Exit(7) // it does not release the lock
	}
	self := exec.Command(os.Args[0], "-test.run=^TestLockOfTheKilled$")
	self.Env = append(os.Environ(), "ZOFL_TEST_LOCK="+path)
	if err := self.Run(); err == nil || self.ProcessState.ExitCode() != 7 {
		t.Fatal(err)
	}
	l, err := disk.OS.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := disk.ShareLock(path); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("a lock that is held can be shared: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// A holder may remove the lock's file before it closes the lock. Nobody then holds a lock of the
// removed file beside a lock of the new one.
func TestRemovedLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var holders atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for done := 0; done < 50; {
				l, err := disk.OS.Lock(path)
				if errors.Is(err, disk.ErrLocked) {
					runtime.Gosched()
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n > 1 {
					t.Errorf("%d hold the lock", n)
				}
				runtime.Gosched()
				holders.Add(-1)
				_ = os.Remove(path) // on systems that cannot remove open files, it stays
				if err := l.Close(); err != nil {
					t.Error(err)
				}
				done++
			}
		})
	}
	all.Wait()
}
