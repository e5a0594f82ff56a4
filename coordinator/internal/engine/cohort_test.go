package engine

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A cohortRun runs rounds of two phases with a log.
type cohortRun struct {
	*Core
	t     *testing.T
	log   *runlog.Memory
	plan  *plan.Plan
	epoch uint64
}

const cohortMembers = 40

// newCohortRun asks 9 of 40 devices for 6 contributions. Without roster=open the run waits for all
// 9.
func newCohortRun(t *testing.T, fields ...string) *cohortRun {
	t.Helper()
	plan := methodPlan(t, append([]string{"control=scaffold-1"}, fields...), 1)
	plan.Members, plan.Target, plan.Quorum, plan.OverSample = cohortMembers, 6, 2, 1.5
	r := &cohortRun{t: t, log: &runlog.Memory{}, plan: plan}
	r.restart()
	store(t, r.Core, r.log)
	r.join(ids(cohortMembers)...)
	return r
}

func (r *cohortRun) restart() {
	r.t.Helper()
	r.epoch++
	c, err := newCore(r.t.Context(), r.plan, r.log, r.epoch)
	if err != nil {
		r.t.Fatal(err)
	}
	r.Core = c
	c.Start(0)
}

func (r *cohortRun) join(names ...string) {
	r.t.Helper()
	for _, id := range names {
		r.Step(r.now, Input{Kind: InJoin, ID: id, Token: "t", Frame: (&wire.JoinRequest{}).Append(nil)})
	}
	if r.Plan.Roster == plan.ListedRoster {
		if err := r.log.AddMembers(r.t.Context(), names); err != nil {
			r.t.Fatal(err)
		}
		r.Step(r.now, Input{Kind: InStored, Count: len(names)})
	}
}

// whom returns the devices that the open attempt asks, ascending.
func (r *cohortRun) whom() (list []int) {
	for i, id := range ids(cohortMembers) {
		if m, ok := r.cohort.Member(id); ok && r.cohort.Asks(m) {
			list = append(list, i)
		}
	}
	return list
}

// answer lets devices contribute to the open record.
func (r *cohortRun) answer(devices ...int) {
	rng := rand.New(rand.NewPCG(1, r.N))
	for _, d := range devices {
		r.Step(r.now, Input{Kind: InReply, ID: ids(cohortMembers)[d],
			Frame: contributionOf(r.Core, d, rng)})
	}
}

// close ends the attempt at its deadline, and the log stores the resulting record.
func (r *cohortRun) close() {
	r.t.Helper()
	if r.phase() == collecting {
		r.Step(r.round.deadline, Input{Kind: InTick})
	}
	if r.phase() != appending {
		r.t.Fatalf("phase %d, %d counted: %+v", r.phase(), r.chain.Taken, r.counters)
	}
	store(r.t, r.Core, r.log)
}

// TestSecondPhaseKeepsTheCohort: the second phase asks the same devices as the first phase,
// although three of them did not answer, another device joined, and the coordinator was restarted.
// The next round asks other devices.
func TestSecondPhaseKeepsTheCohort(t *testing.T) {
	between := map[string]func(*cohortRun){
		"nothing": func(*cohortRun) {},
		"joined":  func(r *cohortRun) { r.join("late") },
		"restart": (*cohortRun).restart,
	}
	for name, happens := range between {
		t.Run(name, func(t *testing.T) {
			r := newCohortRun(t, "cohort=round")
			first := r.whom()
			if len(first) != 9 {
				t.Fatalf("%d are asked, want 9", len(first))
			}
			r.answer(first[3:]...)
			r.close()
			happens(r)
			if got := r.whom(); r.Due() != 2 || !slices.Equal(got, first) {
				t.Fatalf("phase %d asks %v, the first asked %v", r.Due(), got, first)
			}
			if r.counters.Unsampled > 0 {
				t.Errorf("%+v", r.counters)
			}
			r.answer(first[3:]...)
			if r.phase() != appending {
				t.Errorf("the contributors of the first phase do not close the second: %+v", r.counters)
			}
			r.close()
			if got := r.whom(); r.Due() != 1 || slices.Equal(got, first) {
				t.Errorf("the next round asks %v again", got)
			}
		})
	}
}

// TestSecondPhaseFollowsTheAttempts: if the first attempt of phase 1 had no quorum, phase 2 asks
// the devices of that attempt, and then the devices of the second attempt.
func TestSecondPhaseFollowsTheAttempts(t *testing.T) {
	r := newCohortRun(t, "cohort=round")
	first := r.whom()
	r.answer(first[0])
	r.Step(r.round.deadline, Input{Kind: InTick})
	second := r.whom()
	if r.cohort.Attempt.Number != 1 || len(second) <= len(first) {
		t.Fatalf("attempt %d asks %v after %v", r.cohort.Attempt.Number, second, first)
	}
	r.answer(second...)
	r.close()
	if got := r.whom(); !slices.Equal(got, first) {
		t.Errorf("attempt 0 asks %v, phase 1 asked %v", got, first)
	}
	r.Step(r.round.deadline, Input{Kind: InTick})
	if got := r.whom(); r.cohort.Attempt.Number != 1 || !slices.Equal(got, second) {
		t.Errorf("attempt %d asks %v, phase 1 asked %v", r.cohort.Attempt.Number, got, second)
	}
	r.Step(r.round.deadline, Input{Kind: InTick})
	if got := r.whom(); r.cohort.Attempt.Number != 2 || len(got) <= len(second) {
		t.Errorf("attempt %d asks %v after %v", r.cohort.Attempt.Number, got, second)
	}
}

// TestOldPlansDrawForEachRecord: without cohort=round the second phase asks other devices.
func TestOldPlansDrawForEachRecord(t *testing.T) {
	r := newCohortRun(t)
	first := r.whom()
	r.answer(first...)
	r.close()
	if got := r.whom(); slices.Equal(got, first) {
		t.Errorf("both phases ask %v", got)
	}
}

// TestOpenRosterKeepsTheCohort: on an open roster, a hash of the ids draws the same devices for
// both phases.
func TestOpenRosterKeepsTheCohort(t *testing.T) {
	r := newCohortRun(t, "cohort=round", "roster=open")
	drawn := func() (list []int) {
		for i, id := range ids(200) {
			if r.cohort.Asks(presence.Device{ID: id}) {
				list = append(list, i)
			}
		}
		return list
	}
	first := drawn()
	if len(first) < 20 || len(first) > 70 { // about 9 of 40
		t.Fatalf("%d of 200 are asked", len(first))
	}
	for _, d := range first {
		if d < cohortMembers {
			r.answer(d)
		}
	}
	r.close()
	if got := drawn(); r.Due() != 2 || !slices.Equal(got, first) {
		t.Errorf("phase %d asks %v, the first asked %v", r.Due(), got, first)
	}
}
