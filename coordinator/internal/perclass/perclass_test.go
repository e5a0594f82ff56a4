package perclass_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/perclass"
	"github.com/zofl/zofl/internal/grouping"
	shared "github.com/zofl/zofl/internal/perclass"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A fleet holds what devices sent: for each device and class the number of samples, 0 for none, and
// the scalars.
type fleet struct {
	plan    *plan.Plan
	group   []uint32
	counts  [][]uint32
	scalars [][][]float32
}

func newFleet(devices, classCount, p int) *fleet {
	rng := rand.New(rand.NewPCG(1, 2))
	f := &fleet{plan: &plan.Plan{
		GroupsFields:    plan.GroupsFields{Classes: uint32(classCount)},
		AggregateFields: plan.AggregateFields{MaxScalar: 1e6},
	}}
	for i := range devices {
		f.group = append(f.group, uint32(i%2))
		counts, scalars := make([]uint32, classCount), make([][]float32, classCount)
		for c := range counts {
			if (i+c)%3 == 0 || c == 0 {
				counts[c] = 1 + rng.Uint32N(200)
				scalars[c] = make([]float32, p)
				for j := range scalars[c] {
					scalars[c][j] = float32(rng.NormFloat64())
				}
			}
		}
		f.counts, f.scalars = append(f.counts, counts), append(f.scalars, scalars)
	}
	return f
}

// sent returns what a device sends.
func (f *fleet) sent(i int) (s wire.Scalars) {
	last := -1
	for c, n := range f.counts[i] {
		if n > 0 {
			block := f.plan.Precision.Append(nil, f.scalars[i][c]...)
			s = shared.Append(s, last, shared.Part{Class: uint32(c), Count: n, Scalars: block})
			last = c
		}
	}
	return s
}

// of returns the group of a slot. The last device has no group.
func (f *fleet) of(slot uint32) (uint32, bool) {
	return f.group[slot], int(slot) < len(f.group)-1
}

// A chosen is a fleet's groups with given shares.
type chosen struct {
	*fleet
	shares []float64
}

func (c chosen) Of(slot uint32) (uint32, bool) { return c.of(slot) }
func (c chosen) Shares(int) []float64          { return c.shares }

// grouped returns a plan with a number of groups.
func grouped(p plan.Plan, groups uint32) *plan.Plan {
	p.Transport, p.Sharing, p.Groups = plan.Relay, plan.GroupDirections, grouping.Sketch
	p.GroupSize, p.Target, p.OverSample = 5, 5*groups, 1
	return &p
}

// want returns scalar p of a group by the equation, in float64.
func (f *fleet) want(group uint32, shares []float64, p int) float64 {
	sum, all := 0.0, 0.0
	for c := range f.counts[0] {
		samples := 0.0
		for i := range f.counts {
			if g, ok := f.of(uint32(i)); ok && g == group {
				samples += float64(f.counts[i][c])
			}
		}
		for i := range f.counts {
			if g, ok := f.of(uint32(i)); ok && g == group && f.counts[i][c] > 0 {
				w := shares[c] * float64(f.counts[i][c]) / samples
				sum, all = sum+w*float64(f.scalars[i][c][p]), all+w
			}
		}
	}
	return sum / all
}

// TestTerms: the record has the result of the equation, whatever the order of replies.
func TestTerms(t *testing.T) {
	const devices, p = 9, 6
	f, shares := newFleet(devices, 5, p), []float64{0.4, 0.3, 0.15, 0.1, 0.05}
	var held perclass.Held
	var first []wire.Term
	for range 2 {
		held.Reset(p)
		for at := range devices {
			i := at * 4 % devices
			if first != nil {
				i = at
			}
			var values []float32
			s := f.sent(i)
			if largest, ok := perclass.Read(&values, f.plan, s, p); !ok || !(largest > 0) {
				t.Fatalf("device %d: %v, %v", i, largest, ok)
			}
			held.Add(uint32(i), f.plan, s, values)
		}
		terms := held.Terms(grouped(*f.plan, 3), chosen{f, shares})
		if len(terms) != 2 {
			t.Fatalf("%d terms of two groups that answered", len(terms))
		}
		for g, term := range terms {
			if term.Source != prng.Slot(uint32(g)) || term.Back != 0 {
				t.Errorf("term %d is %+v", g, term)
			}
			for j := range p {
				want := f.want(uint32(g), shares, j)
				if got := float64(term.Scalars.At(j)); math.Abs(got-want) > 1e-6 {
					t.Errorf("group %d, scalar %d is %v, want %v", g, j, got, want)
				}
			}
			if first != nil && string(term.Scalars) != string(first[g].Scalars) {
				t.Errorf("group %d: the order of replies changes the bits", g)
			}
		}
		first = terms
	}
}

// TestClaimsAreBounded: of four devices with 50 samples of one class, one device claims the largest
// possible number. With the bound the device counts as 8 others, and without the bound only this
// device counts.
func TestClaimsAreBounded(t *testing.T) {
	for _, tt := range []struct {
		bound float32
		want  float64
	}{{8, 8. / 11}, {0, 1}} {
		f := &fleet{plan: &plan.Plan{
			GroupsFields: plan.GroupsFields{Classes: 2},
			RobustFields: plan.RobustFields{ClaimBound: tt.bound},
		}, group: make([]uint32, 5)}
		var held perclass.Held
		held.Reset(1)
		for i := range 4 {
			samples, v := uint32(50), float32(0)
			if i == 3 {
				samples, v = shared.MaxCount, 1
			}
			f.counts = append(f.counts, []uint32{samples, 0})
			f.scalars = append(f.scalars, [][]float32{{v}, nil})
			held.Add(uint32(i), f.plan, f.sent(i), []float32{v})
		}
		terms := held.Terms(grouped(*f.plan, 1), chosen{f, nil})
		if got := float64(terms[0].Scalars.At(0)); math.Abs(got-tt.want) > 1e-4 {
			t.Errorf("claim_bound=%v: the liar counts %v of the group, want %v", tt.bound, got, tt.want)
		}
	}
}

// TestAlike: if all devices have the same number of samples of each class, a group's scalars are
// the means of its devices' scalars.
func TestAlike(t *testing.T) {
	f := &fleet{plan: &plan.Plan{
		GroupsFields:    plan.GroupsFields{Classes: 2},
		AggregateFields: plan.AggregateFields{Precision: plan.Single},
	}, group: []uint32{0, 0, 9}}
	var held perclass.Held
	held.Reset(1)
	for i, v := range []float32{1, 3} {
		f.counts = append(f.counts, []uint32{50, 50})
		f.scalars = append(f.scalars, [][]float32{{v}, {10 * v}})
		var values []float32
		s := f.sent(i)
		perclass.Read(&values, f.plan, s, 1)
		held.Add(uint32(i), f.plan, s, values)
	}
	for _, shares := range [][]float64{nil, {0.5, 0.5}} {
		if got := held.Terms(grouped(*f.plan, 1), chosen{f, shares})[0].Scalars.At(0); got != 11 {
			t.Errorf("shares %v: %v, want (2+20)/2", shares, got)
		}
	}
	// If all shares are 0, the record still has scalars.
	if got := held.Terms(grouped(*f.plan, 1), chosen{f, []float64{0, 0}})[0].Scalars.At(0); got != 11 {
		t.Errorf("without shares: %v", got)
	}
}

// TestLiarCounts: a device that claims many samples gets at most the share of the classes that it
// claims.
func TestLiarCounts(t *testing.T) {
	f := &fleet{plan: &plan.Plan{
		GroupsFields:    plan.GroupsFields{Classes: 2},
		AggregateFields: plan.AggregateFields{Precision: plan.Single},
	}, group: []uint32{0, 0, 9},
		counts:  [][]uint32{{5, 5}, {math.MaxUint32, 0}},
		scalars: [][][]float32{{{1}, {1}}, {{101}, nil}}}
	var held perclass.Held
	held.Reset(1)
	for i := range f.counts {
		var values []float32
		s := f.sent(i)
		if _, ok := perclass.Read(&values, f.plan, s, 1); !ok {
			t.Fatal("not read")
		}
		held.Add(uint32(i), f.plan, s, values)
	}
	got := held.Terms(grouped(*f.plan, 1), chosen{f, []float64{0.2, 0.8}})[0].Scalars.At(0)
	if math.Abs(float64(got)-(0.2*101+0.8)) > 1e-4 {
		t.Errorf("the liar moves the mean to %v", got)
	}
}

// TestRead: Read reports numbers that are infinite, NaN or large.
func TestRead(t *testing.T) {
	plan := &plan.Plan{
		GroupsFields:    plan.GroupsFields{Classes: 3},
		AggregateFields: plan.AggregateFields{Precision: plan.Single},
	}
	var values []float32
	s := shared.Append(nil, -1, shared.Part{Class: 1, Count: 9,
		Scalars: wire.AppendScalars(nil, 1, float32(math.Inf(-1)))})
	if largest, ok := perclass.Read(&values, plan, s, 2); !ok || !math.IsInf(float64(largest), 1) {
		t.Errorf("largest %v, %v", largest, ok)
	}
	for _, s := range []wire.Scalars{nil, {0}, s[:len(s)-1], append(s, 7)} {
		if _, ok := perclass.Read(&values, plan, s, 2); ok {
			t.Errorf("%x is read", []byte(s))
		}
	}
}
