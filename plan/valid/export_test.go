package valid

import "github.com/zofl/zofl/plan"

// Refused returns the index in [Words] of the first rule that refuses p, or -1.
func Refused(p *plan.Plan) int {
	at := -1
	for _, r := range rules() {
		if r.own == nil {
			at++
		}
		if r.refuses(p) {
			if r.own != nil {
				return -1
			}
			return at
		}
	}
	return -1
}
