package eavesdrop

import (
	"cmp"
	"fmt"
)

// An arm is a run that the experiment attacks.
type arm struct {
	name, title string
	preset      string // with the bounds of zofl plan; "": decomfl, with the settings of all arms
	alike       bool   // devices' data are more alike: Dirichlet 3
	settings    string // fields of the plan
	devices     int
	part        int // every round asks one of so many; 0: all
	secret      bool
	gradients   bool // devices give gradients
	epsilon     float64
	seeds       int
	views       []view
}

// A view is the part of a run that an observer sees.
type view struct {
	title string
	of    sight
}

// A sight says which numbers a view has.
type sight uint8

const (
	eachDevice sight = iota // the scalars of each device: what the coordinator gets
	theLog                  // the records: what every device gets
	theSum                  // the exact sum of the devices' scalars in each round, and no other number
	nobody                  // no attack: the run is there for its accuracy
)

var (
	coordinatorView = view{"by the coordinator", eachDevice}
	logView         = view{"in the log", theLog}
	sumView         = view{"the exact sum alone", theSum}
	noView          = view{"not attacked", nobody}
)

// Directions of a run's devices: own directions, or directions that all share.
const (
	ownDirections    = "sharing=per-client transport=relay precision=half step=0.03"
	sharedDirections = "sharing=shared transport=mean precision=half"
	groupDirections  = "sharing=groups transport=relay groups=random group_size=4 regroup=10 " +
		"precision=half step=0.02"
)

// arms are the runs that the experiment attacks. We chose the step sizes by the accuracy with
// seed 1.
var arms = completed(
	arm{name: "own", title: "own directions, relay", settings: ownDirections,
		views: []view{logView}},
	arm{name: "int8", title: "own directions, `precision=int8`",
		settings: ownDirections + " precision=int8", views: []view{logView}},
	arm{name: "int4", title: "own directions, `precision=int4`",
		settings: ownDirections + " precision=int4", views: []view{logView}},
	arm{name: "groups", title: "groups of 4", settings: groupDirections,
		views: []view{coordinatorView, logView}},
	arm{name: "shared", title: "shared directions, mean",
		settings: sharedDirections + " step=0.008", views: []view{coordinatorView, sumView}},
	arm{name: "shared-10", title: "shared directions, mean, 10 of 20 asked",
		settings: sharedDirections + " step=0.008", part: 2,
		views: []view{coordinatorView, sumView, logView}},
	arm{name: "secret", title: "shared directions, mean, `--secret`", secret: true,
		settings: sharedDirections + " step=0.008", views: []view{coordinatorView}},
	arm{name: "secret-own", title: "own directions, relay, `--secret`", secret: true,
		settings: ownDirections, views: []view{coordinatorView}},
)

// completed completes arms, and adds arms with noise.
func completed(arms ...arm) []arm {
	for i := range arms {
		arms[i].devices, arms[i].seeds = 20, 3
	}
	arms = append(arms, noiseArms()...)
	arms = append(arms, defaultArms()...)
	crowd := append([]arm{{name: "none", title: "no noise",
		settings: sharedDirections + " step=0.008"}}, noiseArms()...)
	for _, a := range crowd {
		// The devices of a crowd give gradients, because the losses of so many devices would take a
		// day.
		a.name, a.title, a.gradients = "crowd-"+a.name, "1,000 IID devices, "+a.title, true
		a.devices, a.seeds, a.views = 1000, 1, []view{noView}
		if a.epsilon > 0 {
			a.settings += fmt.Sprintf(" step=%g", steps[a.name])
		}
		a.settings += " batch=8"
		arms = append(arms, a)
	}
	return arms
}

// defaultArms returns runs of the plans that zofl plan makes, with data as in the other arms and
// with data that are more alike.
func defaultArms() (arms []arm) {
	for _, a := range []arm{
		{name: "zofl", title: "the default", views: []view{logView}},
		{name: "zofl-own", title: "the default with own directions",
			settings: "sharing=per-client groups=none regroup=0 precision=int4",
			views:    []view{logView}},
		{name: "zofl-shared", title: "`zofl-shared`", preset: "zofl-shared",
			views: []view{logView}},
	} {
		a.preset, a.devices, a.seeds = cmp.Or(a.preset, "zofl"), 20, 3
		alike := a
		alike.name, alike.title, alike.alike = a.name+"-alike", a.title+", Dirichlet 3", true
		arms = append(arms, a, alike)
	}
	return arms
}

// noiseArms returns runs with differential privacy.
func noiseArms() (arms []arm) {
	for _, by := range []string{"device", "coordinator"} {
		views := []view{coordinatorView}
		if by == "coordinator" {
			views = append(views, logView)
		}
		for _, epsilon := range []float64{2, 4, 8} {
			name := fmt.Sprintf("%s-%g", by, epsilon)
			arms = append(arms, arm{
				name: name, title: fmt.Sprintf("noise by the %s, epsilon %g", by, epsilon),
				devices: 20, seeds: 3, epsilon: epsilon, views: views,
				settings: fmt.Sprintf("%s weights=equal dp_clip=3 dp_by=%s dp_noise=1 dp_delta=1e-5 "+
					"step=%g", sharedDirections, by, steps[name]),
			})
		}
	}
	return arms
}

// steps are the step sizes of runs with noise. A device scales its 10 scalars down to a norm of
// at most 3; most devices' scalars have a larger norm.
var steps = map[string]float64{
	"device-2": 3e-4, "device-4": 3e-4, "device-8": 1e-3,
	"coordinator-2": 1e-3, "coordinator-4": 3e-3, "coordinator-8": 1e-2,
	"crowd-device-2": 5e-3, "crowd-device-4": 1e-2, "crowd-device-8": 2e-2,
	"crowd-coordinator-2": 2e-2, "crowd-coordinator-4": 2e-2, "crowd-coordinator-8": 2e-2,
}
