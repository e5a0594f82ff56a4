package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

// denseRounds plays rounds, or phases, of a run with one device.
func denseRounds(t testing.TB, c *Core, log *runlog.Memory, rounds int) {
	t.Helper()
	for range rounds {
		rng := rand.New(rand.NewPCG(c.N, 1))
		d := &sender{id: "d0", vector: chaintest.RandomVector(rng, c.round.scalars), weight: 1}
		storeAll(t, c, log, d.whole(t, c, c.now))
	}
}

// denseLog returns the log of a run of so many rounds, or phases.
func denseLog(t testing.TB, plan *plan.Plan, rounds int) *runlog.Memory {
	t.Helper()
	c, log := newDenseCore(t, plan)
	denseRounds(t, c, log, rounds)
	return log
}

// held returns the records whose vectors a log has.
func held(log *runlog.Memory) (list []uint64) {
	for _, name := range log.ObjectNames() {
		list = append(list, name.N)
	}
	return list
}

// ask requests a rollback or a change, as an operator's call does.
func (c *Core) ask(t testing.TB, log *runlog.Memory, r *wire.Record) error {
	t.Helper()
	if err := c.allows(r); err != nil {
		return err
	}
	storeAll(t, c, log, c.Step(c.now, Input{Kind: InRequest, Record: r}))
	return nil
}

func rollbackTo(n uint64) *wire.Record { return &wire.Record{Kind: wire.KindRollback, To: n} }

func TestVectorsAreKept(t *testing.T) {
	c, log := newDenseCore(t, densePlan(t, 1)) // keeps 4
	want := func(records ...uint64) {
		t.Helper()
		if got := held(log); !slices.Equal(got, records) {
			t.Errorf("after record %d the log has vectors of records %v, want %v", c.N, got,
				records)
		}
		again := restartDense(t, log, nil)
		if got, want := fmt.Sprint(again.Position), fmt.Sprint(c.Position); got != want {
			t.Errorf("after record %d another coordinator keeps %s, want %s", c.N, got, want)
		}
		c.life.epoch = again.life.epoch // c continues in its place
	}
	denseRounds(t, c, log, 3)
	want(2, 3, 4)
	denseRounds(t, c, log, 5)
	want(6, 7, 8, 9)

	for to := uint64(2); to <= 5; to++ {
		if err := c.ask(t, log, rollbackTo(to)); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("vector of record %d", to)) ||
			!strings.Contains(err.Error(), "dense_keep = 4") {
			t.Errorf("rollback to record %d: %v, want that its vector is gone", to, err)
		}
	}
	if err := c.ask(t, log, rollbackTo(7)); err != nil { // record 10
		t.Fatal(err)
	}
	want(6, 7, 8, 9)                                     // the other branch can still be reached
	if err := c.ask(t, log, rollbackTo(9)); err != nil { // record 11
		t.Fatal(err)
	}
	want(6, 7, 8, 9)
	if err := c.ask(t, log, rollbackTo(7)); err != nil { // record 12
		t.Fatal(err)
	}
	denseRounds(t, c, log, 1)
	want(6, 7, 13)
	for to, missing := range map[uint64]uint64{8: 8, 9: 9, 11: 9} {
		if err := c.ask(t, log, rollbackTo(to)); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("vector of record %d", missing)) {
			t.Errorf("rollback to record %d of the branch that was left: %v", to, err)
		}
	}
	if err := c.ask(t, log, rollbackTo(12)); err != nil { // what record 7 was; record 14
		t.Error(err)
	}
	if err := c.ask(t, log, rollbackTo(1)); err != nil { // the beginning needs none; record 15
		t.Error(err)
	}
	want(6, 7, 13)
	denseRounds(t, c, log, 1)
	want(16)
	keep := &plan.Change{}
	if err := errors.Join(planfile.SetChange(keep, "dense_keep", "2"),
		c.ask(t, log, &wire.Record{Kind: wire.KindChange, Change: keep})); err != nil {
		t.Fatal(err)
	}
	denseRounds(t, c, log, 3) // the change comes after the first of them
	want(19, 20)
}

// With two phases, the log keeps the last vector of each phase, because a state needs both vectors.
func TestVectorsOfTwoPhasesAreKept(t *testing.T) {
	plan := densePlan(t, 1, "control=scaffold-1", "dense_keep=3")
	c, log := newDenseCore(t, plan)
	denseRounds(t, c, log, 7) // records 2..8
	if got := held(log); !slices.Equal(got, []uint64{6, 7, 8}) || c.Due() != 2 || c.Rounds != 3 {
		t.Fatalf("vectors of records %v, phase %d is due after %d rounds", got, c.Due(), c.Rounds)
	}
	for to, missing := range map[uint64]uint64{6: 5, 5: 5, 2: 2} {
		if got := c.Lacks(to); got != missing {
			t.Errorf("state %d lacks the vector of record %d, want %d", to, got, missing)
		}
	}
	if err := c.ask(t, log, rollbackTo(7)); err != nil {
		t.Fatal(err)
	}
	if c.Due() != 1 || c.Lacks(c.N) != 0 {
		t.Errorf("phase %d is due, the state lacks %d", c.Due(), c.Lacks(c.N))
	}
	denseRounds(t, c, log, 2) // records 10, 11
	if got := held(log); !slices.Equal(got, []uint64{7, 10, 11}) || c.Rounds != 4 {
		t.Errorf("vectors of records %v after %d rounds", got, c.Rounds)
	}
}

// A round of two phases has two records, each with the mean of its own phase's vectors.
func TestTwoDensePhases(t *testing.T) {
	plan := densePlan(t, 3, "control=scaffold-1", "weights=samples", "precision=single")
	c, log := newDenseCore(t, plan)
	for record := uint64(2); record < 6; record++ {
		list := senders(rand.New(rand.NewPCG(record, 9)), 3, int(plan.Dim))
		for _, d := range list {
			storeAll(t, c, log, d.whole(t, c, record))
		}
		r, data := lastRound(t, log)
		phase, round := uint8(1+record%2), record/2
		if r.N != record || r.Round.Phase != phase || r.Round.Round != round ||
			r.Round.Contributors != 3 {
			t.Errorf("record %d: %+v, want phase %d of round %d", r.N, r.Round, phase, round)
		}
		if string(data) != string(chaintest.Vector(exactMean(list, true)...)) {
			t.Errorf("record %d has another mean", record)
		}
		if len(r.Round.Slots)+len(r.Round.Terms)+len(r.Round.Weights)+int(r.Round.Population) > 0 {
			t.Errorf("record %d: %+v", record, r.Round)
		}
	}
	twice := densePlan(t, 1, "control=scaffold-2")
	c, log = newDenseCore(t, twice)
	if denseRounds(t, c, log, 1); c.round.scalars != 2*int(twice.Dim) {
		t.Errorf("scaffold-2 has vectors of %d elements, want %d", c.round.scalars, 2*twice.Dim)
	}
	if r, _ := lastRound(t, log); len(r.Round.Slots)+int(r.Round.Population) > 0 {
		t.Errorf("scaffold-2: %+v, want no slots: c_i travels in the vector", r.Round)
	}
}

// With transport=dense a round record without a vector is corrupt. With other transports a round
// record with a vector is corrupt.
func TestRoundsWithoutTheirVectors(t *testing.T) {
	dense, scalars := denseLog(t, densePlan(t, 1), 1), &runlog.Memory{}
	chaintest.Append(t, scalars, chaintest.Records(t, 2))
	for name, log := range map[string]*runlog.Memory{"dense": dense, "scalars": scalars} {
		r, err := wire.DecodeRecord(recordOf(t, log, 2))
		if err != nil {
			t.Fatal(err)
		}
		if name == "dense" {
			r.Round.Object = nil
		} else {
			r.Round.Object = make(plan.Bytes, wire.ObjectLen)
		}
		bad := &runlog.Memory{}
		chaintest.Append(t, bad, [][]byte{recordOf(t, log, 1), r.Append(nil)})
		if _, err := runlog.Replay(t.Context(), bad, 2, func([]byte) {}); !errors.Is(err,
			runlog.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
	}
}

// With a surrogate, rounds have two phases without control variates. The position after each record
// must follow that, and so must a coordinator that continues there.
func TestSurrogateRounds(t *testing.T) {
	p, err := preset.Unbound("fzoos", "r", 6)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey = make(plan.Bytes, 32)
	p.Members, p.Target, p.Quorum, p.DenseKeep, p.Diverge, p.MaxScalar = 1, 1, 1,
		4, 0, 1e20
	c, log := newDenseCore(t, p)
	want := map[uint64][2]uint64{1: {0, 0}} // by record: rounds done, and the first phase
	for n := uint64(2); n < 9; n++ {
		elements := 6
		if n%2 == 1 {
			elements = int(p.Features)
		}
		if c.round.scalars != elements || c.round.phase != uint8(1+n%2) {
			t.Fatalf("record %d is phase %d with %d elements, want %d", n, c.round.phase,
				c.round.scalars, elements)
		}
		denseRounds(t, c, log, 1)
		want[n] = [2]uint64{n/2 - (n+1)%2, n * ((n + 1) % 2)}
	}
	for n, w := range want {
		_, rounds, at := c.At(n)
		if rounds != w[0] || at.N != w[1] {
			t.Errorf("after record %d: %d rounds, first phase %d, want %v", n, rounds, at.N, w)
		}
	}
	if err := c.ask(t, log, rollbackTo(6)); err != nil {
		t.Fatal(err)
	}
	again := restartDense(t, log, nil)
	if again.Due() != 2 || again.Rounds != 2 || again.Point.N != 6 || c.Due() != 2 ||
		c.Point != again.Point {
		t.Errorf("phase %d is due after %d rounds, first phase %d", again.Due(), again.Rounds,
			again.Point.N)
	}
}
