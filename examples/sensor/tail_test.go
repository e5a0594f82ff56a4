package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var errDone = errors.New("done")

// follow reads a file's lines. Each time the reader waits, the next step runs; after the
// last step the reader ends.
func follow(t *testing.T, path string, steps ...func()) (lines []string,
	firsts []bool, told string) {
	t.Helper()
	f := &tail{path: path, warn: func(text string) { told += text + "\n" }}
	f.wait = func(context.Context) error {
		if len(steps) == 0 {
			return errDone
		}
		step := steps[0]
		steps = steps[1:]
		step()
		return nil
	}
	defer f.close()
	for {
		line, first, err := f.line(t.Context())
		if err != nil {
			if !errors.Is(err, errDone) {
				t.Fatal(err)
			}
			return lines, firsts, told
		}
		lines, firsts = append(lines, line), append(firsts, first)
	}
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.csv")
	write := func(flag int, text string) func() {
		return func() {
			f, err := os.OpenFile(path, flag|os.O_WRONLY|os.O_CREATE, 0o600)
			if err == nil {
				_, err = f.WriteString(text)
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	grow := func(text string) func() { return write(os.O_APPEND, text) }
	cut := func(text string) func() { return write(os.O_TRUNC, text) }
	move := func() {
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
	}
	moveAndBegin := func() { move(); grow("h2\nc\n")() }
	for _, c := range []struct {
		name  string
		steps []func()
		want  string // lines; a * marks the first of a file
		told  string
	}{
		{"grows", []func(){grow("h\na\n"), grow("b\n")}, "*h a b", "no such file"},
		{"begins with empty lines", []func(){grow("\n\r\nh\n\na\n")}, "*h a", ""},
		{"zeros of a power cut",
			[]func(){grow("h\na\n"), grow(strings.Repeat("\x00", 5000) + "b\n\x00\x00\nc\n")},
			"*h a b c", ""},
		{"line in parts", []func(){grow("h\na"), grow("a"), grow("a\r\n")}, "*h aaa", ""},
		{"rotated", []func(){grow("h\na\n"), move, func() {}, grow("h2\nb\n")}, "*h a *h2 b", ""},
		{"rotated at once", []func(){grow("h\na\n"), moveAndBegin}, "*h a *h2 c", ""},
		{"grows while it is rotated",
			[]func(){grow("h\na\n"), func() { grow("b\n")(); moveAndBegin() }}, "*h a b *h2 c", ""},
		{"cut short", []func(){grow("h\naaaa\n"), cut("h2\nb\n")}, "*h aaaa *h2 b", ""},
		{"cut within a line", []func(){grow("h\naaaa\nbb"), cut("h2\nb\n")},
			"*h aaaa *h2 b", "within a line"},
		{"endless line", []func(){grow("h\n" + strings.Repeat("x", lineMost+8192)), grow("\nb\n")},
			"*h", "skipped"},
	} {
		t.Run(c.name, func(t *testing.T) {
			os.Remove(path)
			lines, firsts, told := follow(t, path, c.steps...)
			for i, first := range firsts {
				if first {
					lines[i] = "*" + lines[i]
				}
			}
			if got := strings.Join(lines, " "); got != c.want &&
				!(c.name == "endless line" && strings.HasPrefix(got, "*h ") && len(got) < lineMost) {
				t.Errorf("lines %.80q, want %q", got, c.want)
			}
			if !strings.Contains(told, c.told) {
				t.Errorf("told %q, want %q", told, c.told)
			}
		})
	}
}

func TestTailOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.csv")
	if err := os.WriteFile(path, []byte("h\na\nb"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &tail{path: path, once: true, warn: func(string) {}}
	defer f.close()
	var lines []string
	for {
		line, _, err := f.line(t.Context())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if !slices.Equal(lines, []string{"h", "a", "b"}) {
		t.Errorf("lines %q", lines)
	}
}

// A file that is not permitted, or fails while it is read, is logged once.
func TestTailWaitsForAFileThatFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.csv")
	loop := path + ".link" // opening it under the file's name fails
	if err := errors.Join(os.WriteFile(path, []byte("h\na\n"), 0o600),
		os.Symlink(filepath.Base(path), loop)); err != nil {
		t.Fatal(err)
	}
	swap := func(aside, to string) func() {
		return func() {
			if err := errors.Join(os.Rename(path, aside), os.Rename(to, path)); err != nil {
				t.Fatal(err)
			}
		}
	}
	nothing := func() {}
	lines, firsts, told := follow(t, path, swap(path+".old", loop), nothing, nothing,
		swap(loop, path+".old"), nothing)
	if got := strings.Join(lines, " "); got != "h a h a" || !firsts[2] {
		t.Errorf("lines %q", got)
	}
	if strings.Count(told, "cannot be read") != 1 {
		t.Errorf("logged %q, want it once", told)
	}
}

func TestHelpWithAFile(t *testing.T) {
	for err, want := range map[error]string{os.ErrPermission: "/home", os.ErrNotExist: "/tmp",
		io.ErrNoProgress: ""} {
		if got := help(fmt.Errorf("open x: %w", err)); !strings.Contains(got, want) ||
			(want == "") != (got == "") {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
