package plan

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/plan"
)

// signsOf returns the number of random signs that a direction of distribution=lowrank takes, or 0
// for other distributions.
func signsOf(p *plan.Plan) (signs uint64) {
	if p.Distribution != plan.LowRank {
		return 0
	}
	for _, s := range p.Segments {
		signs += s.Rows + s.Columns()
	}
	return signs
}

// signsText says how many signs a direction of distribution=lowrank takes.
func signsText(p *plan.Plan) string {
	matrices := 0
	for _, s := range p.Segments {
		if s.Rows > 0 {
			matrices++
		}
	}
	are := "are matrices"
	if matrices == 1 {
		are = "is a matrix"
	}
	return fmt.Sprintf("%d a direction, for %s: %d of %s %s", signsOf(p),
		terminal.Count(p.Dim, "parameter"), matrices, terminal.Count(len(p.Segments), "segment"), are)
}
