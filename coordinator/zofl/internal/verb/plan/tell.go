package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// says has a function for each section of a plan. The function describes the section in sentences,
// or adds no sentence if the plan does not use the section.
var says = map[string]func(s *speech){
	"run": (*speech).run, "model": (*speech).model, "probe": (*speech).probe,
	"surrogate": (*speech).surrogate, "groups": (*speech).groups, "local": (*speech).local,
	"server": (*speech).server, "aggregate": (*speech).aggregate, "robust": (*speech).robust,
	"privacy": (*speech).privacy, "rounds": (*speech).rounds, "late": (*speech).late,
	"evaluation": (*speech).evaluation, "stop": (*speech).stop,
}

// A speech is the description of one section of a plan.
type speech struct {
	*plan.Plan
	cost      cost.Round
	sentences []string
}

func (s *speech) say(format string, args ...any) {
	s.sentences = append(s.sentences, fmt.Sprintf(format, args...))
}

// sayIf adds a sentence if has is true.
func (s *speech) sayIf(has bool, format string, args ...any) {
	if has {
		s.say(format, args...)
	}
}

// tell prints what a plan does and what that costs, section by section, and all its fields.
func tell(out io.Writer, p *plan.Plan, in cost.Input) error {
	base, err := presetOf(p)
	if err != nil {
		return err
	}
	values, err := planfile.Values(p)
	if err != nil {
		return err
	}
	c := cost.Of(p, in)
	for _, section := range plan.Sections() {
		s := speech{Plan: p, cost: c}
		says[section.Name](&s)
		if own, err := differs(section.Name, p, base); err != nil {
			return err
		} else if len(own) > 0 {
			s.say("In place of the preset's: %s.", strings.Join(own, ", "))
		}
		fields := fieldsOf(section.Name, values)
		if len(s.sentences) == 0 && fields == "" {
			continue
		}
		fmt.Fprintln(out, section.Name)
		for _, text := range []string{strings.Join(s.sentences, " "), fields} {
			if text != "" {
				text = cli.Wrapped(text, cli.TextWidth-2)
				fmt.Fprintf(out, "  %s\n", strings.ReplaceAll(text, "\n", "\n  "))
			}
		}
		fmt.Fprintln(out)
	}
	return nil
}

// longestValue bounds the values that fieldsOf prints, in bytes.
const longestValue = 40

// fieldsOf lists the fields of a section that are not zero. Long values end with dots.
func fieldsOf(section string, values []planfile.Value) string {
	var list []string
	for _, v := range values {
		if v.Field.Section == section {
			list = append(list, shown(v, longestValue))
		}
	}
	return strings.Join(list, " ")
}

// shown returns a field and its value. Of a list longer than most characters shown returns the
// number of elements, as in 103 segments, and other long values end with dots.
func shown(v planfile.Value, most int) string {
	name, text := v.Field.Name, strings.Trim(v.JSON, `"`)
	var list []json.RawMessage
	if len(text) > most && strings.HasSuffix(name, "s") && json.Unmarshal([]byte(text), &list) == nil {
		return fmt.Sprint(len(list), " ", name)
	}
	return name + "=" + cut(text, most)
}

// presetOf returns the plan of p's preset without other values, or nil if it has no preset.
func presetOf(p *plan.Plan) (*plan.Plan, error) {
	base, err := preset.New(p.Preset, p.Run, p.Dim)
	if errors.As(err, new(*plan.Error)) {
		return nil, nil
	}
	return base, err
}

// differs lists the fields of a section that differ from the preset's plan.
func differs(section string, p, base *plan.Plan) (list []string, err error) {
	if base == nil || section == "run" {
		return nil, nil
	}
	own, err := planfile.Values(p)
	if err != nil {
		return nil, err
	}
	theirs, err := planfile.Values(base)
	for _, v := range own {
		at := slices.IndexFunc(theirs, func(t planfile.Value) bool {
			return t.Field.Number == v.Field.Number
		})
		if v.Field.Section == section && v.Field.Form() != "hex" &&
			(at < 0 || theirs[at].JSON != v.JSON) {
			list = append(list, shown(v, cli.TextWidth))
		}
	}
	return list, err
}

func (s *speech) run() {
	method := cmp.Or(s.Preset, "a method of its own")
	s.say("Run %s trains %s by %s.", s.Run, terminal.Count(s.Dim, "parameter"), method)
	s.sayIf(s.Private(), "A secret of the app draws the directions: who lacks it lacks the model.")
}

func (s *speech) model() {
	switch {
	case s.Initial == plan.Given:
		s.say("The parameters begin as given, which each device checks.")
	case randomStart(s.Plan):
		s.say("The parameters begin at random values in %s.", terminal.Count(len(s.Segments), "segment"))
	default:
		s.say("All parameters begin at zero: right for a linear model. Hidden layers and matrix " +
			"factors need random weights, as --segments draws.")
	}
	s.sayIf(len(s.Boxes) > 0, "They stay within their boxes.")
	process := cost.ProcessOf(s.Plan)
	s.say("The process of a device in Go takes %s where its loss takes a flat vector, else %s; "+
		"zofl exec takes %s beside its program.", cli.Size(process.Flat), cli.Size(process.Streaming),
		cli.Size(process.Exec))
}

func (s *speech) probe() {
	data := "all of the device's data"
	if s.Batch > 0 {
		data = terminal.Count(s.Batch, "sample")
	}
	switch {
	case s.Difference == plan.NoDifference:
		s.say("In a round all devices evaluate the same %s around the model.",
			terminal.Count(s.Perturbations, "candidate"))
		s.sayIf(s.PerturbationsAuto > 0, "Noise raises that, up to %d.", s.MaxPerturbations())
		s.sayIf(s.Restarts > 0, "Where losses no longer fall, up to %s begin again with twice as many.",
			terminal.Count(s.Restarts, "restart"))
	case s.Estimator == plan.Differences:
		whose := map[plan.Sharing]string{plan.SharedDirections: "that all devices share",
			plan.PerClient: "of its own", plan.GroupDirections: "that its group shares"}[s.Sharing]
		s.say("In a round a device makes %s, each along %s %s (%s), by %v differences.",
			terminal.Count(s.Steps, "step"), terminal.Count(s.Perturbations, "direction"), whose,
			s.Distribution, s.Difference)
		if s.MuAuto > 0 && s.Mu == 0 {
			s.say("Devices find out how far they probe; status then says how much of a difference is " +
				"error, and what that costs.")
		} else {
			s.say("It probes %g away.", s.Mu)
		}
	}
	s.say("That costs %s, over %s.", terminal.Count(s.cost.Queries, "loss evaluation"), data)
	once := cost.Surveys(s.Plan)
	s.sayIf(once > 0, "Once in a run it evaluates %d more, to find what the plan leaves to it.", once)
	s.sayIf(s.Distribution == plan.LowRank, "Signs: %s.", signsText(s.Plan))
	s.sayIf(s.Pool > 0, "The directions are drawn from %d.", s.Pool)
}

func (s *speech) surrogate() {
	if s.Estimator != plan.Surrogate {
		return
	}
	s.say("A device fits a model of its loss to its last %s, and makes %s by that model's "+
		"gradient.", terminal.Count(s.Window, "loss"), terminal.Count(s.Steps, "step"))
	s.say("It evaluates %s around each step's point and %s around the round's first, "+
		"where it is least certain, and sends %s of the model.", terminal.Count(s.Active, "time"),
		terminal.Count(s.Around, "time"), terminal.Count(s.Features, "weight"))
}

func (s *speech) groups() {
	switch s.Groups {
	case grouping.None:
		return
	case grouping.Auto:
		s.say("At first devices find out whether they should share directions: all do, or none.")
		return
	default:
		how := "drawn at random"
		if s.Groups == grouping.Sketch {
			how = "unlike each other, by a sketch of their gradients"
		}
		s.say("Groups have %s, %s.", terminal.Count(s.GroupSize, "device"), how)
	}
	s.say("They are chosen anew after %s.", terminal.Count(s.Regroup, "round"))
	s.sayIf(s.Classes > 0, "Devices send the scalars of %s apart.",
		terminal.Count(s.Classes, "class"))
}

func (s *speech) local() {
	switch {
	case s.ServerRule == plan.ServerCMA && s.StepSize == 0:
		s.say("Devices find how far candidates are at first.")
	case s.ServerRule == plan.ServerCMA:
		s.say("Candidates are %g away at first, as a standard deviation.", s.StepSize)
	case s.StepAuto > 0 && s.StepSize == 0:
		s.say("The first rounds find the step; later it falls with the root of the rounds.")
	case s.StepDecay != plan.Constant:
		s.say("The step is %g, and falls by %s.", s.StepSize, s.StepDecay)
	default:
		s.say("The step is %g.", s.StepSize)
	}
	s.sayIf(s.Rule != plan.SGD, "A device moves by %s.", s.Rule)
	s.sayIf(s.WeightDecay > 0, "Weights decay by %g.", s.WeightDecay)
	s.sayIf(s.Prox > 0, "Each step is pulled back to the round's first point, by %g.", s.Prox)
	s.sayIf(s.Control != plan.NoControl, "Corrections (%s) keep devices with other data together.",
		s.Control)
}

func (s *speech) server() {
	switch s.ServerRule {
	case plan.ServerMean:
		s.say("The model takes the mean move as it is.")
	case plan.ServerNormalized:
		s.say("The model moves by the mean estimate over its size: a step has the same length whatever " +
			"the scale of the loss.")
	case plan.ServerCMA:
		s.say("The model moves towards the better half of the candidates, and learns how far and in " +
			"which shape to draw the next.")
	default:
		s.say("The model takes the mean move by %s, with a step of %g.", s.ServerRule, s.ServerStep)
	}
	s.sayIf(s.ServerBeta1 > 0, "It remembers earlier moves by %g.", s.ServerBeta1)
	s.say("Each device holds %s of the model's size.", terminal.Count(s.cost.Vectors, "vector"))
}

func (s *speech) aggregate() {
	switch {
	case s.SendsVectors():
		s.say("A device sends vectors of %s in all, and the record names their mean.",
			terminal.Count(s.cost.Scalars, "element"))
	case s.Transport.Relays():
		s.say("A device sends %s (%s precision), and the record has those of each device or group.",
			terminal.Count(s.cost.Scalars, "scalar"), s.Precision)
	default:
		s.say("A device sends %s (%s precision), and the record has their %s.",
			terminal.Count(s.cost.Scalars, "scalar"), s.Precision, s.Aggregator)
	}
	s.sayIf(s.Weights != plan.Equal, "Devices count by their samples.")
	s.say("A round is %s up and %s down at the device's socket, and %s of the log; a model is %s.",
		bytes(s.cost.Up.Socket), bytes(s.cost.Down.Socket), bytes(s.cost.Record), cli.Size(4*s.Dim))
}

func bytes(n int) string { return cli.Size(uint64(n)) }

func (s *speech) robust() {
	of := "contribution longer than %g medians"
	if s.Summed() {
		of = "mean longer than %g medians of earlier means"
	}
	s.sayIf(s.Bound > 0, "A "+of+" is cut to that.", s.Bound)
	s.sayIf(s.Bound > 0 && len(s.Roots) == 0 && !s.Summed(), "In a round of 3 to 5 devices one "+
		"counts as 1 median at most, of 6 to 12 as 1.5, of more as an eighth of their number. "+
		"Beyond %g medians it does not count. Set bound=0 if a device has what no other has, and "+
		"you trust all.",
		max(s.Bound, plan.UsualBound))
	s.sayIf(s.ClaimBound > 0 && s.Weights != plan.Equal, "A device counts for %g medians of samples "+
		"at most.", s.ClaimBound)
	s.sayIf(s.Liars > 0, "A contribution counts as the mean of itself and those nearest to it, all "+
		"but %d.", s.Liars)
	s.sayIf(s.Trust > 0, "A device that does not agree with the others over %s no longer counts.",
		terminal.Count(s.Trust, "round"))
	s.sayIf(len(s.Roots) > 0, "They must agree with %s, who are asked in each round.",
		strings.Join(s.Roots, ", "))
}

func (s *speech) privacy() {
	device, coordinator := s.Noisy()
	s.sayIf(device, "Each device cuts its scalars to a norm of %g and adds noise.", s.DPClip)
	s.sayIf(coordinator, "The coordinator cuts scalars to a norm of %g and adds noise.", s.DPClip)
	s.sayIf(s.Summed(), "The coordinator learns the sum of the scalars, and no device's own.")
}

func (s *speech) rounds() {
	s.say("Round 1 waits for %s.", terminal.Count(s.Members, "device"))
	s.say("%s asked in a round; %s enough.", are(s.Sampled(plan.MaxMembers), "device"),
		are(s.Quorum, "answer"))
	closes := "with " + terminal.Count(s.Target, "answer")
	if s.Close == plan.CloseAtDeadline {
		closes = "when all have answered"
	}
	s.say("It closes %s, or after %g s at the latest; after %s the run pauses.", closes,
		float64(s.Deadline)/1000, terminal.Count(s.MaxAttempts, "attempt"))
	s.sayIf(s.Roster == plan.OpenRoster, "Anybody may take part.")
	s.say("The coordinator holds %s for it.", cli.Size(s.cost.Coordinator))
}

// are writes a number of things as the beginning of a sentence: 1 device is, 5 devices are.
func are(n uint32, thing string) string {
	if n == 1 {
		return terminal.Count(n, thing) + " is"
	}
	return terminal.Count(n, thing) + " are"
}

func (s *speech) late() {
	s.sayIf(s.Late > 0, "Work that comes up to %s late counts too, for less.",
		terminal.Count(s.Late, "round"))
	s.sayIf(s.Async > 0, "It closes rounds as other work does.")
}

func (s *speech) evaluation() {
	s.sayIf(s.EvalEvery > 0, "After every %s, on %s: %s.", terminal.Count(s.EvalEvery, "record"),
		terminal.Count(s.EvalCount, "device"), strings.Join(s.Metrics, ", "))
	s.sayIf(s.Best != "", "The best model is %s.", bestText(s.Plan))
}

// bestText says which model of a plan's run is the best, such as "that of the highest accuracy".
func bestText(p *plan.Plan) string {
	which, what := "highest", p.Best
	if p.LowestIsBest() {
		which = "lowest"
	}
	if p.BestOfTraining() {
		what = fmt.Sprintf("mean training loss of %d rounds", runlog.LossRounds)
	}
	return fmt.Sprintf("that of the %s %s", which, what)
}

func (s *speech) stop() {
	end := "The run has no end of its own."
	if s.Rounds > 0 {
		end = "The run ends after " + terminal.Count(s.Rounds, "round") + "."
	}
	s.say("%s", end)
	s.sayIf(s.StopMetric != "", "It ends where %s is %s %g.", s.StopMetric, s.StopWhen, s.StopValue)
	s.sayIf(s.Patience > 0, "It ends when %s have brought no better model.",
		terminal.Count(s.Patience, "evaluation"))
	s.sayIf(s.Diverge > 0, "It pauses where the median loss has risen by %g times the first one.",
		s.Diverge)
}
