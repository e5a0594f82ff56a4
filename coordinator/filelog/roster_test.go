package filelog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// withRoster returns a closed log's directory and its roster's bytes.
func withRoster(t *testing.T) (path string, b []byte) {
	t.Helper()
	dir := t.TempDir()
	f := openLog(t, dir)
	chaintest.Append(t, f, chaintest.Records(t, 3))
	if err := errors.Join(f.AddMembers(t.Context(), []string{"a", "b", "device-3"}),
		f.Retire(t.Context(), "b")); err != nil {
		t.Fatal(err)
	}
	closeLog(t, f)
	path = filepath.Join(dir, "roster")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, b
}

// Any damage to the roster shows: a bit, an exchanged, cut or added line, a missing file.
func TestRosterDamageShows(t *testing.T) {
	path, whole := withRoster(t)
	refused := func(what string, damaged []byte) {
		t.Helper()
		writeFile(t, path, damaged)
		f, err := OpenReadOnly(filepath.Dir(path)) // as Open does, but without its syncs
		if !errors.Is(err, runlog.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", what, err)
			f.Close()
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, damaged) {
			t.Errorf("%s: the file has changed", what)
		}
	}
	for bit := range 8 * len(whole) {
		damaged := bytes.Clone(whole)
		damaged[bit/8] ^= 1 << (bit % 8)
		refused("a bit flipped", damaged)
	}
	for cut := range whole {
		refused("cut", whole[:cut])
	}
	text := string(whole)
	refused("exchanged lines", []byte(strings.Replace(text, "+a\n+b\n", "+b\n+a\n", 1)))
	refused("a member more", []byte(strings.Replace(text, "+b\n", "+b\n+c\n", 1)))
	refused("text after it", append(bytes.Clone(whole), "+c\n"...))
	if _, err := Open(filepath.Dir(path)); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("to lead: %v, want ErrCorrupt", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Dir(path)); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("no roster: %v, want ErrCorrupt", err)
	}
}

// Open refuses a roster that belongs to another log.
func TestRosterOfAnotherLog(t *testing.T) {
	_, whole := withRoster(t)
	dir := t.TempDir()
	f := openLog(t, dir)
	r, err := wire.DecodeRecord(chaintest.Records(t, 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	r.Plan.Members++
	chaintest.Append(t, f, [][]byte{r.Append(nil)})
	closeLog(t, f)
	writeFile(t, filepath.Join(dir, "roster"), whole)
	if _, err := Open(dir); !errors.Is(err, runlog.ErrCorrupt) ||
		!strings.Contains(err.Error(), "record 1") {
		t.Errorf("the roster of another log: %v, want ErrCorrupt", err)
	}
}

// A roster of the old form stays as it is until a coordinator begins. Then the log writes it in the
// new form.
func TestOldRosterIsSealed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "roster")
	closeLog(t, openLog(t, dir))
	for _, lead := range []func(f *Log) error{
		func(f *Log) error { _, err := f.Begin(t.Context()); return err },
		func(f *Log) error { return f.AddMembers(t.Context(), []string{"c"}) },
		func(f *Log) error { return f.Retire(t.Context(), "a") },
	} {
		old := []byte(oldRosterHead + "b\na\ntor")
		writeFile(t, path, old)
		closeLog(t, openLog(t, dir))
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, old) {
			t.Errorf("opened: %q, %v, want it unchanged", got, err)
		}
		f := openLog(t, dir)
		if err := lead(f); err != nil {
			t.Fatal(err)
		}
		closeLog(t, f)
		got, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(got), "zofl roster 2\n+b\n+a\n") {
			t.Errorf("led: %q, %v, want a sealed roster", got, err)
		}
		f = openLog(t, dir)
		if got, err := f.Members(); err != nil || !slices.Equal(got[:2], []string{"b", "a"}) {
			t.Errorf("Members() = %v, %v", got, err)
		}
		closeLog(t, f)
	}
}

// TestRosterIsMadeAgain: a roster that somebody removed can be made by hand, as the error says. The
// members keep their slots, and all records are there.
func TestRosterIsMadeAgain(t *testing.T) {
	path, _ := withRoster(t)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Dir(path)); !errors.Is(err, runlog.ErrCorrupt) ||
		!strings.Contains(err.Error(), `make it: the line "zofl roster 1", then each member's id`) {
		t.Errorf("got %v, want an error that says what a person can do", err)
	}
	writeFile(t, path, []byte("zofl roster 1\na\nb\ndevice-3\n"))
	f := openLog(t, filepath.Dir(path))
	defer closeLog(t, f)
	if _, err := f.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if members, err := f.Members(); err != nil || f.Last() != 3 ||
		!slices.Equal(members, []string{"a", "b", "device-3"}) {
		t.Errorf("%v, %v; %d records", members, err, f.Last())
	}
}
