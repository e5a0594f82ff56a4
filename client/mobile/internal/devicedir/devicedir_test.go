package devicedir

import (
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/zofl/zofl/client"
)

// Changed says whether another Dir has saved an item in the directory since the last call.
func TestStateDirChangesHands(t *testing.T) {
	dir := t.TempDir()
	a, b := New(dir), New(dir)
	for i, turn := range []struct {
		s              *Dir
		changed, saves bool
	}{
		{s: a}, {s: b}, {s: a, saves: true}, {s: a, saves: true},
		{s: b, changed: true}, {s: b}, {s: a}, // b has only read
		{s: a, saves: true}, {s: b, changed: true, saves: true}, {s: a, changed: true}, {s: a},
	} {
		if err := turn.s.Open(); err != nil {
			t.Fatal(err)
		}
		if changed := turn.s.Changed(); changed != turn.changed {
			t.Errorf("turn %d: changed: %v, want %v", i, changed, turn.changed)
		}
		if turn.s.Changed() {
			t.Errorf("turn %d: Changed twice in a row", i)
		}
		if turn.saves {
			for range 2 {
				if err := turn.s.Save("thing", nothing); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := turn.s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func nothing(io.Writer) error { return nil }

// A fullStore has no room for one item.
type fullStore struct {
	client.Store
	item string
}

var errFull = errors.New("disk full")

func (s fullStore) Save(item string, write func(io.Writer) error) error {
	if item == s.item {
		return errFull
	}
	return s.Store.Save(item, write)
}

// If a Dir cannot save its signature, it saves nothing. Changed stays false after a full disk, so
// the client does not discard its state.
func TestStateDirFull(t *testing.T) {
	s := New(t.TempDir())
	for range 3 {
		if err := s.Open(); err != nil {
			t.Fatal(err)
		}
		if s.Changed() {
			t.Error("a full disk looks like another client")
		}
		s.store = fullStore{s.store, itemUser}
		if err := s.Save("thing", nothing); !errors.Is(err, errFull) {
			t.Errorf("Save: %v, want %v", err, errFull)
		}
		if err := s.Load("thing",
			func(*io.SectionReader) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Load: %v: something was saved without a signature", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
