package replica

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// A state has the results of all methods of a replica.
type state struct {
	n, rounds, epoch uint64
	hash             wire.Hash
	digest           [32]byte
	plan             string
	ended            bool
}

func stateOf(r *Replica) state {
	s := state{r.N(), r.Rounds(), r.Epoch(), r.Hash(), r.Digest(), "", r.Ended() != nil}
	if p := r.Plan(); p != nil {
		s.plan = string((&wire.Record{N: 1, Kind: wire.KindPlan, Plan: p}).Append(nil))
	}
	return s
}

// refuses checks that a replica refuses a record with the error want, and that its state does not
// change.
func refuses(t *testing.T, r *Replica, record []byte, want error) {
	t.Helper()
	before := stateOf(r)
	if err := r.Apply(record); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
	if after := stateOf(r); after != before {
		t.Errorf("the state changed from %+v to %+v", before, after)
	}
}

// begun returns a replica after record 1 and a few rounds, and its chain.
func begun(t *testing.T, p *plan.Plan, rounds int) (*Replica, *chain) {
	t.Helper()
	r, c := New(Config{Run: p.Run}), newChain(p.Run)
	mustApply(t, r, c.plan(p))
	for i := range rounds {
		mustApply(t, r, c.simple(uint64(i+1)))
	}
	return r, c
}

// simple returns a round of one scalar.
func (c *chain) simple(n uint64) []byte {
	return c.round(n, 0.5, 1, wire.AppendScalars(nil, float32(n)))
}

func smallPlan() *plan.Plan {
	p := basePlan()
	p.Dim, p.Rule, p.Beta = 10, plan.TorchMomentum, 0.5
	return p
}

func TestBefore(t *testing.T) {
	r := New(Config{Run: "golden"})
	if r.N() != 0 || r.Rounds() != 0 || r.Epoch() != 0 || r.Hash() != wire.Genesis("golden") ||
		r.Plan() != nil || r.Ended() != nil || len(r.Params()) != 0 || len(r.Momentum()) != 0 {
		t.Errorf("a new replica is %+v", stateOf(r))
	}
}

func TestApplyRefuses(t *testing.T) {
	r, c := begun(t, smallPlan(), 3)
	third := *c
	next := c.simple(4)
	skipped := c.simple(5)

	refuses(t, r, skipped, ErrOrder)
	at := third
	at.n--
	refuses(t, r, at.simple(3), ErrOrder) // the place of the last record
	at = third
	at.n = 1
	refuses(t, r, at.simple(2), ErrOrder)
	other := third
	other.prev[15] ^= 1
	refuses(t, r, other.simple(4), ErrFork)
	first := newChain("golden")
	refuses(t, r, first.plan(smallPlan()), ErrOrder)
	at = third
	refuses(t, r, at.add(wire.Record{Kind: wire.KindRollback, To: 2}), ErrRollback)
	at = third
	refuses(t, r, at.add(wire.Record{Kind: wire.KindRollback, To: 1}), ErrRollback)
	for n := range len(next) {
		before := stateOf(r)
		if err := r.Apply(next[:n]); err == nil || stateOf(r) != before {
			t.Errorf("%d bytes of a record: got %v, want an error and the same state", n, err)
		}
	}
	later := slices.Clone(next)
	later[1]++
	refuses(t, r, later, wire.ErrUpgrade)

	mustApply(t, r, next)
	mustApply(t, r, skipped)
	mustApply(t, r, c.add(wire.Record{Kind: wire.KindEnd,
		End: &wire.End{Reason: wire.EndRequested, Text: "enough"}}))
	if e := r.Ended(); e == nil || e.Text != "enough" {
		t.Errorf("ended with %+v, want enough", e)
	}
	refuses(t, r, c.simple(7), ErrEnded)
	if err := r.Skip(c.simple(8)); err != ErrEnded {
		t.Errorf("Pass after the end: got %v, want %v", err, ErrEnded)
	}
}

// A replica refuses a round that is impossible under the plan.
func TestMalformedRounds(t *testing.T) {
	r, c := begun(t, smallPlan(), 1)
	one := wire.AppendScalars(nil, 1)
	good := wire.Round{Round: 2, StepSize: 1, Perturbations: 1, Contributors: 1,
		Terms: []wire.Term{{Scalars: one}}}
	tests := []struct {
		name string
		edit func(*wire.Round)
	}{
		{"step 0", func(r *wire.Round) { r.StepSize = 0 }},
		{"step -1", func(r *wire.Round) { r.StepSize = -1 }},
		{"no perturbations", func(r *wire.Round) { r.Perturbations = 0 }},
		{"no perturbations, no scalars", func(r *wire.Round) {
			r.Perturbations, r.Terms = 0, []wire.Term{{}}
		}},
		{"no terms", func(r *wire.Round) { r.Terms = nil }},
		{"two terms", func(r *wire.Round) {
			r.Terms = append(r.Terms, wire.Term{Source: 1, Scalars: one})
		}},
		{"a device's term", func(r *wire.Round) { r.Terms = []wire.Term{{Source: 1, Scalars: one}} }},
		{"an older term", func(r *wire.Round) { r.Terms = []wire.Term{{Back: 1, Scalars: one}} }},
		{"too many scalars", func(r *wire.Round) {
			r.Terms = []wire.Term{{Scalars: wire.AppendScalars(one, 1)}}
		}},
		{"too few scalars", func(r *wire.Round) { r.Perturbations = 2 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			round, at := good, *c
			tt.edit(&round)
			refuses(t, r, at.add(wire.Record{Kind: wire.KindRound, Round: &round}), wire.ErrValue)
		})
	}
	mustApply(t, r, c.add(wire.Record{Kind: wire.KindRound, Round: &good}))
}

func TestPlanRefused(t *testing.T) {
	given := []float32{1, 2, 3}
	tests := []struct {
		name   string
		config Config
		edit   func(*plan.Plan)
		want   error
		says   string
	}{
		{"dim", Config{Dim: 11}, func(*plan.Plan) {}, ErrDim, "the plan has 10, this model 11"},
		{"no given parameters", Config{}, func(p *plan.Plan) {
			p.Initial, p.InitialDigest = plan.Given, InitialDigest(given)
		},
			ErrInitial, "starts from 10 given parameters, this device gives 0"},
		{"other given parameters", Config{Initial: make([]float32, 10)},
			func(p *plan.Plan) {
				p.Initial, p.InitialDigest = plan.Given, InitialDigest(given)
			}, ErrInitial, "load the file"},
		{"invalid", Config{}, func(p *plan.Plan) { p.Mu = 0 }, nil, "mu = 0"},
		{"another run", Config{Run: "else"}, func(*plan.Plan) {}, nil, `this replica is of run "else"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := smallPlan()
			tt.edit(p)
			if tt.config.Run == "" {
				tt.config.Run = p.Run
			}
			r := New(tt.config)
			before := stateOf(r)
			err := r.Apply(newChain(p.Run).plan(p))
			var plan *plan.Error
			if tt.want != nil && !errors.Is(err, tt.want) || tt.want == nil &&
				!errors.As(err, &plan) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %v that says %q", err, tt.want, tt.says)
			}
			if stateOf(r) != before || r.Params() != nil {
				t.Errorf("the state changed to %+v", stateOf(r))
			}
		})
	}
}

// A replica copies given parameters.
func TestGivenIsCopied(t *testing.T) {
	given := []float32{1, 2, 3}
	p := basePlan()
	p.Dim, p.Initial, p.InitialDigest = 3, plan.Given, InitialDigest(given)
	r, c := New(Config{Run: p.Run, Initial: given}), newChain(p.Run)
	mustApply(t, r, c.plan(p))
	mustApply(t, r, c.simple(1))
	if !slices.Equal(given, []float32{1, 2, 3}) || slices.Equal(r.Params(), given) {
		t.Errorf("given %v, parameters %v: want those given unchanged, and others", given, r.Params())
	}
}

// A replica refuses a first record whose Prev is the Genesis of another run, even if the plan names
// this run.
func TestForeignFirstRecord(t *testing.T) {
	refuses(t, New(Config{Run: "golden"}), newChain("else").plan(smallPlan()), ErrFork)
}

// A replica does not alias a record's bytes.
func TestApplyKeepsNothing(t *testing.T) {
	a, c := begun(t, smallPlan(), 0)
	b := New(Config{Run: "golden"})
	for _, record := range [][]byte{newChain("golden").plan(smallPlan()), c.simple(1), c.simple(2)} {
		if b.N() > 0 {
			mustApply(t, a, record)
		}
		lent := bytes.Clone(record)
		mustApply(t, b, lent)
		clear(lent)
	}
	if stateOf(a) != stateOf(b) {
		t.Errorf("%+v with records that were overwritten, want %+v", stateOf(b), stateOf(a))
	}
}

// A change takes effect with the next round and is part of the plan from then on. A replica refuses
// the whole change if the resulting plan is invalid.
func TestChange(t *testing.T) {
	r, c := begun(t, smallPlan(), 1)
	change := func(settings ...string) []byte {
		t.Helper()
		var ch plan.Change
		for i := 0; i < len(settings); i += 2 {
			if err := planfile.SetChange(&ch, settings[i], settings[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		return c.add(wire.Record{Kind: wire.KindChange, Change: &ch})
	}
	was := *c
	before := stateOf(r)
	err := r.Apply(change("beta", "0.25", "quorum", "7")) // above the target
	var fault *plan.Error
	if !errors.As(err, &fault) || fault.Field != "quorum" || stateOf(r) != before {
		t.Errorf("got %v and %+v, want an error about the quorum and no change", err, stateOf(r))
	}
	*c = was
	mustApply(t, r, change("beta", "0.25", "weight_decay", "0.5", "step", "0.125"))
	if p := r.Plan(); p.Beta != 0.25 || p.WeightDecay != 0.5 || p.StepSize != 0.125 || p.Quorum != 1 {
		t.Errorf("plan after the change: %+v", p)
	}
	x, m := slices.Clone(r.Params()), slices.Clone(r.Momentum())
	mustApply(t, r, c.simple(2))
	z := direction(r, r.N(), 0, 0)
	for i := range x {
		v := float32(2*z[i]) + float32(0.5*x[i])
		m[i] = float32(0.25*m[i]) + v
		x[i] -= float32(0.5 * m[i])
	}
	if !slices.Equal(r.Params(), x) || !slices.Equal(r.Momentum(), m) {
		t.Errorf("after the round: %v and %v, want %v and %v", r.Params(), r.Momentum(), x, m)
	}
}

// After skipping some records, a caller can skip them again from the first, or apply them instead.
func TestPassGivenUp(t *testing.T) {
	r, c := begun(t, smallPlan(), 2)
	records := [][]byte{c.simple(3), c.simple(4)}
	for range 2 {
		for _, record := range records {
			if err := r.Skip(record); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, record := range records {
		mustApply(t, r, record)
	}
	other, _ := begun(t, smallPlan(), 4)
	if got, want := stateOf(r), stateOf(other); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// After a rollback the state of an earlier record is the state of the log again. The replica skips
// the records in between, and checks every hash.
func TestRollback(t *testing.T) {
	r, c := begun(t, smallPlan(), 2) // at record 3
	third := stateOf(r)
	records := [][]byte{c.simple(3), c.simple(4)}
	forgedChain := *c
	back := c.add(wire.Record{Kind: wire.KindRollback, To: 3})
	forgedChain.prev[0] ^= 1
	forged := forgedChain.add(wire.Record{Kind: wire.KindRollback, To: 3})

	refuses(t, r, back, ErrOrder)
	if err := r.Skip(records[1]); !errors.Is(err, ErrOrder) {
		t.Errorf("Pass of a record after the next: got %v, want %v", err, ErrOrder)
	}
	for _, record := range records {
		if err := r.Skip(record); err != nil {
			t.Fatal(err)
		}
		if stateOf(r) != third {
			t.Errorf("Pass changed the state to %+v", stateOf(r))
		}
	}
	if err := r.Skip([]byte{1}); err == nil {
		t.Error("Pass of garbage: got no error")
	}
	refuses(t, r, records[1], ErrOrder) // it was passed
	refuses(t, r, forged, ErrFork)
	at := *c
	at.n, at.prev = 5, wire.HashRecord(records[1])
	refuses(t, r, at.simple(5), ErrOrder) // continues from record 5, but the state is that of 3
	at.n, at.prev = 5, wire.HashRecord(records[1])
	refuses(t, r, at.add(wire.Record{Kind: wire.KindRollback, To: 2}), ErrRollback)

	mustApply(t, r, back)
	want := third
	want.n, want.hash = 6, wire.HashRecord(back)
	if got := stateOf(r); got != want {
		t.Errorf("after the rollback %+v, want %+v", got, want)
	}
	mustApply(t, r, c.simple(3))

	// To the present state, with nothing between.
	before := stateOf(r)
	mustApply(t, r, c.add(wire.Record{Kind: wire.KindRollback, To: r.N()}))
	if got := stateOf(r); got.digest != before.digest || got.n != before.n+1 ||
		got.rounds != before.rounds {
		t.Errorf("after a rollback to the present %+v, before %+v", got, before)
	}
	mustApply(t, r, c.simple(4))
}
