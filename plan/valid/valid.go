// Package valid decides whether a plan can run.
//
// Every device, replica and coordinator asks it about a plan that it receives. Package
// plancheck, which a device does not link, explains its refusals to the author of a plan.
package valid

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zofl/zofl/plan"
)

// Plan returns nil for a plan that can run. Otherwise it returns a [*plan.Error]
// about the first field at fault, which package plancheck can explain.
func Plan(p *plan.Plan) (first error) {
	judge(p, func(_ rule, err error) bool {
		first = err
		return false
	})
	return first
}

// A Fault is one rule's refusal of a plan.
type Fault struct {
	rule rule
	*plan.Error
}

// A rule returns why it refuses a plan, or nil.
type rule interface{ check(*plan.Plan) error }

// A ruleFunc is a rule whose words depend on the plan.
type ruleFunc func(*plan.Plan) error

func (r ruleFunc) check(p *plan.Plan) error { return r(p) }

// Refuses reports whether the rule of f refuses another plan too.
func (f *Fault) Refuses(p *plan.Plan) bool {
	if r, ok := f.rule.(*refusal); ok {
		return r.refuses(p)
	}
	return f.rule.check(p) != nil
}

// Faults returns a fault for each rule that refuses p, in the order in which [Plan] tries them.
// Where a field is beyond its own limits, only such faults are listed.
func Faults(p *plan.Plan) (list []Fault) {
	judge(p, func(r rule, err error) bool {
		list = append(list, Fault{r, err.(*plan.Error)})
		return true
	})
	return list
}

// judge yields each rule that refuses p, with the reason, until it is told to stop. The rules of
// single fields come first, by number: others may count on a field within its limits.
func judge(p *plan.Plan, yield func(r rule, err error) bool) {
	good := true
	for i := range fields {
		if err := fields[i].Check(p); err != nil {
			if good = false; !yield(ruleFunc(fields[i].Check), err) {
				return
			}
		}
	}
	if !good {
		return
	}
	for _, r := range rules {
		if err := r.check(p); err != nil && !yield(r, err) {
			return
		}
	}
}

var fields = plan.Fields()

// rules are those of several fields, in the order in which they are tried.
var rules = slices.Concat([]rule{
	ruleFunc(checkNames), ruleFunc(checkModel), ruleFunc(checkSegments), ruleFunc(checkBoxes),
	ruleFunc(checkEstimator),
}, refusalRules(), []rule{
	ruleFunc(checkLate), ruleFunc(checkRelay), ruleFunc(checkSchedules), ruleFunc(checkQuorum),
	ruleFunc(checkMembers), ruleFunc(checkEvaluators), ruleFunc(checkMetrics),
	ruleFunc(checkStopMetric), ruleFunc(checkEvaluations),
})

func fault(field string, value any, remedy string) error {
	return &plan.Error{Field: field, Value: value, Remedy: remedy}
}

// nameRemedy is the error of [plan.CheckName] without the name, which a PlanError has already.
func nameRemedy(name string, err error) string {
	if len(name) == 0 || len(name) > plan.MaxName {
		return fmt.Sprintf("name the run with 1..%d characters", plan.MaxName)
	}
	return strings.TrimPrefix(err.Error(), strconv.Quote(name)+": ")
}

func checkNames(p *plan.Plan) error {
	if err := plan.CheckName(p.Run); err != nil {
		return fault("run", p.Run, nameRemedy(p.Run, err))
	}
	if p.Preset != "" && plan.CheckName(p.Preset) != nil {
		return fault("preset", p.Preset, "leave it as the preset set it, or empty")
	}
	if err := checkList("metrics", "metric", p.Metrics); err != nil {
		return err
	}
	return checkList("roots", "device", p.Roots)
}

// checkList checks a field that lists names of one thing each.
func checkList(field, thing string, names []string) error {
	if len(names) > plan.MaxMetrics {
		return fault(field, len(names), fmt.Sprintf("keep at most %d", plan.MaxMetrics))
	}
	for i, name := range names {
		if err := plan.CheckName(name); err != nil {
			return fault(field, name, "name the "+thing+": "+err.Error())
		}
		if slices.Contains(names[:i], name) {
			return fault(field, name, "name each "+thing+" once")
		}
	}
	return nil
}

func checkModel(p *plan.Plan) error {
	switch {
	case p.Private() && len(p.RunKey) > 0:
		return fault("key_check", p.KeyCheck,
			"a run key is either public or a secret: set run_key= or key_check=")
	case p.Private() && len(p.KeyCheck) != 32:
		return fault("key_check", p.KeyCheck,
			"give the 32 bytes that plan.KeyCheck computes from the app's secret")
	case !p.Private() && p.KeyScheme != 0:
		return fault("key_scheme", p.KeyScheme, "leave it out: the run key is no secret")
	case !p.Private() && len(p.RunKey) != 32:
		return fault("run_key", "",
			"give 32 bytes as 64 hexadecimal digits; a preset draws them")
	case p.Initial == plan.Given && len(p.InitialDigest) != 32:
		return fault("initial_digest", p.InitialDigest, "give the 32-byte digest of "+
			"the parameters; replica.InitialDigest computes it")
	case p.Initial != plan.Given && len(p.InitialDigest) > 0:
		return fault("initial_digest", p.InitialDigest,
			"leave it empty, or set initial=given")
	}
	return nil
}

// Factors are bounded so that their product with mu or the step size, and with a
// decay, is never 0 or infinite.
const (
	minFactor float32 = 1e-6
	maxFactor float32 = 1e6
	maxScale  float32 = 1e6
	factors           = "1e-6..1e6"
)

func isFactor(v float32) bool { return v >= minFactor && v <= maxFactor }

func checkSegments(p *plan.Plan) error {
	if len(p.Segments) > plan.MaxSegments {
		return fault("segments", len(p.Segments), fmt.Sprintf("keep at most %d", plan.MaxSegments))
	}
	sum, seen := uint64(0), map[string]bool{}
	for _, s := range p.Segments {
		field := "segments." + s.Name
		switch {
		case plan.CheckName(s.Name) != nil || seen[s.Name]:
			return fault("segments", s.Name,
				"give each segment a name of its own, of letters, digits, - and _")
		case s.Len == 0 || s.Len > plan.MaxDim:
			return fault(field+".len", s.Len,
				"give the number of its parameters, 1 or more")
		case s.Fill > plan.NormalFill:
			return fault(field+".fill", s.Fill, "choose one of zero, uniform, normal")
		case s.Fill != plan.ZeroFill && !(s.Scale > 0 && s.Scale <= maxScale):
			return fault(field+".scale", s.Scale,
				fmt.Sprintf("give the scale of the fill, above 0 and at most %g", maxScale))
		case s.Fill == plan.ZeroFill && s.Scale != 0:
			return fault(field+".scale", s.Scale,
				"a zero fill has no scale: remove the scale, or set fill")
		case s.MuScale != 0 && !isFactor(s.MuScale):
			return fault(field+".mu_scale", s.MuScale,
				"give a factor on mu, "+factors+", or none")
		case s.StepScale != 0 && !isFactor(s.StepScale):
			return fault(field+".step_scale", s.StepScale,
				"give a factor on the step size, "+factors+", or none")
		case p.Initial == plan.Given && s.Fill != plan.ZeroFill:
			return fault(field+".fill", s.Fill,
				"the parameters are given: remove the fill, or set initial=seeded")
		}
		seen[s.Name] = true
		sum += s.Len
	}
	if len(p.Segments) > 0 && sum != p.Dim {
		return fault("segments", sum,
			fmt.Sprintf("their lengths must add up to dim, which is %d", p.Dim))
	}
	return nil
}

func checkEstimator(p *plan.Plan) error {
	if p.SendsVectors() {
		return nil // devices send no scalars
	}
	most := uint64(p.Steps) * uint64(p.MaxPerturbations())
	limit := uint64(plan.MaxScalars)
	if p.Control != plan.NoControl {
		limit /= 2 // a reply has a control variate too
	}
	if most > limit {
		return fault("perturbations", p.MaxPerturbations(),
			fmt.Sprintf("with %d steps a reply would have %d scalars: "+
				"keep steps*perturbations at most %d", p.Steps, most, limit))
	}
	return checkControl(p)
}

func checkSchedules(p *plan.Plan) error {
	if n := len(p.PerturbationSchedule); n > plan.MaxPoints {
		return fault("perturbation_schedule", n,
			fmt.Sprintf("keep at most %d points", plan.MaxPoints))
	}
	last := uint64(0)
	for _, s := range p.PerturbationSchedule {
		if s.Round <= last || s.Round > plan.MaxRound ||
			s.Perturbations == 0 || s.Perturbations > math.MaxUint16 {
			return fault("perturbation_schedule", s,
				"rounds must ascend from 1, and perturbations must be 1..65535")
		}
		last = s.Round
	}
	return nil
}

func checkQuorum(p *plan.Plan) error {
	if p.Quorum <= p.Target {
		return nil
	}
	return fault("quorum", p.Quorum,
		fmt.Sprintf("a round closes at its target of %d: choose at most that", p.Target))
}

func checkMembers(p *plan.Plan) error {
	if p.Members >= p.Quorum {
		return nil
	}
	return fault("members", p.Members, fmt.Sprintf("round 1 waits for so many devices and needs the "+
		"quorum of %d", p.Quorum))
}

func checkEvaluators(p *plan.Plan) error {
	if p.EvalEvery == 0 || p.EvalCount > 0 {
		return nil
	}
	return fault("eval_count", p.EvalCount, "eval_every needs devices that evaluate")
}

func checkMetrics(p *plan.Plan) error {
	if p.EvalEvery == 0 || len(p.Metrics) > 0 {
		return nil
	}
	return fault("metrics", p.Metrics, "eval_every needs names for what an evaluation returns")
}

func checkStopMetric(p *plan.Plan) error {
	if p.StopMetric == "" || slices.Contains(p.Metrics, p.StopMetric) {
		return nil
	}
	return fault("stop_metric", p.StopMetric, fmt.Sprintf("it is none of metrics, which has %q",
		p.Metrics))
}

func checkEvaluations(p *plan.Plan) error {
	if p.StopMetric == "" || p.EvalEvery > 0 {
		return nil
	}
	return fault("eval_every", p.EvalEvery, "stop_metric needs evaluations")
}
