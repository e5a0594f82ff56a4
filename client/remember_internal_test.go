package client

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
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

func farthest(a, b []float32) float64 {
	far := 0.0
	for i := range a {
		far = max(far, math.Abs(float64(a[i]-b[i]))/(1+math.Abs(float64(a[i]))))
	}
	return far
}

// storing makes a client with a store in a directory, that has caught up.
func (r *rig) storing(i int, o objective.Objective, dir string) *Client {
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

// After a rollback to where nobody has found anything, scaffold-2 begins anew: c is 0
// there, and c_i alone would be no correction.
func TestControlAfterRollback(t *testing.T) {
	const d = 5
	p := densePlan(t, "fedzo-dense", d, strings.Fields(baseDense+" control=scaffold-2")...)
	r := newRig(t, p, newSlopes(d, 0, 1), newSlopes(d, 1, 1))
	r.round()
	r.round()
	from := &r.clients[0].est.dense
	back := newRig(t, p, newSlopes(d, 0, 1), newSlopes(d, 0, 1))
	back.clients[1].slot = 0
	back.clients[1].cfg.ID = back.clients[0].cfg.ID
	to := &back.clients[1].est.dense
	to.of, to.own = from.of, from.own
	if sent := back.round(); !slices.Equal(sent[0], sent[1]) {
		t.Errorf("sent %v, want %v", sent[1], sent[0])
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
		for i, phases := range [][]uint8{{2}, {2}, {1, 2}} {
			queries := uint64(0)
			for _, phase := range phases {
				queries += p.PhaseQueries(phase, p.Perturbations)
			}
			c := r.clients[i]
			if task, err := c.task(t.Context(), r.arrival(), c.replica.Plan()); err != nil || task.queries(p) != queries {
				t.Errorf("round %d, client %d: %d queries, %v, want %d", round, i, task.queries(p), err, queries)
			}
		}
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
