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
// short. One that cannot be opened or read is told once, and waited for: a logger, a USB
// stick or a server may be late. Empty lines do not count, nor do the zeros that a power
// cut leaves in a file.
type tail struct {
	path   string
	once   bool // end where the file does, and do not wait
	wait   func(ctx context.Context) error
	warn   func(text string)
	file   *os.File
	read   int64  // bytes of file
	rest   []byte // of a line that has not ended
	turned bool   // the next line is a file's first
	live   bool   // the end of the file was reached once: what is read is new
	told   string // why the file cannot be read
}

// line returns the next line, without its end, and whether it is the first of a file.
// It waits for one; io.EOF is the end of a file that is read once.
func (t *tail) line(ctx context.Context) (line string, first bool, err error) {
	for {
		if i := bytes.IndexByte(t.rest, '\n'); i >= 0 {
			line = string(bytes.Trim(t.rest[:i], "\r\x00"))
			t.rest = append(t.rest[:0], t.rest[i+1:]...)
			if line == "" {
				continue
			}
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
	more, err := t.grow()
	switch {
	case more:
		return nil
	case err == nil:
		return t.wait(ctx)
	case t.once || errors.As(err, new(*FieldError)):
		return err
	}
	if text := err.Error(); text != t.told {
		t.warn("waiting for the file, which cannot be read: " + text + help(err))
		t.told = text
	}
	_ = t.close() // the error is told
	return t.wait(ctx)
}

// help says what to do about a file that cannot be read, where that is known.
func help(err error) string {
	switch {
	case errors.Is(err, os.ErrPermission):
		return ": let every user read it, outside of /home, which a service does not see"
	case errors.Is(err, os.ErrNotExist):
		return ": is it in /tmp? A service has one of its own"
	}
	return ""
}

// grow reads more of the file and says whether there is: of this one, or of another
// that has its name. io.EOF is the end of a file that is read once.
func (t *tail) grow() (bool, error) {
	if err := t.open(); err != nil {
		return false, err
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
		t.told = ""
		return true, nil
	case err != nil && err != io.EOF:
		return false, err
	case t.once && len(t.rest) > 0:
		t.rest = append(t.rest, '\n') // the last line has no end
		return true, nil
	case t.once:
		return false, io.EOF
	}
	t.live = true
	return t.turn()
}

// open opens the file, which has to be one: another thing, such as a pipe, may hold the
// agent up for ever.
func (t *tail) open() error {
	if t.file != nil {
		return nil
	}
	t.read, t.rest, t.turned, t.live = 0, t.rest[:0], true, false
	switch info, err := os.Stat(t.path); {
	case err != nil && t.once:
		return &FieldError{"source", t.path, "name a file that can be read: " + err.Error()}
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &FieldError{"source", t.path, "it is no file but " + info.Mode().String() + ": name a CSV file, which may grow"}
	}
	file, err := os.Open(t.path)
	if err != nil {
		return err
	}
	t.file = file
	return nil
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

// extent is where the next line begins and where the file ends; 0: nobody knows.
func (t *tail) extent() (from, to int64) {
	if info, err := t.file.Stat(); err == nil {
		to = info.Size()
	}
	return t.read - int64(len(t.rest)), to
}

// seek goes on from another position.
func (t *tail) seek(at int64) error {
	t.read, t.rest = at, t.rest[:0]
	_, err := t.file.Seek(at, io.SeekStart)
	return err
}

// pass goes on from the line after another position, where a part of one may be.
func (t *tail) pass(ctx context.Context, at int64) error {
	err := t.seek(at)
	if err == nil {
		_, _, err = t.line(ctx)
	}
	return err
}

func (t *tail) close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file = nil
	return err
}
