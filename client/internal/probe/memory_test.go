package probe

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
)

// A device that loads its memory from the store continues as a device that was never killed: both
// make the same queries and send the same vectors.
func TestTrajectoryResumes(t *testing.T) {
	for _, window := range []string{"window=200", "window=25"} {
		t.Run(window, func(t *testing.T) {
			const d = 6
			r := newRig(t, smallFZooS(t, d, window), newSlopes(d, 0, 1), newSlopes(d, 1, 1))
			c := r.clients[0]
			for range 4 {
				r.round()
			}
			again := r.client(0, newSlopes(d, 0, 1))
			if again.memory.trajectory != nil {
				t.Error("there is a trajectory before the first round")
			}
			r.load(again, r.saved(c))
			r.clients = append(r.clients, again)
			for range 2 {
				sent := r.round()
				// If the window dropped points, the process adds numbers in another order, so rounding errors
				// differ.
				if far := farthest(sent[0], sent[2]); far > 1e-4 {
					t.Errorf("sent\n%v after the restart, want\n%v", sent[2], sent[0])
				}
			}
			if got, want := again.memory.own, c.memory.own; got.n != want.n {
				t.Errorf("w_i of record %d, want %d", got.n, want.n)
			}
			if err := again.Lost(again.replica); err != nil {
				t.Errorf("after the restart: %v", err)
			}
		})
	}
}

// If a round ends while the device restores the points of the store, the device keeps the other
// points for the next round, and for the next file.
func TestTrajectoryRestoredInPart(t *testing.T) {
	r := newRig(t, smallFZooS(t, 5, ""), newSlopes(5, 0, 1))
	r.round() // there is no w_i yet
	want := r.saved(r.clients[0])
	c := r.client(0, newSlopes(5, 0, 1))
	r.load(c, want)
	calls, over := 0, errors.New("over")
	tr := c.memory.trajectory
	if err := tr.restore(func() error {
		if calls++; calls > 7 {
			return over
		}
		return nil
	}); err != over || tr.process.Len() != 7 {
		t.Fatalf("got %v and %d points, want %v and 7", err, tr.process.Len(), over)
	}
	if c.memory.Unsaved() {
		t.Error("what came from the file counts as unsaved")
	}
	if got := r.saved(c); !bytes.Equal(got, want) {
		t.Errorf("saved %d bytes, want the %d of the file", len(got), len(want))
	}
	if _, err := c.Run(t.Context(), c.replica, Task{N: 3, Phase: 2}); err != nil {
		t.Fatal(err)
	}
	if got, want := tr.process.Len(), 4*4+5; got != want {
		t.Errorf("%d points, want %d", got, want)
	}
}

// saved returns a member's memory in the form of the store.
func (r *rig) saved(c *member) []byte {
	var b bytes.Buffer
	c.memory.Save(&b)
	c.memory.Saved()
	return b.Bytes()
}

// load gives a stored memory to a member without memory.
func (r *rig) load(c *member, file []byte) {
	r.t.Helper()
	if !c.Prepare(c.replica) {
		r.t.Fatal("the memory is of this plan already")
	}
	if err := c.memory.Load(bytes.NewReader(file), int64(len(file)), r.plan); err != nil {
		r.t.Fatal(err)
	}
}

func farthest(a, b []float32) float64 {
	far := 0.0
	for i := range a {
		far = max(far, math.Abs(float64(a[i]-b[i]))/(1+math.Abs(float64(a[i]))))
	}
	return far
}

// If the run is under way, a device without the points or the control variate of earlier rounds
// says so once. The device contributes from new points, or without a correction.
func TestLost(t *testing.T) {
	for _, tt := range []struct {
		name string
		plan *plan.Plan
		says error
	}{
		{"trajectory", smallFZooS(t, 5, ""), ErrNoTrajectory},
		{"control", densePlan(t, "fedzo-dense", 5,
			strings.Fields(baseDense+" control=scaffold-2")...), ErrNoVariate},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.plan, newSlopes(5, 0, 1), newSlopes(5, 1, 1))
			for range 4 {
				r.round()
				for i, c := range r.clients {
					if err := c.Lost(c.replica); err != nil {
						t.Fatalf("device %d says %v with nothing lost", i, err)
					}
				}
			}
			o := newSlopes(5, 1, 1)
			o.mood = func(int) float64 { return math.NaN() }
			late := r.client(1, o)
			for i := range 3 {
				if _, _, err := r.work(late); !errors.Is(err, errNotFinite) {
					t.Fatal(err)
				}
				if err := late.Lost(late.replica); (i == 0) != (err == tt.says) {
					t.Errorf("round %d: says %v, want %v once", i, err, tt.says)
				}
			}
			o.mood = nil
			r.clients[1] = late
			for range 4 {
				r.round()
			}
		})
	}
}

// With scaffold-2 a device corrects by the c_i of its last contribution, also after a restart,
// whatever other devices contributed meanwhile.
func TestControlResumes(t *testing.T) {
	const d = 5
	p := densePlan(t, "fedzo-dense", d, strings.Fields(baseDense+" control=scaffold-2")...)
	r := newRig(t, p, newSlopes(d, 0, 1), newSlopes(d, 1, 1))
	first := r.round()
	r.round(r.clients[1])
	again := r.client(0, newSlopes(d, 0, 1))
	r.load(again, r.saved(r.clients[0]))
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
	if err := again.Lost(again.replica); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

// After a rollback to a state before any contribution, scaffold-2 starts over: c is 0 in that
// state, and c_i alone would be no correction.
func TestControlAfterRollback(t *testing.T) {
	const d = 5
	p := densePlan(t, "fedzo-dense", d, strings.Fields(baseDense+" control=scaffold-2")...)
	r := newRig(t, p, newSlopes(d, 0, 1), newSlopes(d, 1, 1))
	r.round()
	r.round()
	from := &r.clients[0].memory
	back := newRig(t, p, newSlopes(d, 0, 1), newSlopes(d, 0, 1))
	back.clients[1].slot = 0
	back.clients[1].cfg.ID = back.clients[0].cfg.ID
	back.clients[1].Prepare(back.clients[1].replica)
	back.clients[1].memory.own = from.own
	if sent := back.round(); !slices.Equal(sent[0], sent[1]) {
		t.Errorf("sent %v, want %v", sent[1], sent[0])
	}
}

// With scaffold-1 a device that missed phase 1, or restarted after phase 1, computes its c_i in
// phase 2, with the same result.
func TestFirstPhaseMissed(t *testing.T) {
	const d = 5
	fields := baseDense + " control=scaffold-1 sharing=shared transport=dense"
	p := densePlan(t, "fedzo-dense", d, strings.Fields(fields)...)
	o := newSlopes(d, 0, 1)
	r := newRig(t, p, newSlopes(d, 0, 1), newSlopes(d, 1, 1))
	twin := r.client(0, o)
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
			c.Prepare(c.replica)
			if task := c.Task(c.replica, r.announcement(), c.slot, 0); task.Queries(p) != queries {
				t.Errorf("round %d, client %d: %d queries, want %d",
					round, i, task.Queries(p), queries)
			}
		}
		sent := r.round()
		if !slices.Equal(sent[0], sent[2]) {
			t.Errorf("round %d: sent %v, want %v of a device that had part in phase 1",
				round, sent[2], sent[0])
		}
		if want := int(p.PhaseQueries(1, p.Perturbations) + p.PhaseQueries(2,
			p.Perturbations)); o.queries != want {
			t.Errorf("%d queries, want %d", o.queries, want)
		}
	}
}

// A device does not keep a vector that it cannot send.
func TestTooLargeIsForgotten(t *testing.T) {
	fields := baseDense + " control=scaffold-1 distribution=normal perturbations=1"
	p := densePlan(t, "fedzo-dense", 5, strings.Fields(fields)...)
	r := newRig(t, p, newSlopes(5, 0, 1))
	r.round()
	g := abs(r.clients[0].buffers.scalars[0])
	p.MaxScalar = g * 1.001 // which z times it passes
	r = newRig(t, p, newSlopes(5, 0, 1))
	if _, _, err := r.work(r.clients[0]); !errors.Is(err, ErrTooLarge) ||
		!strings.Contains(err.Error(), "element") {
		t.Errorf("got %v, want an element of the vector above max_scalar", err)
	}
	if own := r.clients[0].memory.own; own.n != 0 {
		t.Errorf("c_i of record %d is remembered", own.n)
	}
}
