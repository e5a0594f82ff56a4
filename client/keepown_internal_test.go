package client

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire"
)

// A control file of another length is set aside.
func TestForeignControl(t *testing.T) {
	p := densePlan(t, "fedzo-dense", 5, strings.Fields(baseDense+" control=scaffold-2")...)
	for _, v := range [][]float32{nil, make([]float32, 4), make([]float32, 6)} {
		r := newRig(t, p)
		c := r.storing(0, newSlopes(5, 0, 1), t.TempDir())
		of := wire.HashRecord(r.log[0])
		if err := c.shelf.SaveStream(itemControl, controlMagic, of, func(to io.Writer) { put(to, uint64(3), v) }); err != nil {
			t.Fatal(err)
		}
		r.clients = []*Client{c}
		r.round()
		if len(r.said) != 1 || !errors.Is(r.said[0].Err, ErrStore) {
			t.Errorf("%d elements: said %v", len(v), r.said)
		}
	}
}

// A frail is a store that fails while it is told to.
type frail struct {
	Store
	fault error
}

func (s *frail) Save(item string, write func(io.Writer) error) error {
	if s.fault == nil {
		return s.Store.Save(item, write)
	}
	return cmp.Or(write(broken{s.fault}), s.fault)
}

func (s *frail) Load(item string, read func(*io.SectionReader) error) error {
	if s.fault == nil {
		return s.Store.Load(item, read)
	}
	return cmp.Or(read(io.NewSectionReader(broken{s.fault}, 0, 1000)), s.fault)
}

// broken is a file that cannot be written nor read.
type broken struct{ fault error }

func (b broken) Write([]byte) (int, error)         { return 0, b.fault }
func (b broken) ReadAt([]byte, int64) (int, error) { return 0, b.fault }

// A store that fails costs what it does not keep: that is said once, and tried again.
func TestTrajectoryStoreFails(t *testing.T) {
	for _, p := range []*wire.Plan{
		smallFZooS(t, 5, ""),
		densePlan(t, "fedzo-dense", 5, strings.Fields(baseDense+" control=scaffold-2")...),
	} {
		s, err := OpenStore(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		store := &frail{s, errors.New("no medium")}
		r := newRig(t, p)
		c := r.client(0, newSlopes(5, 0, 1), store)
		r.clients = []*Client{c}
		item := itemTrajectory
		if p.Preset != "fzoos" {
			item = itemControl
		}
		saying := func() (said int) {
			for _, p := range r.said {
				if errors.Is(p.Err, ErrStore) && strings.Contains(p.Err.Error(), item+": no medium") {
					said++
				}
			}
			return said
		}
		r.round()
		if got := saying(); got != 1 {
			t.Errorf("%s: said %d times that it cannot be read: %v", item, got, r.said)
		}
		for range 2 {
			if err := c.keepOwn(); err != nil {
				t.Fatal(err)
			}
		}
		if got := saying(); got != 1 {
			t.Errorf("%s: said %d times, want once: %v", item, got, r.said)
		}
		store.fault = nil
		for range 2 {
			if err := c.keepOwn(); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.Load(item, func(*io.SectionReader) error { return nil }); got != nil || c.shelf.Failing(item) {
			t.Errorf("%s: not kept when the store works again: %v", item, got)
		}
	}
}

// Files that this device and plan cannot have written are set aside, and cost what is in
// them.
func TestForeignTrajectory(t *testing.T) {
	const d = 5
	dir := t.TempDir()
	r := newRig(t, smallFZooS(t, d, ""), newSlopes(d, 0, 1))
	r.clients[0] = r.storing(0, newSlopes(d, 0, 1), dir)
	r.round()
	r.round()
	r.keepAndClose(r.clients[0])
	good := r.stored(dir, itemTrajectory)
	other := newRig(t, smallFZooS(t, d, "step=0.02"), newSlopes(d, 0, 1))
	other.round()
	other.round()
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 4
	for _, tt := range []struct {
		name string
		rig  *rig
		file []byte
		bad  bool
	}{
		{"good", r, good, false},
		{"cut", r, good[:len(good)-1], true},
		{"short", r, good[:20], true},
		{"empty", r, nil, true},
		{"longer", r, append(bytes.Clone(good), 0), true},
		{"flipped", r, flipped, true},
		{"of another plan", other, good, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.rig.said = nil
			dir := t.TempDir()
			c := tt.rig.storing(0, newSlopes(d, 0, 1), dir)
			tt.rig.store(c, itemTrajectory, tt.file)
			if _, _, err := tt.rig.work(c); err != nil {
				t.Fatal(err)
			}
			said := tt.rig.said
			switch {
			case !tt.bad && len(said) > 0:
				t.Errorf("said %v", said)
			case tt.bad && (len(said) != 2 || !errors.Is(said[0].Err, ErrStore) || !errors.Is(said[1].Err, errNoTrajectory)):
				t.Errorf("said %v, want that it was set aside and lost", said)
			}
			tt.rig.keepAndClose(c)
			if b := tt.rig.stored(dir, itemTrajectory); len(b) == 0 {
				t.Error("no trajectory was kept")
			}
		})
	}
}

// Nor does a file with good sums and wrong lengths make it read beyond, or take memory.
func TestTrajectoryLengths(t *testing.T) {
	const d, head = 5, 16
	p := smallFZooS(t, d, "")
	for _, tt := range []struct {
		name            string
		n               uint64
		weights, points uint32
		rest            int
		good            bool
	}{
		{"nothing yet", 0, 0, 0, 0, true},
		{"points", 0, 0, 2, 2 * (4*d + 8), true},
		{"points and w_i", 3, p.Features, 1, 4*int(p.Features) + 4*d + 8, true},
		{"no w_i", 3, 0, 1, 4*d + 8, false},
		{"another M", 3, 7, 1, 4*7 + 4*d + 8, false},
		{"w_i of no record", 0, p.Features, 1, 4*int(p.Features) + 4*d + 8, false},
		{"points that are not there", 0, 0, math.MaxUint32, 0, false},
		{"one byte more", 0, 0, 1, 4*d + 9, false},
		{"half a head", 0, 0, 0, -8, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			put(&b, tt.n, tt.weights, tt.points)
			b.Write(make([]byte, max(0, tt.rest)))
			b.Truncate(head + tt.rest)
			own, kept, err := readTrajectory(&b, int64(head+tt.rest), p)
			if tt.good != (err == nil) || err != nil && !errors.Is(err, errOwnFile) {
				t.Fatalf("got %v", err)
			}
			if err == nil && (own.n != tt.n || len(kept.y) != int(tt.points)) {
				t.Errorf("got w_i of %d and %d points", own.n, len(kept.y))
			}
		})
	}
}
