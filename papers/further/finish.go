package further

import (
	"fmt"

	"github.com/zofl/zofl/papers/ideas"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/tasks"
)

// Finish asks how much accuracy the recipe loses in the last third of a run. Finish compares the
// recipe with variants that each change one setting of the end, at equal queries.
func Finish() lab.Experiment {
	return lab.Experiment{
		ID:    "finish",
		Title: "other ends of a run, each against the recipe's, in a screening simulation",
		Paper: "none: the baseline is zofl-mnist's recipe",
		Long:  "half an hour on a core; --tasks and --arm choose",
		Takes: []string{"tasks", "rounds", "arm"},
		Do:    func(t *lab.Trial) error { return runStudy(t, finishStudy(t.Env.Rounds)) },
	}
}

// finishStudy returns the study with the recipe's directions and minibatches. A run has this
// number of the recipe's rounds, of 20 queries each; 0: about 8,000 queries.
func finishStudy(rounds uint64) study {
	s := study{tasks: finishTasks(), usual: 2, arms: finishArms(), rounds: 728, fleet: usualFleet,
		steps: []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64}}
	if rounds > 0 {
		s.rounds = int(rounds * 20 / 11)
	}
	return s
}

// finishTasks returns two tasks on which the noise of minibatches limits the final accuracy.
func finishTasks() []task {
	var list []task
	for _, name := range []string{"mnist", "fashion-mnist"} {
		list = append(list, task{Task: tasks.Task{Name: name + "-mlp", Data: name,
			Shrink: 2, Scale: tasks.Standardized, Hidden: []int{32}, Train: 60_000, Test: 10_000}})
	}
	return list
}

// finishArms lists the arms, the recipe first.
func finishArms() []arm {
	list := []arm{{name: "recipe", title: "the recipe, P=19, batch 200"}}
	add := func(name, title, costs string, a ideas.Arm) {
		if a.P == nil {
			a.P = []int{19}
		}
		list = append(list, arm{name: name, title: title, costs: costs, Arm: a})
	}
	end := func(name, title, costs string, f ideas.Finish) {
		add(name, title, costs, ideas.Arm{Finish: f})
	}
	list[0].P = []int{19}
	add("late-b", "batch 100, 100, 400", "", ideas.Arm{B: []int{100, 100, 400}})
	add("fall-p", "P 38, 19, 9", "bytes", ideas.Arm{P: []int{38, 19, 9}})
	end("to-zero", "cosine to 0", "", ideas.Finish{Fall: ideas.ToZero})
	end("linear", "linear to 0", "", ideas.Finish{Fall: ideas.Linear})
	end("auto", "the fall of step=auto", "", ideas.Finish{Fall: ideas.Auto})
	end("calm", "momentum 0.5 in the last third", "", ideas.Finish{Late: 0.5})
	end("long", "momentum 0.97 in the last third", "", ideas.Finish{Late: 0.97})
	for _, decay := range []float64{0.003, 0.01, 0.1} {
		end(fmt.Sprint("decay-", decay), fmt.Sprint("decay ", decay), "", ideas.Finish{Decay: decay})
	}
	end("average", "mean of x over the last 20th", "d more", ideas.Finish{Average: 0.05})
	add("grow-p", "P 9, 19, 38", "bytes", ideas.Arm{P: []int{9, 19, 38}})
	add("late-b-free", "batch 200, 200, 600", "5/3 of the computing",
		ideas.Arm{B: []int{200, 200, 600}})
	add("b600", "batch 600", "3 times the computing", ideas.Arm{B: []int{600}})
	return list
}
