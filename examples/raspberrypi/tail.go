package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
)

// lineMost is the longest line that a file may have.
const lineMost = 64 << 10

// A tail reads the lines of a file that grows. A file that was renamed and begun anew
// is read to its end, and then the new one from its beginning; so is one that was cut
// short.
type tail struct {
	path   string
	once   bool // end where the file does, and do not wait
	wait   func(ctx context.Context) error
	warn   func(text string)
	file   *os.File
	read   int64  // bytes of file
	rest   []byte // of a line that has not ended
	turned bool   // the next line is a file's first
	absent bool   // told that there is no file
}

// line returns the next line, without its end, and whether it is the first of a file.
// It waits for one; io.EOF is the end of a file that is read once.
func (t *tail) line(ctx context.Context) (line string, first bool, err error) {
	for {
		if i := bytes.IndexByte(t.rest, '\n'); i >= 0 {
			line = string(bytes.TrimRight(t.rest[:i], "\r"))
			t.rest = append(t.rest[:0], t.rest[i+1:]...)
			first, t.turned = t.turned, false
			return line, first, nil
		}
		if err := t.more(ctx); err != nil {
			return "", false, err
		}
	}
}

// more reads more of the file, or waits a little.
func (t *tail) more(ctx context.Context) error {
	if err := t.open(); err != nil {
		if t.once || !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if !t.absent {
			t.warn("there is no such file: waiting for it")
			t.absent = true
		}
		return t.wait(ctx)
	}
	if len(t.rest) > lineMost {
		t.warn("a line without an end was left out")
		t.rest = t.rest[:0]
	}
	var b [4096]byte
	n, err := t.file.Read(b[:])
	t.rest, t.read = append(t.rest, b[:n]...), t.read+int64(n)
	switch {
	case n > 0:
		return nil
	case err != nil && err != io.EOF:
		return err
	case t.once && len(t.rest) > 0:
		t.rest = append(t.rest, '\n') // the last line has no end
		return nil
	case t.once:
		return io.EOF
	}
	turned, err := t.turn()
	if turned || err != nil {
		return err
	}
	return t.wait(ctx)
}

func (t *tail) open() (err error) {
	if t.file == nil {
		t.file, err = os.Open(t.path)
		t.read, t.rest, t.turned = 0, t.rest[:0], true
		if err != nil {
			t.file = nil
		}
		t.absent = t.absent && err != nil
	}
	return err
}

// turn looks, at the end of the file, whether another has its name, or whether it was
// cut short.
func (t *tail) turn() (bool, error) {
	mine, err := t.file.Stat()
	if err != nil {
		return false, err
	}
	if mine.Size() > t.read { // it grew in between
		return true, nil
	}
	named, err := os.Stat(t.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case os.SameFile(mine, named) && mine.Size() == t.read:
		return false, nil
	}
	if len(t.rest) > 0 {
		t.warn("the file ended within a line, which was left out")
	}
	return true, t.close()
}

func (t *tail) close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file = nil
	return err
}
