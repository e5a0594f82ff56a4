package valid

import (
	"fmt"
	"math"

	"github.com/zofl/zofl/plan"
)

var modelRules = []rule{
	{when: "initial=given", needs: "initial_digest=32", at: "initial_digest",
		what: "give the 32-byte digest of the parameters; replica.InitialDigest computes it"},
	{when: "initial_digest", needs: "initial=given",
		what: "leave it empty, or set initial=given"},
	{when: "segments", own: checkSegments},
	{when: "boxes", own: checkBoxes},
	{when: "boxes server_rule!=cma", needs: "transport=dense",
		what: "it needs transport=dense or server_rule=cma"},
	{when: "boxes transport=dense", at: "max_scalar",
		but:  func(p *plan.Plan) bool { return p.MaxScalar >= farthest(p) },
		what: "it is below the largest end of a box"},
	{when: "stats columns", needs: "stats=columns", at: "columns",
		what: "stats has another number of columns"},
	{when: "stats", own: checkStats},
	{when: "columns stats=0 dp_clip", what: "dp_clip needs stats that are given"},
}

// minFactor and maxFactor bound the factors of segments, so that a factor times mu or the step
// size, and times a decay, is never 0 or infinite.
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
		case s.Rows != 0 && (s.Rows < 2 || s.Columns() < 2 || s.Len%s.Rows != 0):
			return fault(field+".rows", s.Rows, fmt.Sprintf(
				"a matrix has 2 or more rows and columns, and rows times columns is len, which is %d: "+
					"correct rows, or remove it from a segment that is no matrix", s.Len))
		case p.Initial == plan.Given && s.Fill != plan.ZeroFill:
			return fault(field+".fill", s.Fill,
				"the parameters are given: remove the fill, or set initial=seeded")
		}
		seen[s.Name] = true
		sum += s.Len
	}
	if sum != p.Dim {
		return fault("segments", sum,
			fmt.Sprintf("their lengths must add up to dim, which is %d", p.Dim))
	}
	return nil
}

// checkStats returns an error unless there is data that may have these statistics.
func checkStats(p *plan.Plan) error {
	if n := len(p.Stats); n > plan.MaxColumns {
		return fault("stats", n, fmt.Sprintf("give at most %d columns", plan.MaxColumns))
	}
	for i, c := range p.Stats {
		remedy := ""
		switch {
		case !(c.Std >= 0 && c.Std <= math.MaxFloat64):
			remedy = "std is a standard deviation, 0 or more"
		case !(math.Abs(c.Mean) <= math.MaxFloat64):
			remedy = "mean is finite"
		case max(c.Count, c.Missing) > plan.MaxRows:
			remedy = fmt.Sprintf("count and missing are at most %d", uint64(plan.MaxRows))
		case (c.Min == nil) != (c.Max == nil), c.Min != nil && !(*c.Min <= *c.Max):
			remedy = "min and max are both there, and max is not below min, or neither is"
		}
		if remedy != "" {
			return fault("stats", fmt.Sprintf("%+v", c), fmt.Sprintf("column %d: %s", i, remedy))
		}
	}
	return nil
}

// farthest returns the largest absolute value that boxes allow a parameter.
func farthest(p *plan.Plan) float32 {
	most := float32(0)
	for _, b := range p.Boxes {
		most = max(most, -b.Low, b.High)
	}
	return most
}

// minSide and maxSide bound the sides of boxes, so that mu or the step size times a side is never 0
// or infinite.
const (
	minSide float32 = 1e-12
	maxSide float32 = 1e12
)

// checkBoxes returns an error unless there is one box for each segment, or one box for all, and
// each box has high above low.
func checkBoxes(p *plan.Plan) error {
	if n := len(p.Boxes); n > 1 && n != len(p.Segments) {
		return fault("boxes", n, fmt.Sprintf(
			"give one for each of the %d segments, or one for all", len(p.Segments)))
	}
	for _, b := range p.Boxes {
		if side := b.High - b.Low; !(side >= minSide && side <= maxSide) {
			return fault("boxes", b, "high must exceed low by 1e-12..1e12; "+
				"measure the parameter in another unit")
		}
	}
	return nil
}
