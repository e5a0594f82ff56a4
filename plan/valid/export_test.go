package valid

import (
	"slices"

	"github.com/zofl/zofl/plan"
)

// Refusals returns the field and the short text of each refused combination, in the order in
// which they are tried.
func Refusals() (list [][2]string) {
	for _, r := range refusals {
		list = append(list, [2]string{r.field, r.what})
	}
	return list
}

// Refused returns the index of the first refusal of p, or -1.
func Refused(p *plan.Plan) int {
	return slices.IndexFunc(refusals, func(r refusal) bool { return r.refuses(p) })
}
