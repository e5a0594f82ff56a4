package wire

import (
	"fmt"
	"math"
	"slices"
)

// Validate returns nil for a plan that can run. Otherwise it returns a [*PlanError]
// about the first field at fault, which package plancheck can explain.
func (p *Plan) Validate() error {
	for i := range planFields {
		if err := planFields[i].check(p); err != nil {
			return err
		}
	}
	for _, check := range []func() error{
		p.checkNames, p.checkModel, p.checkSegments, p.checkBoxes, p.checkEstimator,
		p.combine, p.checkSchedules, p.checkRounds, p.checkStop,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// check refuses a number outside its range, and a choice without a name.
func (f *Field) check(p *Plan) error {
	var value any
	good := true
	switch v := f.at(p).(type) {
	case *uint8:
		value, good = *v, int(*v) < len(f.names) && f.names[*v] != ""
	case *uint32:
		value, good = *v, f.has(float64(*v))
	case *uint64:
		value, good = *v, f.has(float64(*v))
	case *float32:
		value, good = *v, f.hasFloat(*v)
	}
	if good {
		return nil
	}
	remedy := "choose a finite number"
	if f.Range() != "" {
		remedy = "choose " + f.Range()
	}
	return &PlanError{f.Name, value, f.Doc + ": " + remedy}
}

// has compares in float64, which represents the limits of whole numbers exactly.
func (f *Field) has(v float64) bool { return f.max == 0 || v >= f.min && v <= f.max }

// hasFloat compares in float32, so that a limit, rounded to float32, is allowed.
func (f *Field) hasFloat(v float32) bool {
	return v-v == 0 && (f.max == 0 || v >= float32(f.min) && v <= float32(f.max))
}

func (p *Plan) checkNames() error {
	if err := CheckName(p.Run); err != nil {
		return &PlanError{"run", p.Run, "name the run: " + err.Error()}
	}
	if p.Preset != "" && CheckName(p.Preset) != nil {
		return &PlanError{"preset", p.Preset, "leave it as the preset set it, or empty"}
	}
	if len(p.Metrics) > MaxMetrics {
		return &PlanError{"metrics", len(p.Metrics), fmt.Sprintf("keep at most %d", MaxMetrics)}
	}
	for i, m := range p.Metrics {
		if err := CheckName(m); err != nil {
			return &PlanError{"metrics", m, "name the metric: " + err.Error()}
		}
		if slices.Contains(p.Metrics[:i], m) {
			return &PlanError{"metrics", m, "name each metric once"}
		}
	}
	return nil
}

func (p *Plan) checkModel() error {
	switch {
	case p.Private() && len(p.RunKey) > 0:
		return &PlanError{"key_check", p.KeyCheck,
			"a run key is either public or a secret: leave run_key or key_check empty"}
	case p.Private() && len(p.KeyCheck) != 32:
		return &PlanError{"key_check", p.KeyCheck,
			"give the 32 bytes that wire.KeyCheck computes from the app's secret"}
	case !p.Private() && len(p.RunKey) != 32:
		return &PlanError{"run_key", "",
			"give 32 bytes as 64 hexadecimal digits; a preset draws them"}
	case p.Initial == Given && len(p.InitialDigest) != 32:
		return &PlanError{"initial_digest", p.InitialDigest, "give the 32-byte digest of " +
			"the parameters; replica.InitialDigest computes it"}
	case p.Initial != Given && len(p.InitialDigest) > 0:
		return &PlanError{"initial_digest", p.InitialDigest,
			"leave it empty, or set initial=given"}
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

func (p *Plan) checkSegments() error {
	if len(p.Segments) > MaxSegments {
		return &PlanError{"segments", len(p.Segments), fmt.Sprintf("keep at most %d", MaxSegments)}
	}
	sum, seen := uint64(0), map[string]bool{}
	for _, s := range p.Segments {
		field := "segments." + s.Name
		switch {
		case CheckName(s.Name) != nil || seen[s.Name]:
			return &PlanError{"segments", s.Name,
				"give each segment a name of its own, of letters, digits, - and _"}
		case s.Len == 0 || s.Len > MaxDim:
			return &PlanError{field + ".len", s.Len,
				"give the number of its parameters, 1 or more"}
		case int(s.Fill) >= len(fillNames):
			return &PlanError{field + ".fill", s.Fill, "choose one of " + enumList(fillNames)}
		case s.Fill != Zero && !(s.Scale > 0 && s.Scale <= maxScale):
			return &PlanError{field + ".scale", s.Scale,
				fmt.Sprintf("give the scale of the fill, above 0 and at most %g", maxScale)}
		case s.Fill == Zero && s.Scale != 0:
			return &PlanError{field + ".scale", s.Scale,
				"a zero fill has no scale: remove the scale, or set fill"}
		case s.MuScale != 0 && !isFactor(s.MuScale):
			return &PlanError{field + ".mu_scale", s.MuScale,
				"give a factor on mu, " + factors + ", or none"}
		case s.StepScale != 0 && !isFactor(s.StepScale):
			return &PlanError{field + ".step_scale", s.StepScale,
				"give a factor on the step size, " + factors + ", or none"}
		case p.Initial == Given && s.Fill != Zero:
			return &PlanError{field + ".fill", s.Fill,
				"the parameters are given: remove the fill, or set initial=seeded"}
		}
		seen[s.Name] = true
		sum += s.Len
	}
	if len(p.Segments) > 0 && sum != p.Dim {
		return &PlanError{"segments", sum,
			fmt.Sprintf("their lengths must add up to dim, which is %d", p.Dim)}
	}
	return nil
}

func (p *Plan) checkEstimator() error {
	if p.SendsVectors() {
		return nil // devices send no scalars
	}
	most := uint64(p.Steps) * uint64(p.MaxPerturbations())
	limit := uint64(MaxScalars)
	if p.Control != NoControl {
		limit /= 2 // a reply has a control variate too
	}
	if most > limit {
		return &PlanError{"perturbations", p.MaxPerturbations(),
			fmt.Sprintf("with %d steps a reply would have %d scalars: "+
				"keep steps*perturbations at most %d", p.Steps, most, limit)}
	}
	return p.checkControl()
}

func (p *Plan) checkSchedules() error {
	if n := len(p.StepSchedule); n > MaxPoints {
		return &PlanError{"step_schedule", n, fmt.Sprintf("keep at most %d points", MaxPoints)}
	}
	if n := len(p.PerturbationSchedule); n > MaxPoints {
		return &PlanError{"perturbation_schedule", n,
			fmt.Sprintf("keep at most %d points", MaxPoints)}
	}
	last := uint64(0)
	for _, s := range p.StepSchedule {
		if s.Round <= last || s.Round > maxRound || !isFactor(s.Factor) {
			return &PlanError{"step_schedule", s,
				"rounds must ascend from 1, and factors must be " + factors}
		}
		last = s.Round
	}
	last = 0
	for _, s := range p.PerturbationSchedule {
		if s.Round <= last || s.Round > maxRound ||
			s.Perturbations == 0 || s.Perturbations > math.MaxUint16 {
			return &PlanError{"perturbation_schedule", s,
				"rounds must ascend from 1, and perturbations must be 1..65535"}
		}
		last = s.Round
	}
	return nil
}

func (p *Plan) checkRounds() error {
	switch {
	case p.Quorum > p.Target:
		return &PlanError{"quorum", p.Quorum,
			fmt.Sprintf("a round closes at its target of %d: choose at most that", p.Target)}
	case p.Members < p.Quorum:
		return &PlanError{"members", p.Members,
			fmt.Sprintf("round 1 must wait for at least the quorum of %d devices", p.Quorum)}
	}
	return nil
}

func (p *Plan) checkStop() error {
	switch {
	case p.EvalEvery > 0 && p.EvalCount == 0:
		return &PlanError{"eval_count", p.EvalCount,
			"say how many devices evaluate, or set eval_every to 0"}
	case p.EvalEvery > 0 && len(p.Metrics) == 0:
		return &PlanError{"metrics", p.Metrics,
			"name what an evaluation returns, or set eval_every to 0"}
	case p.StopMetric != "" && !slices.Contains(p.Metrics, p.StopMetric):
		return &PlanError{"stop_metric", p.StopMetric,
			fmt.Sprintf("choose one of the metrics %v", p.Metrics)}
	case p.StopMetric != "" && p.EvalEvery == 0:
		return &PlanError{"eval_every", p.EvalEvery,
			"stop_metric needs evaluations: say after how many records they come"}
	}
	return nil
}
