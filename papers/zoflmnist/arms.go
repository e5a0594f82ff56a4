package zoflmnist

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// arms returns the arms of a split, DeComFL first.
func arms(split string) []contest.Method {
	switch split {
	case "s":
		return []contest.Method{baseline, recipe, twice, groups, groupsTwice}
	case "d":
		return []contest.Method{baseline, recipe, groups}
	}
	return []contest.Method{baseline, recipe}
}

var (
	// baseline is DeComFL as its authors published K=1, P=20, with steps around theirs.
	baseline = contest.Method{Name: "decomfl", Title: "DeComFL, P=20", Set: []string{
		"difference=central", "perturbations=20", "mu=1e-3", "rule=torch-momentum", "beta=0.9",
		"weight_decay=1e-5",
	}, Steps: []float32{1e-3, 5e-4, 2e-3}}
	// adam has own directions for each device, and the server applies Adam to the round's move.
	adam = contest.Method{Name: "adam", Title: "own directions, Adam", Preset: "fedzo",
		Set: []string{
			"steps=1", "perturbations=19", "distribution=rademacher", "difference=forward",
			"precision=half", "max_scalar=65504", "server_rule=adam", "server_beta1=0.9",
			"server_beta2=0.99", "server_epsilon=1e-12",
		}, Steps: []float32{1.5e-3}, Step: "server_step"}
	// recipe has own directions, and momentum divided by the contributors' root mean
	// square, with decay of x, a cosine that ends with the run, and scalars of 4 bits.
	recipe = contest.Method{Name: "zofl", Title: "the recipe", Preset: "fedzo", Set: []string{
		"steps=1", "perturbations=19", "distribution=rademacher", "difference=forward",
		"precision=int4", "max_scalar=65504", "server_rule=normalized", "server_beta1=0.9",
		"server_beta2=0.99", "server_decay=0.03", "step_decay=cosine", "floor=0.05",
	}, Steps: []float32{0.12}}
	// twice is the recipe with a longer cosine.
	twice = func() contest.Method {
		c := recipe.With("twice", "the recipe, twice the rounds", "server_decay=0.02")
		c.Queries = 40_000
		return c
	}()
	// groups is the recipe with directions shared in groups of five, chosen by sketches. Every
	// device makes queries for the sketches. To make no more queries in total, rounds have fewer
	// queries to spend.
	groups = func() contest.Method {
		c := groupsBySketch(recipe, 5, 10).With("groups", "groups by sketches",
			"precision=int8").At(0.04)
		c.Queries = 20_000 - sketchQueries(100, 10)
		return c
	}()
	// groupsTwice is groups with a longer cosine.
	groupsTwice = func() contest.Method {
		c := groups.With("groups-twice", "groups by sketches, twice the rounds",
			"server_decay=0.02")
		c.Queries = 40_000 - sketchQueries(100, 10)
		return c
	}()
	// auto is the recipe with a step size that devices find; a step size found by devices has a
	// decay of its own.
	auto = recipe.With("auto", "the recipe, step=auto", "step_decay=constant", "floor=0",
		"step=auto").At(0)
	// full is the recipe with minibatches of all samples that a device has. A query still counts as
	// one loss, but takes three times as long. A training needs fewer queries.
	full = func() contest.Method {
		c := recipe.With("full", "the recipe, batch 600", "batch=600")
		c.Queries = 16_000
		return c
	}()
	// lean is full with fewer directions, which spends fewer queries and bytes on a round.
	lean = func() contest.Method {
		c := full.With("lean", "the recipe, batch 600, P=12", "perturbations=12").At(0.1)
		c.Queries = 620 * 13
		return c
	}()
	// decay is the recipe with less decay, which won in long runs of the experiment finish.
	decay = recipe.With("decay", "the recipe, decay 0.01", "server_decay=0.01")
	// others are arms that run only on request.
	others = []contest.Method{adam, twice, auto, full, lean, decay}
)

// pickArms returns the requested arms; if none is requested, it returns the default ones. Each
// requested text is an arm's name, or "NAME BASE FIELD=VALUE ...": a new arm that has the fields
// of the arm or preset BASE, and the given fields.
func pickArms(arms []contest.Method, asked []string) ([]contest.Method, error) {
	if len(asked) == 0 {
		return arms, nil
	}
	arms = append(slices.Clone(arms), others...)
	var list []contest.Method
	for _, text := range asked {
		words := strings.Fields(text)
		if len(words) == 0 {
			words = []string{""}
		}
		base := words[0]
		if len(words) > 1 {
			base = words[1]
		}
		c, err := armOf(arms, base)
		if err != nil {
			return nil, err
		}
		if len(words) > 1 {
			if c, err = as(c, words[0], words[2:]); err != nil {
				return nil, err
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// armOf returns the arm with a name, or makes an arm of the preset with that name.
func armOf(arms []contest.Method, name string) (contest.Method, error) {
	var names []string
	for _, c := range arms {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	p, err := preset.Unbound(name, "probe", 1)
	if err != nil {
		return contest.Method{}, fmt.Errorf("--arm %s: choose among %s, or name a preset", name,
			strings.Join(names, ", "))
	}
	field, value := contest.StepOf(p)
	return contest.Method{Name: name, Title: "the preset " + name, Preset: name, Step: field,
		Steps: []float32{value}}, nil
}

// as returns the method with other fields, under another name. If the fields set the step size,
// the method has only this step size.
func as(c contest.Method, name string, fields []string) (contest.Method, error) {
	c = c.With(name, name)
	probe, err := preset.Unbound("decomfl", "probe", 1)
	if err != nil {
		return c, err
	}
	for _, text := range fields {
		field, value, _ := strings.Cut(text, "=")
		if err := planfile.Set(probe, field, value); err != nil {
			return c, err
		}
		if field != c.StepName() {
			c.Set = append(slices.Clone(c.Set), text)
			continue
		}
		step, err := strconv.ParseFloat(value, 32)
		if err != nil {
			return c, err
		}
		c.Steps = []float32{float32(step)}
	}
	return c, nil
}
