package beyond

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// Experiment compares combinations that no paper has with DeComFL as its authors run it.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    "beyond",
		Title: "combinations that no paper has against DeComFL, at equal queries and equal bytes",
		Paper: "none: the baseline is DeComFL at its authors' settings",
		Long:  "some 2 hours for softmax, 5 for the CNN",
		Do:    func(t *lab.Trial) error { return newTrial(t, leaguesOf(t.Env)).all() },
	}
}

// A league is a model and the recipes that the experiment compares on it. The first plain recipes
// are plain DeComFL.
type league struct {
	cnn     bool
	clients int
	batch   uint32
	queries uint64 // of a client that takes part in every round
	times   uint64 // number of measurements of a model
	plain   int
	recipes []contest.Method
	seeds   int
}

// leaguesOf returns the leagues for an environment. A short one is the CNN with small
// minibatches, with only plain DeComFL and the preset.
func leaguesOf(e *lab.Env) []league {
	soft := league{clients: 100, batch: 32, queries: 4_000, times: 20, plain: 2,
		recipes: softmaxRecipes(), seeds: e.SeedsOr(3)}
	conv := soft
	conv.cnn, conv.recipes = true, cnnRecipes()
	if !e.Short {
		return []league{soft, conv}
	}
	conv.clients, conv.batch, conv.queries, conv.times = 10, 8, 2_000, 4
	conv.plain, conv.recipes = 1, []contest.Method{conv.recipes[0], conv.recipes[len(conv.recipes)-1]}
	return []league{conv}
}

func (l *league) String() string {
	return fmt.Sprintf("%s, 10 of %d clients, batch %d",
		lab.ModelName(l.cnn), l.clients, l.batch)
}

func (l *league) contest(s *lab.Set) *contest.Rules {
	task, segments := s.Task(l.cnn)
	return &contest.Rules{
		Name: fmt.Sprintf("%c%d-b%d", lab.ModelName(l.cnn)[0]|0x20, l.clients, l.batch),
		Training: lab.Training{
			Clients: l.clients, Asked: 10, Task: task, Order: run.Draws,
			Shares: func(seed uint64) ([][]int, error) { return data.IID(s.Train.Len(), l.clients, seed) },
		},
		Base:    func(p *plan.Plan) { p.Segments, p.Batch = segments, l.batch },
		Queries: l.queries, Times: l.times,
	}
}

// A trial is a running experiment.
type trial struct {
	*lab.Trial
	leagues []league
}

func newTrial(t *lab.Trial, leagues []league) *trial {
	t.Report.Figure = chart.Chart{Title: "beyond DeComFL", X: "round", Y: "test accuracy"}
	return &trial{t, leagues}
}

func (x *trial) all() error {
	s, err := x.Env.MNIST()
	if err != nil {
		return err
	}
	for _, l := range x.leagues {
		entries, err := x.train(s, &l)
		if err != nil {
			return err
		}
		x.claims(&l, entries)
	}
	return nil
}

func (x *trial) train(s *lab.Set, l *league) ([]*contest.Entry, error) {
	var entries []*contest.Entry
	for _, c := range l.recipes {
		e, err := l.contest(s).Tune(x.Ctx, x.Env, x.Report.ID, c, l.seeds)
		x.Report.AddCurves(run.Accuracy, e.Results)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// claims compares every recipe with the best of plain DeComFL, and the preset with all others.
// claims chooses the best of plain DeComFL at equal queries; there are separate claims for bytes.
func (x *trial) claims(l *league, entries []*contest.Entry) {
	plain := contest.BestOf(entries[:l.plain])
	for _, e := range entries[l.plain:] {
		contest.Beats(x.Report, fmt.Sprintf("%v: %s beats plain DeComFL", l, e.Title), e, plain)
	}
	if len(entries) == l.plain+1 {
		return // of two
	}
	for _, c := range contest.Costs {
		at := contest.Budget(c.Of, entries...)
		best, preset := contest.BestBy(entries, c.Of, at), entries[len(entries)-1]
		x.Report.Claim(best == preset,
			fmt.Sprintf("%v: nothing tried beats the preset %s at equal %s", l, preset.Preset, c.Name),
			"%s; the best is %s; after %d %s of all clients",
			preset.Text(c.Of, at), best.Text(c.Of, at), at, c.Name)
	}
}
