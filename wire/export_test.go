package wire

import "slices"

// Refusals returns why each row of the table of combinations refuses a plan.
func Refusals() (why []string) {
	for _, r := range refusals {
		why = append(why, r.why)
	}
	return why
}

// Refused returns the first row that refuses p, -1 if none does.
func Refused(p *Plan) int {
	return slices.IndexFunc(refusals, func(r refusal) bool { return r.when(p) })
}
