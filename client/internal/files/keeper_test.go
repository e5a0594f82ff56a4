package files_test

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/internal/files"
	"github.com/zofl/zofl/internal/dirstore"
	"github.com/zofl/zofl/internal/disk"
	"github.com/zofl/zofl/wire"
)

// A frailStore fails while fault is not nil.
type frailStore struct {
	files.Store
	fault error
}

func (s *frailStore) Save(item string, write func(io.Writer) error) error {
	if s.fault == nil {
		return s.Store.Save(item, write)
	}
	return cmp.Or(write(broken{s.fault}), s.fault)
}

func (s *frailStore) Load(item string, read func(*io.SectionReader) error) error {
	if s.fault == nil {
		return s.Store.Load(item, read)
	}
	return cmp.Or(read(io.NewSectionReader(broken{s.fault}, 0, 1000)), s.fault)
}

// broken is a file that fails to write and to read.
type broken struct{ fault error }

func (b broken) Write([]byte) (int, error)         { return 0, b.fault }
func (b broken) ReadAt([]byte, int64) (int, error) { return 0, b.fault }

// A rig is a keeper with its store and the reports of the keeper.
type rig struct {
	*files.Keeper
	store    *frailStore
	reported []error
}

func newRig(t *testing.T, run, id string) *rig {
	t.Helper()
	s, err := dirstore.Open(disk.OS, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	r := &rig{store: &frailStore{Store: s}}
	r.Keeper = files.New(files.Config{
		Store: r.store, Run: run, ID: id, Logger: slog.New(slog.DiscardHandler),
		Report: func(err error) error { r.reported = append(r.reported, err); return nil },
	})
	return r
}

var (
	errBad   = errors.New("not ours")
	planHash = wire.Hash{7}
)

const (
	item  = "numbers"
	magic = "test 1\n"
)

// saveStream saves text as a large file.
func (r *rig) saveStream(text string) error {
	return r.Check(item, r.SaveStream(item, magic, planHash,
		func(to io.Writer) { io.WriteString(to, text) }))
}

// loadStream returns the content of a large file, and "" if there is none.
func (r *rig) loadStream(t *testing.T, of wire.Hash) (text string) {
	t.Helper()
	if err := r.LoadStream(item, magic, of, errBad, func(from io.Reader, size int64) error {
		b, err := io.ReadAll(from)
		if int64(len(b)) != size {
			t.Errorf("%d bytes, size says %d", len(b), size)
		}
		text = string(b)
		return err
	}); err != nil {
		t.Error(err)
	}
	return text
}

// raw returns a stored file, and put replaces it.
func (r *rig) raw(t *testing.T) (b []byte) {
	t.Helper()
	if err := r.store.Store.Load(item, func(from *io.SectionReader) (err error) {
		b, err = io.ReadAll(from)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return b
}

func (r *rig) put(t *testing.T, file []byte) {
	t.Helper()
	if err := r.store.Store.Save(item, func(w io.Writer) error {
		_, err := w.Write(file)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// The keeper reports a failure to read or write an item once, and tries again each time.
func TestStoreFails(t *testing.T) {
	r := newRig(t, "run", "d0")
	r.store.fault = errors.New("no medium")
	r.loadStream(t, planHash)
	for range 2 {
		if err := r.saveStream("content"); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.reported) != 1 || !errors.Is(r.reported[0], files.ErrStore) ||
		!strings.Contains(r.reported[0].Error(), item+": no medium") {
		t.Errorf("reported %v, want once that %s has no medium", r.reported, item)
	}
	if !r.Failing(item) {
		t.Error("the item counts as working")
	}
	r.store.fault = nil
	if err := r.saveStream("content"); err != nil || r.Failing(item) {
		t.Errorf("after the mend: %v, failing %v", err, r.Failing(item))
	}
	if got := r.loadStream(t, planHash); got != "content" {
		t.Errorf("got %q, want the content", got)
	}
}

// Check returns the error of Report.
func TestReportFails(t *testing.T) {
	full := errors.New("disk full")
	s := files.New(files.Config{
		Logger: slog.New(slog.DiscardHandler), Report: func(error) error { return full },
	})
	if err := s.Check(item, errors.New("no medium")); err != full {
		t.Errorf("got %v, want %v", err, full)
	}
}

// The keeper sets aside and reports a file that this client and plan cannot have written.
func TestForeignStream(t *testing.T) {
	r := newRig(t, "run", "d0")
	if err := r.saveStream("some content"); err != nil {
		t.Fatal(err)
	}
	good := r.raw(t)
	flipped := bytes.Clone(good)
	flipped[len(flipped)-40] ^= 4
	for _, tt := range []struct {
		name    string
		run, id string
		of      wire.Hash
		file    []byte
		bad     bool
	}{
		{"good", "run", "d0", planHash, good, false},
		{"cut", "run", "d0", planHash, good[:len(good)-1], true},
		{"short", "run", "d0", planHash, good[:20], true},
		{"empty", "run", "d0", planHash, nil, true},
		{"longer", "run", "d0", planHash, append(bytes.Clone(good), 0), true},
		{"flipped", "run", "d0", planHash, flipped, true},
		{"of another plan", "run", "d0", wire.Hash{8}, good, true},
		{"of another run", "ruN", "d0", planHash, good, true},
		{"of another device", "run", "d1", planHash, good, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.run, tt.id)
			r.put(t, tt.file)
			got := r.loadStream(t, tt.of)
			switch {
			case !tt.bad && (got != "some content" || len(r.reported) > 0):
				t.Errorf("got %q, reported %v", got, r.reported)
			case tt.bad && (got != "" || len(r.reported) != 1 ||
				!errors.Is(r.reported[0], files.ErrStore)):
				t.Errorf("got %q, reported %v, want it set aside", got, r.reported)
			}
			if err := r.saveStream("new"); err != nil || r.loadStream(t, planHash) != "new" {
				t.Errorf("nothing can be saved after that: %v", err)
			}
		})
	}
}

// The keeper also sets aside a foreign small file, or one that is too long.
func TestForeignFile(t *testing.T) {
	r := newRig(t, "run", "d0")
	if err := r.SaveFile(item, magic, []byte("content")); err != nil {
		t.Fatal(err)
	}
	good := r.raw(t)
	for n := range len(good) + 1 {
		r, file := newRig(t, "run", "d0"), bytes.Clone(good)
		if n < len(good) {
			file[n] ^= 1
		}
		r.put(t, file)
		var got []byte
		err := r.LoadFile(item, magic, len(good), errBad,
			func(b []byte) error { got = b; return nil })
		bad := n < len(good)
		if err != nil || bad != (got == nil) || bad != (len(r.reported) == 1) {
			t.Fatalf("byte %d flipped: %v, got %q, reported %v", n, err, got, r.reported)
		}
	}
	r.LoadFile(item, magic, len(good)-1, errBad,
		func([]byte) error { t.Error("it was taken"); return nil })
	if len(r.reported) != 1 {
		t.Errorf("one byte too long: reported %v", r.reported)
	}
}
