package paper

// Each recipe changes one or two things of an earlier one, to show what helps. Rounds of
// most take 20 queries of a device, those of others a multiple: they compete at equal
// queries and bytes, not at equal rounds.

// softmaxRecipes returns the recipes with steps for softmax.
func softmaxRecipes() []contestant { return recipes(2) }

// cnnRecipes returns the recipes with steps for the CNN, half of softmax's as in the
// official code.
func cnnRecipes() []contestant { return recipes(1) }

// recipes returns plain DeComFL twice, then what is tried beyond it, and last the preset.
// Steps are those for the CNN times scale.
func recipes(scale float32) []contestant {
	plain := contestant{name: "p10", title: "DeComFL, P=10", set: []string{
		"difference=central", "perturbations=10", "mu=1e-3", "rule=torch-momentum", "beta=0.9",
		"weight_decay=1e-5",
	}}
	forward := plain.with("fwd", "forward differences, P=19", "difference=forward", "perturbations=19")
	rademacher := forward.with("rad", "forward, Rademacher", "distribution=rademacher")
	half := rademacher.with("half", "forward, Rademacher, halves", "precision=half",
		"max_scalar=65504")
	list := []contestant{
		plain.at(2.5e-4, 5e-4, 1e-3),
		plain.with("p20", "DeComFL, P=20", "perturbations=20").at(5e-4, 1e-3, 2e-3),
		forward.at(5e-4, 1e-3, 2e-3),
		rademacher.at(5e-4, 1e-3, 2e-3),
		half.at(5e-4, 1e-3, 2e-3),
		half.with("m7", "forward, Rademacher, halves, momentum 0.7", "beta=0.7").at(1e-3, 2e-3, 4e-3),
		rademacher.with("grow", "forward, Rademacher, P from 9 to 39", "perturbations=9",
			`perturbation_schedule=[{"round":40,"perturbations":19},{"round":80,"perturbations":39}]`,
			`step_schedule=[{"round":40,"factor":2},{"round":80,"factor":4}]`).at(2.5e-4, 5e-4, 1e-3),
		rademacher.with("pool", "forward, Rademacher, a pool of 4096", "pool=4096",
			"rebase=16").at(5e-4, 1e-3, 2e-3),
		rademacher.with("k2", "forward, Rademacher, K=2", "steps=2",
			"perturbations=9").at(2.5e-4, 5e-4, 1e-3),
		half.with("k4", "forward, Rademacher, halves, K=4", "steps=4").at(3.5e-4, 7e-4, 1.4e-3),
		rademacher.with("cv", "forward, Rademacher, K=2, SCAFFOLD II", "steps=2", "perturbations=9",
			"control=scaffold-2").at(2.5e-4, 5e-4, 1e-3),
		history(forward).at(5e-4, 1e-3, 2e-3),
	}
	list = append(list, adaptive(half)...)
	list = append(list, ownPreset(list))
	for i := range list {
		c := &list[i]
		c.steps = append([]float32(nil), c.steps...)
		for j := range c.steps {
			c.steps[j] *= scale
		}
	}
	return list
}

// history draws half of the directions' variance from the last five moves, as ZOFedHT does.
func history(c contestant) contestant {
	return c.with("ht", "forward, history-guided", "distribution=subspace", "subspace_moves=5",
		"subspace_share=0.5")
}

// adaptive returns c with the server rules that scale each element's step. For these the
// size of a local step makes no difference, except through epsilon and decay.
func adaptive(c contestant) []contestant {
	var list []contestant
	of := func(c contestant, name, title, rule string) contestant {
		c = c.with(name, title, "rule=sgd", "beta=0", "weight_decay=0", "step=1e-3",
			"server_rule="+rule, "server_step=1e-3", "server_beta1=0.9", "server_beta2=0.99",
			"server_epsilon=1e-12")
		c.step = "server_step"
		return c.at(1e-3, 2e-3, 4e-3)
	}
	for _, rule := range []string{"adam", "amsgrad", "yogi"} {
		list = append(list, of(c, rule, "forward, Rademacher, halves, "+rule, rule))
	}
	guided := history(c)
	return append(list, of(guided, "hta", "forward, history-guided, halves, adam", "adam"))
}

// ownPreset returns the best recipe as a preset, which anybody can use by name.
func ownPreset(of []contestant) contestant {
	best := find(of, "adam")
	return contestant{
		name: "own", title: "the preset decomfl-adam", preset: "decomfl-adam",
		step: best.step, steps: best.steps,
	}
}

func find(of []contestant, name string) contestant {
	for _, c := range of {
		if c.name == name {
			return c
		}
	}
	panic("paper: internal error: there is no recipe " + name)
}
