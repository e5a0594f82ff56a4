package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/zofl/zofl/examples/sensor/internal/config"
)

// lineMost is the longest line allowed in a file.
const lineMost = 64 << 10

// A tail reads the lines of a growing file. If the file was renamed and begun anew, or cut short,
// it reads the old file to its end and then the new one from its beginning. If the tail cannot
// open or read the file, the tail logs that once and waits, because a logger, a USB stick or a
// server may be late. The tail skips empty lines, and the zeros that a power cut leaves in a
// file.
type tail struct {
	path   string
	once   bool // stop at the end of the file instead of waiting
	wait   func(ctx context.Context) error
	warn   func(text string)
	file   *os.File
	read   int64  // bytes of the file read so far
	rest   []byte // beginning of a line that has not ended
	turned bool   // the next line is the first of its file
	live   bool   // the end of the file was reached: what follows is new
	told   string // logged reason why the file cannot be read
}

// line returns the next line, without its line end, and whether it is the first of its file. line
// waits for a line. io.EOF is the end of a file that is read once.
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
	case t.once || errors.As(err, new(*config.FieldError)):
		return err
	}
	if text := err.Error(); text != t.told {
		t.warn("waiting for a file that cannot be read: " + text + help(err))
		t.told = text
	}
	_ = t.close() // the error was logged
	return t.wait(ctx)
}

// help returns advice for an error of reading a file, or "" if there is no advice.
func help(err error) string {
	switch {
	case errors.Is(err, os.ErrPermission):
		return ": make it readable for every user, outside of /home, which a service does not see"
	case errors.Is(err, os.ErrNotExist):
		return ": is it in /tmp? A service has one of its own"
	}
	return ""
}

// grow reads more of the file, or of another file that has its name now. It reports whether
// there was more. io.EOF is the end of a file that is read once.
func (t *tail) grow() (bool, error) {
	if err := t.open(); err != nil {
		return false, err
	}
	if len(t.rest) > lineMost {
		t.warn("skipped a line without an end")
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

// open opens the file. open refuses anything but a regular file, because something else, such as
// a pipe, could block the agent forever.
func (t *tail) open() error {
	if t.file != nil {
		return nil
	}
	t.read, t.rest, t.turned, t.live = 0, t.rest[:0], true, false
	switch info, err := os.Stat(t.path); {
	case err != nil && t.once:
		return &config.FieldError{Field: "source", Value: t.path,
			Remedy: "name a file that can be read: " + err.Error()}
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &config.FieldError{Field: "source", Value: t.path,
			Remedy: "it is not a regular file but " + info.Mode().String() +
				": name a CSV file, which may grow"}
	}
	file, err := os.Open(t.path)
	if err != nil {
		return err
	}
	t.file = file
	return nil
}

// turn checks, at the end of the file, whether another file has its name or whether it was
// cut short.
func (t *tail) turn() (bool, error) {
	mine, err := t.file.Stat()
	if err != nil {
		return false, err
	}
	if mine.Size() > t.read { // it grew meanwhile
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
		t.warn("the file ended within a line, which was skipped")
	}
	return true, t.close()
}

// extent returns where the next line begins and where the file ends; 0: unknown.
func (t *tail) extent() (from, to int64) {
	if info, err := t.file.Stat(); err == nil {
		to = info.Size()
	}
	return t.read - int64(len(t.rest)), to
}

// seek continues from another position.
func (t *tail) seek(at int64) error {
	t.read, t.rest = at, t.rest[:0]
	_, err := t.file.Seek(at, io.SeekStart)
	return err
}

// pass continues from the first line that begins after another position.
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
