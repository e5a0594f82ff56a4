package mixed

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// Experiment trains one model with clients that only have losses and clients that have gradients.
// All clients send scalars along the same directions, so that only the way in which they compute
// the scalars differs.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    "mixed",
		Title: "black boxes and clients with gradients train one model",
		Paper: "none: DeComFL at its authors' settings, with half of its clients differentiating",
		Long:  "half an hour",
		Do: func(t *lab.Trial) error {
			t.Report.Figure = chart.Chart{Title: "half of the clients differentiate", X: "round",
				Y: "test accuracy"}
			return (&trial{t, tasks(t.Env), t.Env.SeedsOr(3)}).all()
		},
	}
}

// A task is a model, and the number of rounds to train it.
type task struct {
	cnn    bool
	step   float32
	rounds uint64
}

func (t *task) model() string { return lab.ModelName(t.cnn) }

// tasks returns the tasks for an environment: a short one is softmax alone.
func tasks(e *lab.Env) []task {
	list := []task{{step: 1e-3, rounds: 1000}, {cnn: true, step: 3e-3, rounds: 200}}
	if e.Short {
		list = []task{{step: 1e-3, rounds: 100}}
	}
	return list
}

// kinds are the fleets to compare, and say which clients give gradients. In the first fleet, all
// clients are black boxes.
var kinds = []struct {
	name, title    string
	differentiates func(slot int) bool
}{
	{"boxes", "black boxes", nil},
	{"half", "half of them with gradients", func(slot int) bool { return slot%2 == 0 }},
	{"all", "all with gradients", func(int) bool { return true }},
}

// A trial is a running experiment.
type trial struct {
	*lab.Trial
	tasks []task
	seeds int
}

func (x *trial) all() error {
	if x.Env.Screen {
		return errScreen
	}
	s, err := x.Env.MNIST()
	if err != nil {
		return err
	}
	for _, t := range x.tasks {
		var fleets []lab.Results
		for i := range kinds {
			r, err := x.Env.Train(x.Ctx, x.Report.ID, t.training(s, i), x.seeds)
			x.Report.AddCurves(run.Accuracy, r)
			if err != nil {
				return err
			}
			fleets = append(fleets, r)
		}
		x.claims(&t, fleets)
	}
	return nil
}

// training returns the training of one of kinds.
func (t *task) training(s *lab.Set, fleet int) *lab.Training {
	task, segments := s.Task(t.cnn)
	f := &kinds[fleet]
	name := fmt.Sprintf("%s-%s", t.model(), f.name)
	return &lab.Training{
		Name: name, Preset: "decomfl",
		Clients: 10, Asked: 10, Rounds: t.rounds, Task: task, Every: t.rounds / 10,
		Differentiates: f.differentiates,
		Shares: func(seed uint64) ([][]int, error) {
			return data.IID(s.Train.Len(), 10, seed)
		},
		Set: func(p *plan.Plan) {
			p.Segments, p.Difference, p.Perturbations, p.Batch = segments, plan.Central, 10, 32
			p.StepSize, p.Mu, p.Rule = t.step, 1e-3, plan.SGD
			// For a seed, the fleets have the same run name and run key, and so the same directions,
			// minibatches and bytes.
			p.Run = t.model() + strings.TrimPrefix(p.Run, name)
			key := sha256.Sum256([]byte("zofl paper, mixed\x00" + p.Run))
			p.RunKey = key[:]
		},
	}
}

// near is the difference of accuracies below which two fleets count as equal. The fleets differ
// by the effect of mu on differences of losses, and by rounding.
const near = 0.005

// claims compares the fleets after the same rounds. Each curve's run checked that all of its
// clients hold the same bits in the end.
func (x *trial) claims(t *task, fleets []lab.Results) {
	boxes := fleets[0].At(run.Accuracy, t.rounds)
	for i, r := range fleets[1:] {
		title, got := kinds[i+1].title, r.At(run.Accuracy, t.rounds)
		x.Report.Claim(len(got) > 0 && math.Abs(lab.Mean(got)-lab.Mean(boxes)) <= near,
			fmt.Sprintf("%s: %s reach the accuracy of black boxes after as many rounds",
				t.model(), title),
			"accuracy %s, black boxes %s, after round %d", lab.Spread(got), lab.Spread(boxes), t.rounds)
	}
	base, half := lastPoint(fleets[0]), lastPoint(fleets[1])
	// In a hundred rounds, about 40 bytes depend on timing.
	x.Report.Claim(math.Abs(float64(half.Bytes)/float64(base.Bytes)-1) < 1e-3,
		t.model()+": gradients cost no more bytes", "%d bytes, black boxes %d", half.Bytes, base.Bytes)
	x.Report.Claim(2*half.Queries == base.Queries && half.Spared == half.Queries &&
		half.Gradients == 5*t.rounds,
		t.model()+": half of the clients make half of the queries, and one gradient a round",
		"%d queries and %d gradients, black boxes %d queries", half.Queries, half.Gradients,
		base.Queries)
}

// lastPoint returns the last point of the first seed.
func lastPoint(r lab.Results) run.Point {
	points := r[0].Curve.Points
	return points[len(points)-1]
}

// errScreen: the experiment compares devices with and without gradients, so a screen makes no
// sense.
var errScreen = errors.New("screen: this experiment compares gradients with losses: " +
	"leave out --screen")
