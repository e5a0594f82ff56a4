package further

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/papers/ideas"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/tasks"
	"github.com/zofl/zofl/plan"
	prices "github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// Experiment asks which ideas would make the recipe better. Experiment adds each idea alone, and
// compares the result with the recipe at equal queries, and at equal bytes if the number of bytes
// per query differs.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    "further",
		Title: "ideas beyond the recipe, each against it, in a screening simulation",
		Paper: "none: the baseline is the preset zofl with a cosine",
		Long:  "half an hour on a core; --tasks and --arm choose",
		Takes: []string{"tasks", "arm"},
		Do:    func(t *lab.Trial) error { return runStudy(t, broadStudy()) },
	}
}

// A task is a model on the rows of a set of images.
type task struct {
	tasks.Task
	cnn bool
}

// key holds the parts of which names of saved runs have a digest.
func (t *task) key() string {
	return fmt.Sprintf("{defaultsTask:%s cnn:%v}", t.Task.Key(), t.cnn)
}

// imageTasks returns tasks with 100 devices, whose data are alike. A run has the queries of 200
// rounds of the recipe.
func imageTasks() []task {
	list := []task{
		{Task: tasks.Task{Name: "mnist-softmax", Data: "mnist", Scale: tasks.Unit}},
		{Task: tasks.Task{Name: "fashion-mlp", Data: "fashion-mnist", Shrink: 2,
			Scale: tasks.Standardized, Hidden: []int{32}}},
		{Task: tasks.Task{Name: "fashion-cnn", Data: "fashion-mnist", Shrink: 2}, cnn: true},
	}
	for i := range list {
		list[i].Train, list[i].Test = 60_000, 10_000
	}
	return list
}

// models returns the model on the training and on the test rows.
func (t *task) models(e *lab.Env) (train, test models.Differentiable, err error) {
	if !t.cnn {
		a, b, _, err := t.Rows(e)
		if err != nil {
			return nil, nil, err
		}
		return models.NewNet(a, t.Hidden...), models.NewNet(b, t.Hidden...), nil
	}
	s, err := e.Images(t.Data)
	if err != nil {
		return nil, nil, err
	}
	return models.NewCNNSmall(s.Train.Shrink(t.Shrink), s.Mean, s.Std),
		models.NewCNNSmall(s.Test.Shrink(t.Shrink), s.Mean, s.Std), nil
}

// An arm is an idea. The name of an arm also says the budget of its run if this is not the number
// of the recipe's queries.
type arm struct {
	ideas.Arm
	name, title string
	equal       string // "", "bytes" or "samples"
	costs       string // beside queries and bytes
}

// spent returns the cost at which the experiment compares an arm: queries or bytes.
func (a *arm) spent(s ideas.Spent) float64 {
	switch a.equal {
	case "bytes":
		return s.Bytes
	case "samples":
		return float64(s.Samples)
	}
	return float64(s.Queries)
}

// arms lists the ideas, the recipe first, and then other authors' methods. The arms marked as free
// use values that no scalar reveals, to show the largest possible gain of an idea.
func arms() []arm {
	idea := func(name, title, costs string, a ideas.Arm) arm {
		return arm{name: name, title: title, costs: costs, Arm: a}
	}
	shape := func(of ideas.Source, power float64) ideas.Arm {
		return ideas.Arm{Shape: ideas.Shape{Of: of, Power: power}}
	}
	list := []arm{
		idea("recipe", "the recipe, P=10, batch 200", "", ideas.Arm{}),
		idea("last-x3", "last layer x3", "", ideas.Arm{Layers: ideas.Layers{Last: 3}}),
		idea("last-x0.3", "last layer x0.3", "", ideas.Arm{Layers: ideas.Layers{Last: 0.3}}),
		idea("layers", "layers by g^2/tr H, told free", "", ideas.Arm{Layers: ideas.Layers{Power: 1}}),
		idea("layers-root", "layers by its root, told free", "",
			ideas.Arm{Layers: ideas.Layers{Power: 0.5}}),
		idea("orthogonal", "all 100 directions of a round orthogonal",
			"replay of 1 direction, not 100", ideas.Arm{Orthogonal: true}),
		idea("hiso", "D by v of rounds^-1/2, as HiSo", "d more", shape(ideas.Rounds, -0.5)),
		idea("halves", "D by v of halves^-1/2", "d more", shape(ideas.Halves, -0.5)),
		idea("halves-up", "D by v of halves^+1/2", "d more", shape(ideas.Halves, 0.5)),
		idea("exact", "D by exact v^-1/2, told free", "d more", shape(ideas.Exact, -0.5)),
		idea("exact-up", "D by exact v^+1/2, told free", "d more", shape(ideas.Exact, 0.5)),
		idea("hiso-moves", "v of rounds^-1/2 on moves alone, as Adam", "d more",
			ideas.Arm{Shape: ideas.Shape{Of: ideas.Rounds, Power: -0.5, Moves: true}}),
		idea("exact-gently", "D by max(exact v, 10 means)^-1/2, told free", "d more",
			ideas.Arm{Shape: ideas.Shape{Of: ideas.Exact, Power: -0.5, Least: 10}}),
		idea("curvature", "D by diag H^-1/2, told free", "d more", shape(ideas.Hessian, -0.5)),
		idea("local", "K=2, P=9, own steps", "", ideas.Arm{K: 2, P: []int{9}, Local: 0.03}),
		idea("p5", "P=5", "", ideas.Arm{P: []int{5}}),
		idea("p20", "P=20", "", ideas.Arm{P: []int{20}}),
		idea("grow-p", "P 5, 10, 20", "", ideas.Arm{P: []int{5, 10, 20}}),
		idea("shrink-p", "P 20, 10, 5", "", ideas.Arm{P: []int{20, 10, 5}}),
		idea("grow-b", "batch 100, 200, 300", "", ideas.Arm{B: []int{100, 200, 300}}),
		idea("b400", "batch 400", "twice the computing", ideas.Arm{B: []int{400}}),
		idea("more-b", "batch 200, 400, 600", "twice the computing",
			ideas.Arm{B: []int{200, 400, 600}}),
		idea("kalman", "Kalman filter in place of momentum", "replay twice",
			ideas.Arm{Memory: ideas.Kalman}),
		idea("squares", "least squares of 10 rounds", "replay 40 times",
			ideas.Arm{Memory: ideas.Squares}),
		idea("control", "control variate along momentum", "replay twice",
			ideas.Arm{Memory: ideas.Control}),
		idea("control-long", "control variate, momentum 0.97", "replay twice, d more",
			ideas.Arm{Memory: ideas.LongControl}),
		idea("antithetic", "each round's directions again, negated", "", ideas.Arm{Antithetic: true}),
	}
	for _, a := range slices.Clone(list) {
		equal := ""
		switch {
		case len(a.P) > 0:
			equal = "bytes"
		case len(a.B) > 0:
			equal, a.costs = "samples", ""
		default:
			continue
		}
		a.name, a.title, a.equal = a.name+"-"+equal, a.title+", equal "+equal, equal
		list = append(list, a)
	}
	return append(list, otherArms()...)
}

// A fleet is the number of devices, and how many of them contribute to a round.
type fleet struct{ devices, asked int }

var usualFleet = fleet{100, 10}

// A study is the comparison that an experiment of ideas makes.
type study struct {
	tasks  []task
	usual  int // tasks, from the first on, that run unless others are asked for
	arms   []arm
	rounds int       // of the recipe with P=10
	steps  []float64 // to choose from
	fleet  fleet
}

func broadStudy() study {
	return study{tasks: imageTasks(), usual: 2, arms: arms(), rounds: 200, fleet: usualFleet,
		steps: []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56}}
}

// runStudy runs a study, and marks its report as screened, because the simulation always uses
// gradients.
func runStudy(t *lab.Trial, s study) error {
	x, err := newTrial(t, s)
	if err != nil {
		return err
	}
	if err = x.all(); !t.Env.Screen {
		t.Report.MarkScreened()
	}
	return err
}

// A trial is a running experiment.
type trial struct {
	*lab.Trial
	study // with the tasks and arms that were chosen
	seeds int
	whole int // rounds of the recipe if the experiment is not short
}

func newTrial(t *lab.Trial, s study) (*trial, error) {
	e := t.Env
	x := &trial{t, s, e.SeedsOr(3), s.rounds}
	if e.Short {
		x.rounds, x.steps = 20, x.steps[3:6]
	}
	var err error
	if x.arms, err = chosenIdeas(s.arms, e.Arms); err != nil {
		return nil, err
	}
	if x.tasks = s.tasks[:s.usual]; e.Tasks != nil {
		x.tasks, err = lab.Pick("tasks", s.tasks, func(t task) string { return t.Name }, e.Tasks, nil)
	}
	return x, err
}

// chosenIdeas returns the recipe and the requested arms.
func chosenIdeas(all []arm, asked []string) ([]arm, error) {
	kept, err := lab.Chosen("arm", asked, lab.Each(all, func(a arm) string { return a.name }))
	var list []arm
	for _, a := range all {
		if a.name == "recipe" || slices.Contains(kept, a.name) {
			list = append(list, a)
		}
	}
	return list, err
}

// price returns the bytes of a device for a round, on average over the fleet. It is 0 if no plan
// can have such rounds.
func (x *trial) price(a *arm, dim, scalars int) (float64, error) {
	if a.Other == ideas.DeComFL || a.Other == ideas.FeedSign {
		return x.sharedPrice(dim, scalars, a.Other)
	}
	p, err := preset.Unbound("zofl", "further", uint64(dim))
	if err != nil {
		return 0, err
	}
	p.Members, p.Target = uint32(x.fleet.devices), uint32(x.fleet.asked)
	p.Sharing, p.Perturbations = plan.PerClient, uint32(scalars)
	if a.Groups > 0 {
		p.Sharing, p.Groups, p.Regroup = plan.GroupDirections, grouping.Random, 1
		p.GroupSize = p.Target / uint32(a.Groups)
	}
	if preset.Fit(p); valid.Plan(p) != nil { // to the recipe's 4 bits
		return 0, nil
	}
	c := prices.Of(p, prices.Input{Round: 1000, IDLen: 8})
	part := float64(x.fleet.asked) / float64(x.fleet.devices)
	return float64(c.Down.Socket) + float64(c.Up.Socket)*part, nil
}

// config returns the run of an arm.
func (x *trial) config(train, test models.Differentiable, a *arm, step float64,
	seed uint64) (ideas.Config, error) {
	shares, err := data.IID(train.Len(), x.fleet.devices, seed)
	var failed error
	c := ideas.Config{Arm: a.Arm, Train: train, Test: test, Shares: shares, Asked: x.fleet.asked,
		Seed: seed, Step: step, Times: 30, Price: a.spent,
		Bytes: func(scalars int) float64 {
			n, err := x.price(a, train.Dim(), scalars)
			failed = cmp.Or(failed, err)
			return n
		},
	}
	n := x.rounds * 11
	bytes, priced := x.price(&x.arms[0], train.Dim(), 10)
	c.Budget = a.spent(ideas.Spent{Queries: n, Samples: n * 200, Bytes: float64(x.rounds) * bytes})
	return c, cmp.Or(err, failed, priced)
}

// points trains an arm, or returns the points that an earlier run saved.
func (x *trial) points(t *task, train, test models.Differentiable, a *arm,
	step float64, seed uint64) ([]ideas.Point, error) {
	c, err := x.config(train, test, a, step, seed)
	if err != nil {
		return nil, err
	}
	file := ""
	if x.Env.Dir != "" {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %+v %d %d %g %v", t.key(), a.Arm, train.Len(),
			x.rounds, c.Budget, c.Times))
		file = filepath.Join(x.Env.Dir, x.Report.ID, t.Name,
			fmt.Sprintf("%s-%g-%d-%x.json", a.name, step, seed, sum[:6]))
	}
	points, err := lab.Saved[[]ideas.Point](file)
	if err != nil {
		return nil, err
	}
	if points != nil {
		return *points, nil
	}
	list, err := ideas.Train(x.Ctx, c)
	if err == nil && file != "" {
		err = lab.Save(file, &list)
	}
	return list, err
}
