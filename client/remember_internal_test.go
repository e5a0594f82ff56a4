package client

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire"
)

// A device that was killed goes on from the points and the w_i of its store: it is asked
// for the same and sends the same as one that was not.
func TestTrajectoryResumes(t *testing.T) {
	for _, window := range []string{"window=200", "window=25", "window=25 window_of=nearest"} {
		t.Run(window, func(t *testing.T) {
			const d = 6
			dir := t.TempDir()
			r := newRig(t, smallFZooS(t, d, window), newSlopes(d, 0, 1), newSlopes(d, 1, 1))
			c := r.storing(0, newSlopes(d, 0, 1), dir)
			r.clients[0] = c
			for range 4 {
				r.round()
			}
			r.keepAndClose(c)
			again := r.storing(0, newSlopes(d, 0, 1), dir)
			if again.est.dense.trajectory != nil {
				t.Error("there is a trajectory before the first round")
			}
			r.clients = append(r.clients, again)
			for range 2 {
				sent := r.round()
				// A window that slid has another order of rounding.
				if far := farthest(sent[0], sent[2]); far > 1e-4 {
					t.Errorf("sent\n%v after the restart, want\n%v", sent[2], sent[0])
				}
			}
			if got, want := again.est.dense.own, c.est.dense.own; got.n != want.n {
				t.Errorf("w_i of record %d, want %d", got.n, want.n)
			}
			if len(r.said) > 0 {
				t.Errorf("said %v", r.said)
			}
		})
	}
}

// A round that ends while the points of the store are added leaves the others for the
// next, and for the store.
func TestTrajectoryRecalledInPart(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, smallFZooS(t, 5, ""), newSlopes(5, 0, 1))
	r.clients[0] = r.storing(0, newSlopes(5, 0, 1), dir)
	r.round() // there is no w_i yet
	r.keepAndClose(r.clients[0])
	want := r.stored(dir, itemTrajectory)
	c := r.storing(0, newSlopes(5, 0, 1), dir)
	e := c.estimation(&task{n: 3, phase: 2}, r.plan)
	calls, over := 0, errors.New("over")
	tr := c.est.dense.trajectory
	if err := tr.recall(func() error {
		if calls++; calls > 7 {
			return over
		}
		return nil
	}); err != over || tr.process.Len() != 7 {
		t.Fatalf("got %v and %d points, want %v and 7", err, tr.process.Len(), over)
	}
	tr.fresh = true
	if err := c.keepOwn(); err != nil {
		t.Fatal(err)
	}
	if got := r.loaded(c.cfg.Store, itemTrajectory); !bytes.Equal(got, want) {
		t.Errorf("kept %d bytes, want the %d that were there", len(got), len(want))
	}
	if err := e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := tr.process.Len(), 4*4+5; got != want {
		t.Errorf("%d points, want %d", got, want)
	}
}

// A control file of another length is set aside.
func TestForeignControl(t *testing.T) {
	p := densePlan(t, "fedzo-dense", 5, strings.Fields(baseDense+" control=scaffold-2")...)
	for _, v := range [][]float32{nil, make([]float32, 4), make([]float32, 6)} {
		r := newRig(t, p)
		c := r.storing(0, newSlopes(5, 0, 1), t.TempDir())
		of := wire.HashRecord(r.log[0])
		if err := c.keepNumbers(itemControl, controlMagic, of, func(to io.Writer) { put(to, uint64(3), v) }); err != nil {
			t.Fatal(err)
		}
		r.clients = []*Client{c}
		r.round()
		if len(r.said) != 1 || !errors.Is(r.said[0].Err, ErrStore) {
			t.Errorf("%d elements: said %v", len(v), r.said)
		}
	}
}

func farthest(a, b []float32) float64 {
	far := 0.0
	for i := range a {
		far = max(far, math.Abs(float64(a[i]-b[i]))/(1+math.Abs(float64(a[i]))))
	}
	return far
}

// storing makes a client with a store in a directory, that has caught up.
func (r *rig) storing(i int, o Objective, dir string) *Client {
	r.t.Helper()
	s, err := OpenStore(dir)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { s.Close() })
	return r.client(i, o, s)
}

// keepAndClose keeps what a client has.
func (r *rig) keepAndClose(c *Client) {
	r.t.Helper()
	if err := c.keep(); err != nil {
		r.t.Fatal(err)
	}
	if err := c.cfg.Store.Close(); err != nil {
		r.t.Fatal(err)
	}
}

// A device that lost its points contributes from new ones, and says so once; so does
// one that lost its control variate, which is left out. One that has no store, or comes
// late, is told the same.
func TestLostTrajectory(t *testing.T) {
	for _, tt := range []struct {
		name string
		rig  func() *rig
		says error
	}{
		{"trajectory", func() *rig {
			return newRig(t, smallFZooS(t, 5, ""), newSlopes(5, 0, 1), newSlopes(5, 1, 1))
		}, errNoTrajectory},
		{"control", func() *rig {
			p := densePlan(t, "fedzo-dense", 5, strings.Fields(baseDense+" control=scaffold-2")...)
			return newRig(t, p, newSlopes(5, 0, 1), newSlopes(5, 1, 1))
		}, errNoVariate},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.rig()
			for range 4 {
				r.round()
			}
			if len(r.said) > 0 {
				t.Fatalf("said %v with nothing lost", r.said)
			}
			o := newSlopes(5, 1, 1)
			o.mood = func(int) float64 { return math.NaN() }
			late := r.client(1, o, nil)
			for range 3 {
				if _, _, err := r.work(late); !errors.Is(err, errNotFinite) {
					t.Fatal(err)
				}
			}
			o.mood = nil
			for range 4 {
				r.clients[1] = late
				r.round()
			}
			if len(r.said) != 1 || !errors.Is(r.said[0].Err, tt.says) || !strings.Contains(r.said[0].Err.Error(), "lost") {
				t.Errorf("said %v, want %v once", r.said, tt.says)
			}
		})
	}
}

// What the Recorder says to that ends Run.
func TestLostTrajectoryRecorder(t *testing.T) {
	r := newRig(t, smallFZooS(t, 5, ""), newSlopes(5, 0, 1))
	r.round()
	r.round()
	full := errors.New("disk full")
	c := r.client(1, newSlopes(5, 1, 1), nil)
	c.cfg.Recorder = RecorderFunc(func(Progress) error { return full })
	r.work(c)
	if err := c.keepIfDue(false); !errors.Is(err, full) || !fatal(err) {
		t.Errorf("got %v, want %v, fatal", err, full)
	}
	if err := c.keepIfDue(false); err != nil {
		t.Errorf("the second time: %v", err)
	}
}

// Scaffold-2 corrects by the c_i of the device's last contribution, also after a
// restart, whoever contributed meanwhile.
func TestControlResumes(t *testing.T) {
	const d = 5
	dir := t.TempDir()
	p := densePlan(t, "fedzo-dense", d, strings.Fields(baseDense+" control=scaffold-2")...)
	r := newRig(t, p, newSlopes(d, 0, 1), newSlopes(d, 1, 1))
	r.clients[0] = r.storing(0, newSlopes(d, 0, 1), dir)
	first := r.round()
	r.keepAndClose(r.clients[0])
	r.round(r.clients[1])
	again := r.storing(0, newSlopes(d, 0, 1), dir)
	x0, n := slices.Clone(again.replica.Params()), uint64(len(r.log))+1
	correction := make([]float64, d)
	for i, c := range again.replica.Control() {
		correction[i] = float64(c) - float64(first[0][d+i])
	}
	got, _, err := r.work(again)
	if err != nil {
		t.Fatal(err)
	}
	x, own := newReference(p, newSlopes(d, 0, 1)).round(x0, n, correction)
	near(t, "vector", got, append(x, own...))
	if len(r.said) > 0 {
		t.Errorf("said %v", r.said)
	}
}

// In scaffold-1 a device that had no part in phase 1, or was restarted since, finds its
// c_i in phase 2, as if it had.
func TestFirstPhaseMissed(t *testing.T) {
	const d = 5
	p := densePlan(t, "fedzo-dense", d, strings.Fields(baseDense+" control=scaffold-1 sharing=shared transport=dense")...)
	o := newSlopes(d, 0, 1)
	r := newRig(t, p, newSlopes(d, 0, 1), newSlopes(d, 1, 1))
	twin := r.client(0, o, nil)
	r.clients = append(r.clients, twin)
	for round := range 2 {
		o.queries = 0
		r.round(r.clients[:2]...)
		sent := r.round()
		if !slices.Equal(sent[0], sent[2]) {
			t.Errorf("round %d: sent %v, want %v of a device that had part in phase 1", round, sent[2], sent[0])
		}
		if want := int(p.PhaseQueries(1, p.Perturbations) + p.PhaseQueries(2, p.Perturbations)); o.queries != want {
			t.Errorf("%d queries, want %d", o.queries, want)
		}
	}
}

// What cannot be sent is not remembered, either.
func TestTooLargeIsForgotten(t *testing.T) {
	p := densePlan(t, "fedzo-dense", 5, strings.Fields(baseDense+" control=scaffold-1 distribution=normal perturbations=1")...)
	r := newRig(t, p, newSlopes(5, 0, 1))
	r.round()
	g := abs(r.clients[0].est.scalars[0])
	p.MaxScalar = g * 1.001 // which z times it passes
	r = newRig(t, p, newSlopes(5, 0, 1))
	if _, _, err := r.work(r.clients[0]); !errors.Is(err, errTooLarge) || !strings.Contains(err.Error(), "element") {
		t.Errorf("got %v, want an element of the vector above max_scalar", err)
	}
	if own := r.clients[0].est.dense.own; own.n != 0 {
		t.Errorf("c_i of record %d is remembered", own.n)
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
		if got := s.Load(item, func(*io.SectionReader) error { return nil }); got != nil || c.keeper.failing[item] {
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
			put(&b, tt.n, tt.weights, tt.points, make([]byte, max(0, tt.rest)))
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

// stored returns what a directory has of an item.
func (r *rig) stored(dir, item string) []byte {
	r.t.Helper()
	s, err := OpenStore(dir)
	if err != nil {
		r.t.Fatal(err)
	}
	defer s.Close()
	return r.loaded(s, item)
}

func (r *rig) loaded(s Store, item string) (b []byte) {
	r.t.Helper()
	if err := s.Load(item, func(from *io.SectionReader) (err error) {
		b, err = io.ReadAll(from)
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
	return b
}

func (r *rig) store(c *Client, item string, b []byte) {
	r.t.Helper()
	if err := c.cfg.Store.Save(item, func(to io.Writer) error {
		_, err := to.Write(b)
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
}
