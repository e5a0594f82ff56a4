package beyond

import "github.com/zofl/zofl/papers/contest"

// Each recipe changes one or two things of an earlier one, to show what helps. In a round of most
// presets a device makes 20 queries, in a round of the others a multiple of 20. So the experiment
// compares the recipes at equal queries and bytes, not at equal rounds.

// softmaxRecipes returns the recipes with steps for softmax.
func softmaxRecipes() []contest.Method { return recipes(2) }

// cnnRecipes returns the recipes with steps for the CNN, half of softmax's as in the
// official code.
func cnnRecipes() []contest.Method { return recipes(1) }

// recipes returns plain DeComFL twice, then the combinations to try, and last the preset. The
// step sizes are the step sizes for the CNN times scale.
func recipes(scale float32) []contest.Method {
	plain := contest.Method{Name: "p10", Title: "DeComFL, P=10", Set: []string{
		"difference=central", "perturbations=10", "mu=1e-3", "rule=torch-momentum", "beta=0.9",
		"weight_decay=1e-5",
	}}
	forward := plain.With("fwd", "forward differences, P=19", "difference=forward", "perturbations=19")
	rademacher := forward.With("rad", "forward, Rademacher", "distribution=rademacher")
	half := rademacher.With("half", "forward, Rademacher, halves", "precision=half",
		"max_scalar=65504")
	list := []contest.Method{
		plain.At(2.5e-4, 5e-4, 1e-3),
		plain.With("p20", "DeComFL, P=20", "perturbations=20").At(5e-4, 1e-3, 2e-3),
		forward.At(5e-4, 1e-3, 2e-3),
		rademacher.At(5e-4, 1e-3, 2e-3),
		half.At(5e-4, 1e-3, 2e-3),
		half.With("m7", "forward, Rademacher, halves, momentum 0.7", "beta=0.7").At(1e-3, 2e-3, 4e-3),
		rademacher.With("pool", "forward, Rademacher, a pool of 4096", "pool=4096",
			"rebase=16").At(5e-4, 1e-3, 2e-3),
		rademacher.With("k2", "forward, Rademacher, K=2", "steps=2",
			"perturbations=9").At(2.5e-4, 5e-4, 1e-3),
		half.With("k4", "forward, Rademacher, halves, K=4", "steps=4").At(3.5e-4, 7e-4, 1.4e-3),
		rademacher.With("cv", "forward, Rademacher, K=2, SCAFFOLD II", "steps=2", "perturbations=9",
			"control=scaffold-2").At(2.5e-4, 5e-4, 1e-3),
		history(forward).At(5e-4, 1e-3, 2e-3),
	}
	list = append(list, adaptive(half)...)
	list = append(list, ownPreset(list))
	for i := range list {
		c := &list[i]
		c.Steps = append([]float32(nil), c.Steps...)
		for j := range c.Steps {
			c.Steps[j] *= scale
		}
	}
	return list
}

// history draws half of the directions' variance from the last five moves, as ZOFedHT does.
func history(c contest.Method) contest.Method {
	return c.With("ht", "forward, history-guided", "distribution=subspace", "subspace_moves=5",
		"subspace_share=0.5")
}

// adaptive returns c with the server rules that scale each element's step. For these the
// size of a local step makes no difference, except through epsilon and decay.
func adaptive(c contest.Method) []contest.Method {
	var list []contest.Method
	of := func(c contest.Method, name, title, rule string) contest.Method {
		c = c.With(name, title, "rule=sgd", "beta=0", "weight_decay=0", "step=1e-3",
			"server_rule="+rule, "server_step=1e-3", "server_beta1=0.9", "server_beta2=0.99",
			"server_epsilon=1e-12")
		c.Step = "server_step"
		return c.At(1e-3, 2e-3, 4e-3)
	}
	for _, rule := range []string{"adam", "amsgrad", "yogi"} {
		list = append(list, of(c, rule, "forward, Rademacher, halves, "+rule, rule))
	}
	guided := history(c)
	return append(list, of(guided, "hta", "forward, history-guided, halves, adam", "adam"))
}

// ownPreset returns the preset with the settings of the best recipe.
func ownPreset(of []contest.Method) contest.Method {
	best := find(of, "adam")
	return contest.Method{
		Name: "own", Title: "the preset decomfl-adam", Preset: "decomfl-adam",
		Step: best.Step, Steps: best.Steps,
	}
}

func find(of []contest.Method, name string) contest.Method {
	for _, c := range of {
		if c.Name == name {
			return c
		}
	}
	panic("paper: internal error: there is no recipe " + name)
}
