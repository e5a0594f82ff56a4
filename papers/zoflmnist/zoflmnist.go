package zoflmnist

import (
	"fmt"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// Experiment compares the recipe of this repository with DeComFL on the tasks for which DeComFL's
// authors published curves.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    "zofl-mnist",
		Title: "queries and bytes to accuracies of 0.90 to 0.97 on MNIST, against DeComFL's best step",
		Paper: "none: the baseline is DeComFL as its authors ran it",
		Long: "20 minutes a run on a core that multiplies tiles of bfloat16, else up to an hour and " +
			"a half, of which there are 27: --tasks and --arm choose",
		Takes: []string{"tasks", "rounds", "arm"},
		Do: func(t *lab.Trial) error {
			leagues, err := leagues(t.Env)
			if err != nil {
				return err
			}
			return newTrial(t, leagues).all()
		},
	}
}

// A target is an accuracy and the cost within which a run should reach this accuracy: the queries
// of a client that takes part in every round, and all bytes on a device's connection.
type target struct {
	accuracy float64
	queries  uint64
	bytes    uint64 // 0: no target
}

// A league is a split of the data with the arms that compete on it, DeComFL first.
type league struct {
	lab.Split
	softmax        bool // not the CNN
	clients, asked int
	batch          uint32
	queries        uint64 // of a client that takes part in every round
	rounds         uint64 // most of a run; 0: as the queries allow
	times          uint64 // number of measurements of a model
	seeds          int
	arms           []contest.Method
	targets        []target // of the arms after the first
}

// leagues returns the leagues for an environment. A short experiment has a small fleet with a few
// images in a minibatch.
func leagues(e *lab.Env) ([]league, error) {
	list := []league{
		{Split: lab.Splits[0], queries: 25_000, targets: []target{
			{0.90, 2_500, 40_000}, {0.95, 12_000, 130_000}, {0.97, 25_000, 250_000}}},
		{Split: lab.Splits[2], queries: 20_000, targets: []target{
			{0.94, 20_000, 0}, {0.96, 40_000, 0}}},
		{Split: lab.Splits[1], queries: 20_000},
	}
	for i := range list {
		l := &list[i]
		l.clients, l.asked, l.batch, l.times, l.seeds = 100, 10, 200, 50, e.SeedsOr(3)
		l.arms, l.rounds = arms(l.Name), e.Rounds
	}
	kept, err := lab.Pick("tasks", list, func(l league) string { return l.Name }, e.Tasks,
		e.Few(list[0].Name))
	for i := range kept {
		l := &kept[i]
		if e.Short {
			l.shorten()
		}
		if l.arms, err = pickArms(l.arms, e.Arms); err != nil {
			return nil, err
		}
	}
	return kept, err
}

// shorten leaves each arm its first step size and a few rounds. Because these rounds are too few
// for the targets, shorten removes the targets.
func (l *league) shorten() {
	l.clients, l.asked, l.batch, l.times, l.queries, l.targets = 6, 3, 4, 3, 240, nil
	for i := range l.arms {
		c := &l.arms[i]
		c.Steps, c.Queries = c.Steps[:1], 0
	}
}

func (l *league) String() string {
	return fmt.Sprintf("%s, %d of %d clients, batch %d", l.Title, l.asked, l.clients, l.batch)
}

func (l *league) contest(s *lab.Set) *contest.Rules {
	task, segments := s.Task(!l.softmax)
	task.Classes, task.Class = 10, func(i int) int { return int(s.Train.Labels[i]) }
	return &contest.Rules{
		Name: l.Name,
		Training: lab.Training{
			Run: "mnist", Clients: l.clients, Asked: l.asked, Task: task, Order: run.Draws,
			Shares: func(seed uint64) ([][]int, error) {
				return l.Deal(s.Train.Labels, l.clients, seed)
			},
			Everything: true,
		},
		Base: func(p *plan.Plan) { p.Segments, p.Batch = segments, l.batch },
		// Arms with different numbers of queries a round have the same number of measurements.
		Queries: l.queries, Times: l.times, Rounds: l.rounds,
	}
}

// A trial is a running experiment.
type trial struct {
	*lab.Trial
	leagues []league
	judge   func(*league, []*contest.Entry) // makes claims of a league that ended
}

func newTrial(t *lab.Trial, leagues []league) *trial {
	x := &trial{Trial: t, leagues: leagues}
	x.judge = x.claims
	return x
}

// all trains every arm. After an error or an interrupt the report has the runs so far, but no
// claims about the split of the incomplete league.
func (x *trial) all() error {
	s, err := x.Env.MNIST()
	if err != nil {
		return err
	}
	for i := range x.leagues {
		l := &x.leagues[i]
		var entries []*contest.Entry
		for _, c := range l.arms {
			e, err := l.contest(s).Tune(x.Ctx, x.Env, x.Report.ID, c, l.seeds)
			x.Report.AddRows(e.Results)
			if len(e.Results) > 0 {
				entries = append(entries, e)
				x.summarize(l, e)
			}
			if err != nil {
				x.draw(l, entries)
				return err
			}
		}
		x.judge(l, entries)
		x.draw(l, entries)
	}
	return nil
}
