package plancheck

import "github.com/zofl/zofl/wire"

// Warnings returns what a plan that can run may lack, a paragraph each: today that all its
// parameters start at zero.
func Warnings(p *wire.Plan) []string {
	if !startsAtZero(p) {
		return nil
	}
	return []string{"All parameters start at zero. Linear models, such as softmax regression, are " +
		"fine with that. A network with hidden layers is not: its units start alike and " +
		"hardly learn. Give it layers with random weights, such as " +
		"--segments relu:784x64,64x10, or first parameters, by initial=given."}
}

func startsAtZero(p *wire.Plan) bool {
	for _, s := range p.Segments {
		if s.Fill != wire.ZeroFill {
			return false
		}
	}
	return p.Initial == wire.Seeded
}
