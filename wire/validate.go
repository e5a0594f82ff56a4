package wire

import (
	"fmt"
	"slices"
)

// Validate returns nil for a plan that can run, or a [*PlanError] that names
// the first field that cannot stand, its value, and the remedy.
func (p *Plan) Validate() error {
	for i := range planFields {
		if err := planFields[i].check(p); err != nil {
			return err
		}
	}
	for _, check := range []func() error{
		p.checkNames, p.checkModel, p.checkSegments, p.checkEstimator, p.checkSchedules, p.checkRounds, p.checkStop,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// check tests a number against its limits and a choice against its names.
func (f *Field) check(p *Plan) error {
	var v float64
	switch at := f.at(p).(type) {
	case *uint8:
		if int(*at) >= len(f.names) || f.names[*at] == "" {
			return &PlanError{f.Name, *at, "choose one of " + enumList(f.names)}
		}
		return nil
	case *uint32:
		v = float64(*at)
	case *uint64:
		v = float64(*at)
	case *float32:
		v = float64(*at)
	default:
		return nil
	}
	if v-v != 0 || f.max > 0 && !(v >= f.min && v <= f.max) {
		return &PlanError{f.Name, v, fmt.Sprintf("%s: choose one from %g to %g", f.Doc, f.min, f.max)}
	}
	return nil
}

func (p *Plan) checkNames() error {
	if err := CheckName(p.Run); err != nil {
		return &PlanError{"run", p.Run, "name the run: " + err.Error()}
	}
	if p.Preset != "" && CheckName(p.Preset) != nil {
		return &PlanError{"preset", p.Preset, "leave it as the preset set it"}
	}
	if len(p.Metrics) > MaxMetrics {
		return &PlanError{"metrics", len(p.Metrics), fmt.Sprintf("keep at most %d", MaxMetrics)}
	}
	for i, m := range p.Metrics {
		if err := CheckName(m); err != nil {
			return &PlanError{"metrics", m, err.Error()}
		}
		if slices.Contains(p.Metrics[:i], m) {
			return &PlanError{"metrics", m, "name each metric once"}
		}
	}
	return nil
}

func (p *Plan) checkModel() error {
	switch {
	case len(p.RunKey) != 32:
		return &PlanError{"run_key", p.RunKey, "give 32 bytes, 64 hexadecimal digits; a preset draws them"}
	case p.Initial == Given && len(p.InitialDigest) != 32:
		return &PlanError{"initial_digest", p.InitialDigest, "give the 32-byte digest of the parameters; replica.InitialDigest computes it"}
	case p.Initial != Given && len(p.InitialDigest) > 0:
		return &PlanError{"initial_digest", p.InitialDigest, "leave it empty, or set initial to given"}
	}
	return nil
}

func (p *Plan) checkSegments() error {
	if len(p.Segments) > MaxSegments {
		return &PlanError{"segments", len(p.Segments), fmt.Sprintf("keep at most %d", MaxSegments)}
	}
	sum, seen := uint64(0), map[string]bool{}
	for _, s := range p.Segments {
		field := "segments." + s.Name
		switch {
		case CheckName(s.Name) != nil || seen[s.Name]:
			return &PlanError{"segments", s.Name, "give each segment a name of its own: letters, digits, - and _"}
		case s.Len == 0 || s.Len > MaxDim:
			return &PlanError{field + ".len", s.Len, "give the number of its parameters"}
		case int(s.Fill) >= len(fillNames):
			return &PlanError{field + ".fill", s.Fill, "choose one of " + enumList(fillNames)}
		case s.Fill != Zero && !(s.Scale > 0 && s.Scale <= 0x1p60):
			return &PlanError{field + ".scale", s.Scale, "give the scale of the fill, above 0"}
		case s.Fill == Zero && s.Scale != 0:
			return &PlanError{field + ".scale", s.Scale, "a zero fill has no scale: remove it or set fill"}
		case !(s.MuScale >= 0 && s.MuScale <= 0x1p60):
			return &PlanError{field + ".mu_scale", s.MuScale, "give a positive factor on mu, or none"}
		case !(s.StepScale >= 0 && s.StepScale <= 0x1p60):
			return &PlanError{field + ".step_scale", s.StepScale, "give a positive factor on the step size, or none"}
		case p.Initial == Given && s.Fill != Zero:
			return &PlanError{field + ".fill", s.Fill, "parameters are given: remove the fill or set initial to seeded"}
		}
		seen[s.Name] = true
		sum += s.Len
	}
	if len(p.Segments) > 0 && sum != p.Dim {
		return &PlanError{"segments", sum, fmt.Sprintf("make their lengths add up to dim, %d", p.Dim)}
	}
	return nil
}

func (p *Plan) checkEstimator() error {
	most := uint64(p.Steps) * uint64(p.MaxPerturbations())
	switch {
	case most > MaxScalars:
		return &PlanError{"perturbations", p.MaxPerturbations(),
			fmt.Sprintf("with %d steps a reply would have %d scalars: keep steps*perturbations at most %d", p.Steps, most, MaxScalars)}
	case p.Rule == SGD && p.Beta != 0:
		return &PlanError{"beta", p.Beta, "sgd has no momentum: set it to 0, or rule to momentum or torch-momentum"}
	case p.Beta >= 1:
		return &PlanError{"beta", p.Beta, "choose a momentum factor below 1"}
	}
	return nil
}

func (p *Plan) checkSchedules() error {
	if len(p.StepSchedule) > MaxPoints || len(p.PerturbationSchedule) > MaxPoints {
		return &PlanError{"step_schedule", len(p.StepSchedule), fmt.Sprintf("keep schedules at most %d points", MaxPoints)}
	}
	last := uint64(0)
	for _, s := range p.StepSchedule {
		if s.Round <= last || !(s.Factor > 0 && s.Factor <= 0x1p30) {
			return &PlanError{"step_schedule", s, "let rounds ascend from 1 and give positive factors"}
		}
		last = s.Round
	}
	last = 0
	for _, s := range p.PerturbationSchedule {
		if s.Round <= last || s.Perturbations == 0 || s.Perturbations > 0xffff {
			return &PlanError{"perturbation_schedule", s, "let rounds ascend from 1 and P be 1..65535"}
		}
		last = s.Round
	}
	return nil
}

func (p *Plan) checkRounds() error {
	switch {
	case p.Quorum > p.Target:
		return &PlanError{"quorum", p.Quorum, fmt.Sprintf("a round closes at its target of %d: choose at most that", p.Target)}
	case p.Members < p.Quorum:
		return &PlanError{"members", p.Members, fmt.Sprintf("wait for at least the quorum of %d devices", p.Quorum)}
	}
	return nil
}

func (p *Plan) checkStop() error {
	switch {
	case p.EvalEvery > 0 && p.EvalCount == 0:
		return &PlanError{"eval_count", p.EvalCount, "say how many devices evaluate, or set eval_every to 0"}
	case p.EvalEvery > 0 && len(p.Metrics) == 0:
		return &PlanError{"metrics", p.Metrics, "name what an evaluation returns, or set eval_every to 0"}
	case p.StopMetric != "" && !slices.Contains(p.Metrics, p.StopMetric):
		return &PlanError{"stop_metric", p.StopMetric, fmt.Sprintf("choose one of the metrics %v", p.Metrics)}
	case p.StopMetric != "" && p.EvalEvery == 0:
		return &PlanError{"eval_every", p.EvalEvery, "a stop metric needs evaluations: set it to a number of records"}
	}
	return nil
}
