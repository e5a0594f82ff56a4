package decomfl

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// projection makes figure 8 of DeComFL. The figure compares Algorithm 5, in which clients send
// the inner products of their gradients with the directions, with differences along the same
// directions on the same minibatches.
func projection() lab.Experiment {
	return lab.Experiment{
		ID:    "decomfl-projection",
		Title: "scalars by projecting gradients (Algorithm 5) against differences, by step",
		Paper: "DeComFL, appendix B.4 and figure 8",
		Long:  "an hour a seed; some minutes with --short, which is softmax alone; --tasks softmax,cnn",
		Takes: []string{"tasks"},
		Do: func(t *lab.Trial) error {
			if t.Env.Screen {
				return errScreenProjection
			}
			tasks, err := projectionTasks(t.Env)
			if err != nil {
				return err
			}
			return onMNIST(func(x *trial) error { return x.project(tasks) })(t)
		},
	}
}

// errScreenProjection: both sides of the comparison would be the same.
var errScreenProjection = errors.New(
	"screen: decomfl-projection compares gradients with losses: leave out --screen")

// A projectionTask is a setting at several steps.
type projectionTask struct {
	setting
	steps []float32
}

// projectionTasks returns the tasks for an environment. The middle step is that of the
// settings at which the official code was run.
func projectionTasks(e *lab.Env) ([]projectionTask, error) {
	soft, conv := softmaxSetting, cnnSetting
	soft.rounds, conv.rounds = 300, 200
	list := []projectionTask{{soft, []float32{2.5e-4, 1e-3, 4e-3, 1.6e-2}},
		{conv, []float32{2.5e-4, 5e-4, 1e-3}}}
	for i := range list {
		list[i].measure = list[i].rounds
	}
	return lab.Pick("tasks", list, func(t projectionTask) string { return t.name }, e.Tasks,
		e.Few(soft.name))
}

// A scalarKind says how clients compute their scalars.
type scalarKind struct {
	name, title string
	central     bool
	mu          float32
	projects    bool
}

// scalarKinds are the inner products and the forward differences of (3), which the figure
// compares, and forward differences with a hundred times the mu, where the curvature of the loss
// has more effect.
var scalarKinds = []scalarKind{
	{"zo", "differences", false, 1e-3, false},
	{"wide", "differences, mu 0.1", false, 0.1, false},
	{"proj", "projection", false, 1e-3, true},
}

// training returns the training of a task with one kind of scalars. All kinds have one run
// name for a seed and a step, and so the same directions and minibatches.
func (t *projectionTask) training(s *lab.Set, kind *scalarKind, step float32) *lab.Training {
	d := t.setting
	d.step = step
	train := d.training(s)
	set := train.Set
	train.Set = func(p *plan.Plan) {
		set(p)
		p.Difference, p.Mu = plan.Forward, kind.mu
	}
	train.Run = fmt.Sprintf("%s-%s", d.name, lab.Token(step))
	train.Name = fmt.Sprintf("%s-%s", train.Run, kind.name)
	if kind.projects {
		train.Differentiates = func(int) bool { return true }
	}
	return train
}

// project trains every kind at every step, and makes the figure's claims.
func (x *trial) project(tasks []projectionTask) error {
	x.Report.Figure.Title = "DeComFL by differences and by projected gradients"
	for _, t := range tasks {
		ends := map[string][]float64{} // accuracies by kind, in the order of steps
		for _, step := range t.steps {
			for _, kind := range scalarKinds {
				r, err := x.Env.Train(x.Ctx, x.Report.ID, t.training(x.set, &kind, step),
					x.Env.SeedsOr(3))
				x.Report.AddCurves(run.Accuracy, r)
				if err != nil {
					return err
				}
				ends[kind.name] = append(ends[kind.name], endOf(r, t.rounds))
			}
		}
		x.projectionClaims(&t, ends)
	}
	return nil
}

// endOf returns the seeds' mean accuracy after a round; a run that ended before has that of
// guessing among ten classes.
func endOf(r lab.Results, round uint64) float64 {
	sum := 0.0
	for _, one := range r {
		v := one.Curve.At(run.Accuracy, round)
		if math.IsNaN(v) {
			v = 0.1
		}
		sum += v
	}
	return sum / float64(len(r))
}

// same is the difference of accuracies below which two kinds of scalars train equally well.
const same = 0.01

func (x *trial) projectionClaims(t *projectionTask, ends map[string][]float64) {
	var texts []string
	better, alike := true, true
	for i, step := range t.steps {
		var each []string
		for _, kind := range scalarKinds {
			each = append(each, fmt.Sprintf("%s %.4f", kind.title, ends[kind.name][i]))
		}
		texts = append(texts, fmt.Sprintf("step %g: %s", step, strings.Join(each, ", ")))
		better = better && ends["zo"][i] > ends["proj"][i]
		alike = alike && math.Abs(ends["zo"][i]-ends["proj"][i]) <= same
	}
	figures := fmt.Sprintf("test accuracy after round %d, %s", t.rounds, strings.Join(texts, "; "))
	model := x.modelOf(&t.setting)
	x.Report.Claim(better, model+": differences are above projections at every step", "%s", figures)
	x.Report.Claim(width(ends["zo"]) < width(ends["proj"])-same,
		model+": differences depend less on the step than projections",
		"accuracies differ by %.4f among steps, those of projections by %.4f",
		width(ends["zo"]), width(ends["proj"]))
	x.Report.Claim(alike, fmt.Sprintf("%s: not the paper's: differences with mu 1e-3 and projections "+
		"are within %g of each other", model, same), "%s", figures)
}

// width is the distance of the largest value from the least.
func width(values []float64) float64 { return slices.Max(values) - slices.Min(values) }

func (x *trial) modelOf(d *setting) string {
	return lab.ModelName(d.cnn)
}
