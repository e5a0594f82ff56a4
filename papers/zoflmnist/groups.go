package zoflmnist

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/wire/survey"
)

// Groups asks whether training loses less accuracy to unlike labels if devices share directions
// in groups than if each device has its own directions.
func Groups() lab.Experiment {
	return lab.Experiment{
		ID:    "groups",
		Title: "groups that share directions, against own directions, where labels are unlike",
		Paper: "none: own directions, IID, are the ceiling",
		Long:  "half an hour; ten minutes with --screen",
		Do:    func(t *lab.Trial) error { return newGroupsTrial(t).all() },
	}
}

// groupQueries is the number of queries of a device that takes part in 240 rounds.
const groupQueries = 4_800

// groupArms returns the arms with own directions, with random groups of a size, and with chosen
// groups of that size, the last also with scalars of 8 bits.
func groupArms(clients, asked, size int) []contest.Method {
	own := recipe.With("own", "own directions").At(0.06, 0.12, 0.24)
	chosen := groupsBySketch(own.With("sketch", "groups by sketches (+65 queries a device)",
		"precision=half"), size, clients/asked).At(0.02, 0.04, 0.08)
	random := chosen.With("random", "random groups", "groups=random")
	classes := chosen.With("classes", "groups by classes, scalars by class, 8 bits",
		"precision=int8", "classes=10").At(0.06, 0.08, 0.12)
	chosen.Queries = groupQueries - sketchQueries(clients, asked)
	return []contest.Method{own, random, chosen,
		chosen.With("bits", "groups by sketches, 8 bits", "precision=int8"), classes}
}

// groupsBySketch returns a method whose devices share directions in groups of a size. The
// coordinator chooses new groups after this many rounds.
func groupsBySketch(c contest.Method, size, rounds int) contest.Method {
	return c.With(c.Name, c.Title, "sharing=groups", "groups=sketch",
		fmt.Sprintf("group_size=%d", size), fmt.Sprintf("regroup=%d", rounds))
}

// sketchQueries returns how many queries fewer a client that is always asked may make, so that all
// devices together make as many as without sketches.
func sketchQueries(clients, asked int) uint64 {
	sketch := uint64(survey.Sketch.Values()) + 1 // and the loss at x
	return sketch * uint64(clients) / uint64(asked)
}

// tableArms returns the methods in which all devices share directions: the recipe, Adam, which
// can have control variates, and Adam with the control variates of SCAFFOLD. At K = 1, control
// variates of type II act like a table of the devices' last contributions: the last contribution
// of a device stands for the device until it contributes again.
func tableArms() []contest.Method {
	shared := recipe.With("shared", "directions shared by all", "sharing=shared",
		"transport=mean", "precision=half").At(0.02, 0.04, 0.08)
	adam := shared.With("adam", "shared, Adam", "server_rule=adam", "server_decay=0",
		"server_epsilon=1e-12", "step=1e-3").At(2e-3, 4e-3, 8e-3)
	adam.Step = "server_step"
	return []contest.Method{
		shared,
		adam,
		adam.With("v1", "shared, Adam, SCAFFOLD I", "control=scaffold-1"),
		adam.With("v2", "shared, Adam, SCAFFOLD II", "control=scaffold-2"),
	}
}

// groupLeagues returns the three methods where each device has two shards, and own directions
// where the devices are alike.
func groupLeagues(e *lab.Env) []league {
	skewed := league{Split: lab.Splits[2], softmax: true, clients: 100, asked: 10, batch: 256,
		queries: groupQueries, times: 12, seeds: e.SeedsOr(3)}
	size := 5
	if e.Short {
		skewed.clients, skewed.asked, skewed.batch, size = 20, 4, 16, 2
		skewed.times, skewed.rounds = 3, 12
	}
	skewed.arms = append(groupArms(skewed.clients, skewed.asked, size), tableArms()...)
	alike := skewed
	alike.Split, alike.arms = lab.Splits[0], slices.Clone(skewed.arms[:1])
	if e.Short {
		for _, l := range []*league{&skewed, &alike} {
			for i := range l.arms {
				l.arms[i].Steps = l.arms[i].Steps[1:2]
			}
		}
	}
	return []league{skewed, alike}
}

// A groupsTrial is a running experiment.
type groupsTrial struct {
	*trial
	skewed []*contest.Entry // of the first league
}

func newGroupsTrial(t *lab.Trial) *groupsTrial {
	x := &groupsTrial{trial: newTrial(t, groupLeagues(t.Env))}
	x.judge = x.judged
	return x
}

// judged keeps the entries of a league, and makes the claims after the last league.
func (x *groupsTrial) judged(_ *league, entries []*contest.Entry) {
	if x.skewed == nil {
		x.skewed = entries
		return
	}
	x.claims(x.skewed, entries[0])
}

// claims compares the accuracies at the ends, where each method has made equally many queries.
// The query counts of a curve do not contain the queries of sketches.
func (x *groupsTrial) claims(skewed []*contest.Entry, alike *contest.Entry) {
	end := func(e *contest.Entry) []float64 {
		return e.Reached(run.Accuracy, contest.QueriesOf, math.MaxUint64)
	}
	own := skewed[0]
	x.needs(&x.leagues[0], enoughQueries, skewed...)
	for _, e := range skewed[1:] {
		x.Report.Claim(lab.Mean(end(e)) > lab.Mean(end(own)),
			e.Title+" beat own directions at equal queries", "accuracy %s, %s %s, %s IID %s",
			lab.Spread(end(e)), own.Named(), lab.Spread(end(own)), alike.Named(), lab.Spread(end(alike)))
	}
}
