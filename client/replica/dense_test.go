package replica

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// denseNames are the hostilePlans with transport=dense.
var denseNames = []string{"dense", "dense1", "dense2", "surrogate"}

// vectorsOf returns copies of all vectors that objects replace.
func vectorsOf(r *Replica) [][]float32 {
	return [][]float32{slices.Clone(r.Params()), slices.Clone(r.Control()), slices.Clone(r.Weights())}
}

// decoded returns the elements of an object.
func decoded(data []byte) (v []float32) {
	for word := range slices.Chunk(data, 4) {
		v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(word)))
	}
	return v
}

// A replica that gets no object until the end lacks only the last object of each kind, however many
// records it applied. With these objects, in either order, the replica equals a replica that got
// every object.
func TestDenseCatchUp(t *testing.T) {
	for _, name := range denseNames {
		s := hostileScript(t, name, 5)
		one := New(s.cfg)
		for i, record := range s.records {
			s.apply(t, one, record)
			for _, backwards := range []bool{false, true} {
				late := New(s.cfg)
				if n, err := late.ApplyAll(s.records[:i+1]); err != nil {
					t.Fatalf("%s: record %d: %v", name, n+1, err)
				}
				missing := late.Missing()
				if want := min(i, s.plan.Phases()); len(missing) != want {
					t.Fatalf("%s: %d missing after record %d, want %d", name, len(missing), i+1, want)
				}
				if !slices.IsSortedFunc(missing, func(a, b Object) int { return cmp.Compare(a.N, b.N) }) {
					t.Errorf("%s: missing %v, want them by record", name, missing)
				}
				if i > 0 && late.Whole() != 1 {
					t.Errorf("%s: whole at record %d, want 1", name, late.Whole())
				}
				if backwards {
					slices.Reverse(missing)
				}
				for _, o := range missing {
					if late.Whole() == late.N() {
						t.Errorf("%s: whole before the object of record %d", name, o.N)
					}
					if err := late.Supply(o.Digest, s.objects[o.Digest]); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
				}
				if late.Whole() != late.N() || stateOf(late) != stateOf(one) {
					t.Errorf("%s: %+v, whole at %d, want %+v", name, stateOf(late), late.Whole(), stateOf(one))
				}
				if again, _, err := load(s.cfg, fileOf(t, late, History{})); err != nil ||
					again.Whole() != late.N() {
					t.Errorf("%s: the file of record %d loads with %v", name, late.N(), err)
				}
			}
		}
	}
}

// A vector that an object replaces has the object's elements, but only after Supply of the object.
func TestDenseReplaces(t *testing.T) {
	for _, name := range denseNames {
		s := hostileScript(t, name, 4)
		r := after(t, s, 1)
		for _, record := range s.records[1:] {
			want := vectorsOf(r)
			mustApply(t, r, record)
			if got := vectorsOf(r); !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("%s: record %d alone changed a vector", name, r.N())
			}
			for _, o := range r.Missing() {
				v := decoded(s.objects[o.Digest])
				switch phase := r.lastPhase(); {
				case name == "dense2":
					want[0], want[1] = v[:50], v[50:]
				case name == "dense1" && phase == 1:
					want[1] = v
				case name == "surrogate" && phase == 2:
					want[2] = v
				default:
					want[0] = v
				}
			}
			s.supply(t, r)
			if got := vectorsOf(r); !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s: record %d: the object is not where it should be", name, r.N())
			}
		}
	}
}

// lastPhase returns the phase of the round just applied.
func (r *Replica) lastPhase() int {
	switch {
	case r.plan.Phases() == 1:
		return 0
	case r.pending.n > 0:
		return 1
	}
	return 2
}

// While objects arrive one by one, Whole returns the last record whose state is complete. Whole
// advances as soon as the parts of the state belong to one record.
func TestDenseWhole(t *testing.T) {
	s := hostileScript(t, "surrogate", 6) // plan 1, x 2, w 3, x 4, change 5, w 6, x 7, w 8, ...
	r := after(t, s, 3)
	bring := func(n uint64) {
		t.Helper()
		for _, o := range r.Missing() {
			if o.N == n {
				if err := r.Supply(o.Digest, s.objects[o.Digest]); err != nil {
					t.Fatal(err)
				}
				return
			}
		}
		t.Fatalf("the object of record %d is not missing", n)
	}
	steps := []struct {
		apply int    // records
		bring uint64 // then supply the object of this record
		whole uint64 // expected Whole afterwards
	}{
		{1, 0, 3}, {1, 0, 3}, {1, 0, 3}, // x 4, change 5, w 6
		{0, 4, 5}, // x 4 with w 3, until record 6
		{0, 6, 6},
		{2, 0, 6}, // x 7, w 8
		{0, 8, 6}, // w 8 with x 4: the state of no record
		{1, 0, 6}, // x 9 instead of x 7
		{1, 0, 6}, // w 10
		{0, 9, 9}, // x 9 with w 8: the state of record 9
		{0, 10, 10},
		{4, 0, 10},  // x 11, w 12, x 13, w 14
		{0, 13, 10}, // x 13 with w 10: the state of no record
		{0, 14, 14},
	}
	for i, step := range steps {
		for range step.apply {
			mustApply(t, r, s.records[r.N()])
		}
		if step.bring > 0 {
			bring(step.bring)
		}
		if r.Whole() != step.whole {
			t.Errorf("step %d: whole at record %d, want %d", i, r.Whole(), step.whole)
		}
	}
}

// With transport=dense a replica forgets norms as with other transports.
func TestDenseForgets(t *testing.T) {
	s := hostileScript(t, "dense", 1)
	r := after(t, s, 1)
	for p := range manyNorms + 1 {
		r.Direction(2, 0, p, 1)
	}
	if s.apply(t, r, s.records[1]); len(r.norms) > 0 {
		t.Errorf("%d norms after a round", len(r.norms))
	}
}

// canHave knows how many registers a state can have with transport=dense.
func TestDenseRegisters(t *testing.T) {
	for _, tt := range []struct {
		plan      string
		registers []int
	}{{"dense", []int{0}}, {"dense1", []int{0, 1}}, {"dense2", []int{0}}, {"surrogate", []int{8}}} {
		p := planOf(t, hostilePlans[tt.plan])
		for n := range 60 {
			if canHave(p, n) != slices.Contains(tt.registers, n) {
				t.Errorf("%s: %d registers: %v", tt.plan, n, canHave(p, n))
			}
		}
	}
}

// Supply of bytes that are no missing object changes nothing.
func TestSupplyRefuses(t *testing.T) {
	s := hostileScript(t, "surrogate", 3)
	r := after(t, s, 3)
	for _, record := range s.records[3:] {
		mustApply(t, r, record)
	}
	missing := r.Missing()
	x, w := missing[0], missing[1]
	older, err := wire.DecodeRecord(s.records[3])
	if err != nil {
		t.Fatal(err)
	}
	forgotten := [wire.ObjectLen]byte(older.Round.Object)
	flipped := slices.Clone(s.objects[x.Digest])
	flipped[7] ^= 1
	refused := func(name string, digest [wire.ObjectLen]byte, data []byte) {
		t.Helper()
		before, vectors := stateOf(r), vectorsOf(r)
		if err := r.Supply(digest, data); !errors.Is(err, ErrObject) {
			t.Errorf("%s: got %v, want %v", name, err, ErrObject)
		}
		if stateOf(r) != before || !slices.EqualFunc(vectorsOf(r), vectors, slices.Equal) {
			t.Errorf("%s: the state changed", name)
		}
	}
	refused("an older object", forgotten, s.objects[forgotten])
	refused("no digest", [wire.ObjectLen]byte{}, nil)
	refused("no digest for a byte", [wire.ObjectLen]byte{}, []byte{1})
	refused("no bytes", x.Digest, nil)
	refused("a byte less", x.Digest, s.objects[x.Digest][:len(flipped)-1])
	refused("a byte more", x.Digest, append(slices.Clone(flipped), 0))
	refused("a flipped bit", x.Digest, flipped)
	refused("the other object", x.Digest, s.objects[w.Digest])
	if err := r.Save(io.Discard, History{}); !errors.Is(err, ErrObject) {
		t.Errorf("saved without two objects: got %v, want %v", err, ErrObject)
	}
	if err := r.Supply(w.Digest, s.objects[w.Digest]); err != nil {
		t.Fatal(err)
	}
	refused("an object again", w.Digest, s.objects[w.Digest])
	if err := r.Save(io.Discard, History{}); !errors.Is(err, ErrObject) {
		t.Errorf("saved without an object: got %v, want %v", err, ErrObject)
	}
	s.supply(t, r)
	if want := after(t, s, len(s.records)); stateOf(r) != stateOf(want) {
		t.Errorf("got %+v, want %+v", stateOf(r), stateOf(want))
	}
}

// A hostile coordinator can name an object whose elements no mean can have.
func TestSupplyRefusesNumbers(t *testing.T) {
	for _, bad := range []uint32{0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001} {
		for _, at := range []int{0, 49} {
			s := hostileScript(t, "dense", 1)
			r := after(t, s, len(s.records))
			data := make([]byte, 4*50)
			binary.LittleEndian.PutUint32(data[4*at:], bad)
			digest := wire.HashObject(data)
			mustApply(t, r, s.chain.add(wire.Record{Kind: wire.KindRound, Round: &wire.Round{
				Round: 2, StepSize: 1, Perturbations: 1, Contributors: 1, Object: digest[:],
			}}))
			before := stateOf(r)
			if err := r.Supply(digest, data); !errors.Is(err, ErrObject) || stateOf(r) != before ||
				r.Missing() == nil {
				t.Errorf("%x at %d: got %v, want %v", bad, at, err, ErrObject)
			}
		}
	}
}

// A digest of zeros is a digest like any other.
func TestSupplyOfZeros(t *testing.T) {
	s := hostileScript(t, "dense", 0)
	s.add(wire.Round{Round: 1, StepSize: 1, Perturbations: 1, Contributors: 1,
		Object: make(plan.Bytes, wire.ObjectLen)})
	r := New(s.cfg)
	for _, record := range s.records {
		mustApply(t, r, record)
	}
	for _, n := range []int{0, 3, 4, 199, 200, 201} {
		if err := r.Supply([wire.ObjectLen]byte{}, make([]byte, n)); !errors.Is(err, ErrObject) ||
			r.Missing() == nil {
			t.Errorf("%d bytes: got %v, want %v", n, err, ErrObject)
		}
	}
}

// If two records name the same object, Supply completes both if the object's length fits both, and
// otherwise only the record whose length it fits.
func TestSupplyOfTwo(t *testing.T) {
	for _, features := range []string{"50", "7"} {
		p := planOf(t, `{"dim":50,"transport":"dense","dense_keep":4,"estimator":"surrogate",`+
			`"features":`+features+
			`,"length_scale":1,"noise":1e-6,"window":9,"active":1,"candidates":2,"radius":0.1}`)
		s := newScript(p)
		object := s.object(50)
		for phase := uint8(1); phase <= 2; phase++ {
			s.add(wire.Round{Round: 1, StepSize: 1, Perturbations: 1, Contributors: 1,
				Phase: phase, Object: object})
		}
		r := New(s.cfg)
		for _, record := range s.records {
			mustApply(t, r, record)
		}
		digest := [wire.ObjectLen]byte(object)
		if err := r.Supply(digest, s.objects[digest]); err != nil {
			t.Fatal(err)
		}
		if want := decoded(s.objects[digest]); !slices.Equal(r.Params(), want) ||
			slices.Equal(r.Weights(), want) != (features == "50") ||
			(r.Missing() == nil) != (features == "50") {
			t.Errorf("%s features: x of %d, w of %d, missing %v",
				features, len(r.Params()), len(r.Weights()), r.Missing())
		}
	}
}

// With transport=dense a device has its own control variate, rule and steps, so Correct and
// Advance refuse.
func TestDenseRefusesSteps(t *testing.T) {
	for _, name := range denseNames {
		s := hostileScript(t, name, 2)
		r := after(t, s, len(s.records))
		if err := r.Correct(make([]float32, 50), wire.ControlVariate{}); !errors.Is(err, wire.ErrValue) {
			t.Errorf("%s: got %v, want %v", name, err, wire.ErrValue)
		}
		if n, p := r.Pending(); n != 0 || p != 0 || len(r.Momentum()) != 0 {
			t.Errorf("%s: pending %d of %d after a whole round", name, n, p)
		}
		func() {
			defer func() {
				if got := recover(); got != denseStep {
					t.Errorf("%s: got %v, want %q", name, got, denseStep)
				}
			}()
			r.Advance(&Local{X: make([]float32, 50)}, r.N()+1, 0, []float32{1}, 1)
		}()
	}
	if r := after(t, hostileScript(t, "variates", 1), 2); r.Control() != nil ||
		r.Missing() != nil || r.Whole() != 2 {
		t.Error("with transport=mean: got a Control, missing objects or another Whole")
	}
}
