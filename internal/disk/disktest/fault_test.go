package disktest

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestPowerOff(t *testing.T) {
	d, f := durable(t, "a")
	d.CutAfter(1)
	write(t, f, 1, "b")
	if d.Off() {
		t.Error("the power is off too soon")
	}
	before := d.Fingerprint()
	_, wrote := f.WriteAt([]byte("c"), 2)
	_, read := f.ReadAt(make([]byte, 1), 0)
	_, sized := f.Size()
	_, opened := d.Open("x", os.O_RDONLY)
	_, listed := d.ReadDir("/")
	_, locked := d.Lock("x")
	for i, err := range []error{wrote, read, sized, opened, listed, locked, f.Sync(), f.Truncate(0),
		f.Close(),
		d.Mkdir("y"), d.Rename("x", "y"), d.Remove("x"), d.SyncDir("/")} {
		if !errors.Is(err, ErrPowerOff) {
			t.Errorf("call %d: %v, want ErrPowerOff", i, err)
		}
	}
	if d.Fingerprint() != before || !d.Off() {
		t.Error("calls without power changed something")
	}
	if !strings.Contains(d.Trace(), "write x 1 at 2: disktest: the power is off") {
		t.Errorf("trace:\n%s", d.Trace())
	}
}

func TestNoSpace(t *testing.T) {
	d, f := durable(t, "abc")
	d.Limit(d.Used() + 2)
	if n, err := f.WriteAt([]byte("CDEF"), 2); n != 3 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("WriteAt: %d, %v, want 3 and ENOSPC", n, err)
	}
	if got := content(t, d, "x"); got != "abCDE" {
		t.Errorf("got %q", got)
	}
	write(t, f, 0, "AB")
	must(t, f.Truncate(1))
	write(t, f, 1, "1234")
}

func TestFaults(t *testing.T) {
	d, f := durable(t, "")
	d.Fail(1, 1, syscall.EIO)
	write(t, f, 0, "a")
	if n, err := f.WriteAt([]byte("bcde"), 1); n != 2 || !errors.Is(err, syscall.EIO) {
		t.Errorf("WriteAt: %d, %v, want 2 and EIO", n, err)
	}
	write(t, f, 3, "d")
	d.FailReads(syscall.EIO)
	if _, err := f.ReadAt(make([]byte, 1), 0); !errors.Is(err, syscall.EIO) {
		t.Errorf("ReadAt: %v, want EIO", err)
	}
	d.FailReads(nil)
	if got := content(t, d, "x"); got != "abcd" {
		t.Errorf("got %q", got)
	}
	for i, call := range []func() error{
		func() error { return d.Mkdir("m") },
		func() error { return d.Rename("x", "y") },
		func() error { return d.Remove("x") },
		func() error { return d.SyncDir("/") },
		func() error { return f.Truncate(0) },
		func() error { _, err := d.Open("y", os.O_CREATE); return err },
		func() error { _, err := d.ReadDir("/"); return err },
		func() error { _, err := d.Lock("l"); return err },
		func() error { _, err := f.Size(); return err },
	} {
		before := d.Fingerprint()
		d.Fail(0, 1, syscall.EIO)
		if err := call(); !errors.Is(err, syscall.EIO) || d.Fingerprint() != before {
			t.Errorf("call %d: %v, want EIO and no effect", i, err)
		}
	}
}

func TestMisuse(t *testing.T) {
	d, f := durable(t, "a")
	must(t, d.Mkdir("dir"))
	open(t, d, "dir/y")
	reader, err := d.Open("x", os.O_RDONLY)
	must(t, err)
	closed := open(t, d, "x")
	must(t, closed.Close())
	_, readOnly := reader.WriteAt([]byte("b"), 0)
	_, negative := f.WriteAt([]byte("b"), -1)
	_, isDir := d.Open("dir", os.O_RDWR)
	_, exclusive := d.Open("x", os.O_CREATE|os.O_EXCL)
	_, missing := d.Open("z", os.O_RDWR)
	_, below := d.Open("x/y", os.O_RDWR)
	for _, test := range []struct{ got, want error }{
		{readOnly, syscall.EBADF}, {reader.Truncate(0), syscall.EINVAL}, {negative, syscall.EINVAL},
		{isDir, syscall.EISDIR}, {exclusive, fs.ErrExist}, {missing, fs.ErrNotExist},
		{below, syscall.ENOTDIR},
		{d.Mkdir("x"), fs.ErrExist}, {d.Mkdir("q/r"), fs.ErrNotExist},
		{d.Remove("dir"), syscall.ENOTEMPTY},
		{d.Remove("z"), fs.ErrNotExist}, {d.Rename("z", "y"), fs.ErrNotExist},
		{closed.Sync(), fs.ErrClosed},
		{d.SyncDir("x"), syscall.ENOTDIR}, {d.SyncDir("z"), fs.ErrNotExist},
	} {
		if !errors.Is(test.got, test.want) {
			t.Errorf("got %v, want %v", test.got, test.want)
		}
	}
	if d.Rename("x", "dir/x") == nil {
		t.Error("a renaming into another folder: no error")
	}
}
