package paper

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/testing/paper/run"
	"github.com/zofl/zofl/wire"
)

// mixed trains one model with clients that only have losses and clients that have gradients.
// All send the same scalars along the same directions, so nothing but their own work differs.
func mixed() Experiment {
	const id = "mixed"
	return Experiment{
		ID:    id,
		Title: "black boxes and clients with gradients train one model",
		Paper: "none: DeComFL at its authors' settings, with half of its clients differentiating",
		Long:  "half an hour",
		Run: func(ctx context.Context, e *Env) (*Report, error) {
			x := &mixedRun{ctx: ctx, env: e, tasks: mixedTasks(e), seeds: e.seeds(3),
				report: &Report{ID: id, Figure: Figure{
					Title: "half of the clients differentiate", X: "round", Y: "test accuracy"}}}
			return x.report, x.all()
		},
	}
}

// A mixedTask is a model, and how long it is trained.
type mixedTask struct {
	cnn    bool
	step   float32
	rounds uint64
}

func (t *mixedTask) model() string { return (&drift{cnn: t.cnn}).model() }

// mixedTasks returns the tasks for an environment: a short one is softmax alone.
func mixedTasks(e *Env) []mixedTask {
	list := []mixedTask{{step: 1e-3, rounds: 1000}, {cnn: true, step: 3e-3, rounds: 200}}
	if e.Short {
		list = []mixedTask{{step: 1e-3, rounds: 100}}
	}
	return list
}

// mixedFleets say which clients differentiate; the first are black boxes alone.
var mixedFleets = []struct {
	name, title    string
	differentiates func(slot int) bool
}{
	{"boxes", "black boxes", nil},
	{"half", "half of them with gradients", func(slot int) bool { return slot%2 == 0 }},
	{"all", "all with gradients", func(int) bool { return true }},
}

// A mixedRun is a running experiment.
type mixedRun struct {
	ctx    context.Context
	env    *Env
	tasks  []mixedTask
	seeds  int
	report *Report
}

func (x *mixedRun) all() error {
	if x.env.Screen {
		return errScreenMixed
	}
	s, err := x.env.mnist()
	if err != nil {
		return err
	}
	for _, t := range x.tasks {
		var fleets []Results
		for i := range mixedFleets {
			r, err := x.env.Train(x.ctx, x.report.ID, t.training(s, i), x.seeds)
			x.report.addCurves(run.Accuracy, r)
			if err != nil {
				return err
			}
			fleets = append(fleets, r)
		}
		x.claims(&t, fleets)
	}
	return nil
}

// training returns the training of one of mixedFleets.
func (t *mixedTask) training(s *set, fleet int) *Training {
	task, segments := (&drift{cnn: t.cnn}).task(s)
	f := &mixedFleets[fleet]
	name := fmt.Sprintf("%s-%s", t.model(), f.name)
	return &Training{
		Name: name, Preset: "decomfl",
		Clients: 10, Asked: 10, Rounds: t.rounds, Task: task, Every: t.rounds / 10,
		Differentiates: f.differentiates,
		Shares: func(seed uint64) ([][]int, error) {
			return data.IID(s.train.Len(), 10, seed)
		},
		Set: func(p *wire.Plan) {
			p.Segments, p.Difference, p.Perturbations, p.Batch = segments, wire.Central, 10, 32
			p.StepSize, p.Mu, p.Rule = t.step, 1e-3, wire.SGD
			// One name and one key for a seed: the fleets have the same directions,
			// minibatches and bytes.
			p.Run = t.model() + strings.TrimPrefix(p.Run, name)
			key := sha256.Sum256([]byte("zofl paper, mixed\x00" + p.Run))
			p.RunKey = key[:]
		},
	}
}

// mixedNear is the difference of accuracies below which two fleets do equally well. They differ
// by what mu makes of a difference, and by rounding.
const mixedNear = 0.005

// claims compares the fleets after the same rounds. Each curve's run checked that all of its
// clients hold the same bits in the end.
func (x *mixedRun) claims(t *mixedTask, fleets []Results) {
	boxes := fleets[0].At(run.Accuracy, t.rounds)
	for i, r := range fleets[1:] {
		title, got := mixedFleets[i+1].title, r.At(run.Accuracy, t.rounds)
		x.report.claim(len(got) > 0 && math.Abs(mean(got)-mean(boxes)) <= mixedNear,
			fmt.Sprintf("%s: %s reach the accuracy of black boxes after as many rounds",
				t.model(), title),
			"accuracy %s, black boxes %s, after round %d", spread(got), spread(boxes), t.rounds)
	}
	base, half := lastPoint(fleets[0]), lastPoint(fleets[1])
	// Some 40 bytes of every hundred rounds depend on timing.
	x.report.claim(math.Abs(float64(half.Bytes)/float64(base.Bytes)-1) < 1e-3,
		t.model()+": gradients cost no more bytes", "%d bytes, black boxes %d", half.Bytes, base.Bytes)
	x.report.claim(2*half.Queries == base.Queries && half.Spared == half.Queries &&
		half.Gradients == 5*t.rounds,
		t.model()+": half of the clients make half of the queries, and one gradient a round",
		"%d queries and %d gradients, black boxes %d queries", half.Queries, half.Gradients,
		base.Queries)
}

// lastPoint returns the last point of the first seed.
func lastPoint(r Results) run.Point {
	points := r[0].Curve.Points
	return points[len(points)-1]
}
