package preset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/plan"
)

// A trial is the result of a preset with its own step size on small classification tasks, where we
// set only the model and the fleet. We compared this result with the best of nine step sizes: the
// preset's step size times powers of 4. Each trial is a row of a table in papers/RESULTS.md. A test
// in papers compares trials and table.
type trial struct {
	tasks  int
	near   int     // tasks on which the preset ended within 3 points of the best
	failed int     // tasks on which the run ended early
	behind float64 // most points below the best, of runs that did not end early
	from   string  // the smallest of the best step sizes, as a multiple
	to     string  // the largest; empty: with no step size the model learned
	why    string  // why its own step size is worse than the best; empty: it hardly is
}

// trials are the trials of the presets that the experiment ran. A preset whose devices find the
// step size has no trial. For the presets that compute most, we ran only the smallest tasks, or
// none.
var trials = map[string]trial{
	"decomfl": {tasks: 8, near: 1, behind: 52.8, from: "1", to: "256 or more",
		why: whySlope + "1e-3 was published beside torch momentum 0.9, which makes steps 10 times " +
			"as long."},
	"decomfl-adam": {tasks: 8, near: 3, behind: 13.8, from: "1", to: "64",
		why: "A round moves a parameter by about server_step, 300 rounds by 0.6 at most: too little " +
			"for weights that must grow further."},
	"fedzo-dense": {tasks: 7, near: 1, behind: 53.3, from: "1/4", to: "256 or more", why: whyFedZO},
	"fedzo":       {tasks: 8, near: 1, behind: 55.6, from: "1/4", to: "256 or more", why: whyFedZO},
	"fedprox":     {tasks: 6, near: 3, behind: 13.1, from: "1/4", to: "64", why: whyAdam},
	"fzoos":       {tasks: 1, near: 1, from: "1/4", to: "1/4"},
	"mezo": {tasks: 8, near: 5, why: "With one direction a round and one device, 300 rounds are too " +
		"few for any."},
	"scaffold-1": {tasks: 5, near: 3, behind: 15.2, from: "1", to: "64", why: whyAdam},
	"scaffold-2": {tasks: 5, near: 3, behind: 17.3, from: "1", to: "64", why: whyAdam},
	"zo-adafl": {tasks: 8, near: 7, failed: 1, from: "1/4", to: "4",
		why: "Inputs of 0 to 16: when a round moves each parameter by 0.02, the scores move by units, " +
			"and diverge=1 ends a run whose loss doubles."},
	"zo-svrg": {tasks: 6, behind: 46.3, from: "1/4", to: "256 or more",
		why: whySlope + "This step is decomfl's, and no paper's."},
	"zofedavg-gd":  {tasks: 5, near: 2, failed: 3, from: "1/64", to: "1", why: whyAlong},
	"zofedavg-sgd": {tasks: 7, near: 2, failed: 5, from: "1/64", to: "1/4", why: whyAlong},
	"zofedht":      {tasks: 7, near: 2, failed: 5, from: "1/64", to: "1/4", why: whyAlong},
	"zo-adafl-shared": {tasks: 8, near: 7, behind: 3.8, from: "1/4", to: "16",
		why: "A round moves a parameter by about server_step at most, and by less later, as the " +
			"largest v never falls: too little for weights that must grow far."},
	"zofedavg-gd-shared":  {tasks: 8, near: 2, failed: 6, from: "1/64", to: "1/4", why: whyAlong},
	"zofedavg-sgd-shared": {tasks: 8, near: 2, failed: 6, from: "1/64", to: "1/4", why: whyAlong},
	"zofedht-shared":      {tasks: 8, near: 2, failed: 6, from: "1/64", to: "1/4", why: whyAlong},
}

// The same reasons explain for several presets why the preset's step size is worse than the best.
const (
	whySlope = "A move is the step times the slope, which differs from model to model. "
	whyFedZO = whySlope + "1e-3 is that of its authors' attack on images, and K = P = 20 leaves few " +
		"rounds to make up for it."
	whyAdam = whySlope + "The paper's 0.01 is a step of Adam, whose moves do not depend on the " +
		"slope's size."
	whyAlong = "Along one normal direction a move is about sqrt(d) times as long as along the " +
		"gradient. K = 50 of them with a step of 1 diverge where d or the inputs are large."
)

// unlearned is the text for a preset with which the model learned nothing at any step size.
const unlearned = " of classification this preset learned nothing in 300 rounds with any of nine " +
	"steps: its own, and others 1/256 to 256 times as long."

func (t trial) String() string {
	if t.tasks == 1 {
		return t.only()
	}
	if t.to == "" {
		return fmt.Sprintf("On %d small tasks%s", t.tasks, unlearned)
	}
	on := "none"
	if t.near > 0 {
		on = fmt.Sprint(t.near)
	}
	text := fmt.Sprintf("With its own step this preset came within 3 points of the best of nine "+
		"steps on %s of %d small tasks of classification", on, t.tasks)
	if t.failed > 0 {
		text += fmt.Sprintf(", and diverged on %d", t.failed)
	}
	if t.behind > 0 {
		text += fmt.Sprintf("; elsewhere it ended up to %.1f points below", t.behind)
	}
	if t.from == t.to {
		return text + fmt.Sprintf(". The best steps were %s times as long.", t.from)
	}
	return text + fmt.Sprintf(". The best steps were %s to %s times as long.", t.from, t.to)
}

// only is the text for a single task.
func (t trial) only() string {
	text := "With its own step this preset "
	switch {
	case t.to == "":
		return "On one small task" + unlearned
	case t.failed > 0:
		text += "diverged"
	case t.near > 0:
		text += "came within 3 points of the best of nine steps"
	default:
		text += fmt.Sprintf("ended %.1f points below the best of nine steps", t.behind)
	}
	return text + fmt.Sprintf(" on one small task of classification. The best step was %s times as "+
		"long.", t.from)
}

// untried is the text for presets without a trial.
const untried = "Its step was not tried on other models: zofl tune finds one on yours."

// told returns a preset whose notes end with the result of its trial, or say that there is no
// trial.
func (i Info) told() Info {
	var own plan.Plan
	i.apply(&own)
	if t, ok := trials[i.Name]; ok {
		i.Notes += "\n" + broken(strings.TrimSpace(fmt.Sprintf("%v %s", t, t.why)), 90)
	} else if own.StepAuto == 0 {
		i.Notes += "\n" + untried
	}
	return i
}

// Warnings returns what an author should know before the run begins, one paragraph for each
// warning. Warnings warns of a step size that is still the preset's, because the preset's step size
// was chosen for other models, and says how to find another step size. A plan with another step
// size, or whose devices find the step size, gets no warning.
func Warnings(p *plan.Plan) []string {
	list := List()
	at := slices.IndexFunc(list, func(i Info) bool { return i.Name == p.Preset })
	if at < 0 || p.StepAuto != 0 {
		return nil
	}
	own := plan.Plan{Dim: p.Dim}
	if list[at].apply(&own); own.StepSize != p.StepSize || own.ServerStep != p.ServerStep {
		return nil
	}
	name, value := "step", own.StepSize
	if own.ServerStep > 0 {
		name, value = "server_step", own.ServerStep
	}
	text := fmt.Sprintf("%s=%v comes with the preset and was chosen for other models. With it your "+
		"model may learn next to nothing, or diverge. ", name, value)
	if t, ok := trials[p.Preset]; ok {
		text += t.String() + " "
	}
	return []string{text + "Find a step with zofl tune, or begin with --preset zofl, which finds " +
		"its own."}
}

// broken breaks a text into lines of at most width bytes.
func broken(text string, width int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
