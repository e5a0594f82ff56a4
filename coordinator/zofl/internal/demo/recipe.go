package demo

import (
	"strings"
	"time"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// A recipe holds the settings with which the demo runs a method. A method's preset has the defaults
// of a paper for another model and another amount of work. With a recipe, the demo trains its
// classifier in about a minute on two cores.
type recipe struct {
	rounds   uint64
	settings string // FIELD=VALUE of the plan, separated by spaces
	shrink   int    // images have 1/shrink of the rows and columns; 0: whole images
}

// local sets a moderate amount of local work, for methods whose papers have 200 scalars or more a
// round.
const local = " steps=5 perturbations=10"

// recipes are the settings of the methods. Step sizes are 1e-3, 3e-3 or 1e-2. We chose them so that
// with 4 devices the loss does not grow at first.
var recipes = map[string]recipe{
	// These are the settings of the published MNIST runs; see the notes of the preset.
	"decomfl": {rounds: 500,
		settings: "difference=central rule=torch-momentum beta=0.9 weight_decay=1e-5"},
	"mezo":                {rounds: 500, settings: "step=1e-3"},
	"fedkseed":            {rounds: 200, settings: "batch=32 step=3e-3" + local},
	"zo-adafl":            {rounds: 200},
	"zo-adafl-shared":     {rounds: 200},
	"decomfl-adam":        {rounds: 500},
	"zofl":                {rounds: 300},
	"zofl-shared":         {rounds: 500},
	"fedzo":               {rounds: 100, settings: "step=0.01" + local},
	"fedzo-dense":         {rounds: 100, settings: "step=0.01" + local},
	"zofedht":             {rounds: 100, settings: "step=3e-3"},
	"zofedht-shared":      {rounds: 100, settings: "step=3e-3"},
	"zofedavg-sgd":        {rounds: 100, settings: "step=3e-3"},
	"zofedavg-sgd-shared": {rounds: 100, settings: "step=3e-3"},
	"zofedavg-gd":         {rounds: 30, settings: "step=3e-3 steps=10"},
	"zofedavg-gd-shared":  {rounds: 30, settings: "step=3e-3 steps=10"},
	"fedprox":             {rounds: 200, settings: "batch=32 step=3e-3" + local},
	"scaffold-1":          {rounds: 200, settings: "batch=32 step=3e-3" + local},
	"scaffold-2":          {rounds: 200, settings: "batch=32 step=3e-3" + local},
	"zo-svrg":             {rounds: 60, settings: "step=3e-3"},
	// A surrogate of thousands of parameters takes hundreds of MiB and minutes a round.
	"fzoos": {rounds: 20, settings: "features=500 window=100", shrink: 4},
	// With the 7850 parameters of whole images the loss falls by 0.1 in 25 rounds.
	"cma": {rounds: 100, shrink: 4},
}

// recipeOf returns the recipe of a method. Methods that recipes does not list have a common recipe.
func recipeOf(method string) recipe {
	r, ok := recipes[method]
	if !ok {
		r.rounds = 100
	}
	r.shrink = max(r.shrink, 1)
	return r
}

// deadline is longer than any round of the demo. Devices do not go away, and a round closes when
// all of them have answered, however slow the machine is.
const deadline = time.Hour

// apply sets the fields of a plan that the recipe and the demo choose.
func (r recipe) apply(p *plan.Plan, cfg Config) error {
	n := uint32(cfg.Clients)
	p.Rounds = r.rounds
	if cfg.Rounds > 0 {
		p.Rounds = cfg.Rounds
	}
	p.Members, p.Target, p.Quorum = n, n, max(n/2, 1)
	p.Deadline = uint32(deadline.Milliseconds())
	p.EvalEvery, p.EvalCount, p.Metrics = 50, 1, append([]string(nil), metrics...)
	_, err := planfile.SetAll(p, strings.Fields(r.settings))
	return err
}
