package plancheck

import "github.com/zofl/zofl/wire"

// Warnings returns what a plan that can run may lack or tell, a paragraph each: that all its
// parameters start at zero, and what classes tell.
func Warnings(p *wire.Plan) (list []string) {
	if startsAtZero(p) {
		list = append(list, zeroWarning)
	}
	if p.Classes > 0 {
		list = append(list, classesWarning)
	}
	return list
}

const (
	zeroWarning = "All parameters start at zero. Linear models, such as softmax regression, are " +
		"fine with that. A network with hidden layers is not: its units start alike and " +
		"hardly learn. Give it layers with random weights, such as " +
		"--segments relu:784x64,64x10, or first parameters, by initial=given."
	classesWarning = "With classes, the coordinator learns how many samples of each class every " +
		"device has, in all and in each minibatch, and the slopes of the loss of each class. Set " +
		"classes=0 where labels are private. Devices whose objective has no losses by class " +
		"decline."
)

func startsAtZero(p *wire.Plan) bool {
	for _, s := range p.Segments {
		if s.Fill != wire.ZeroFill {
			return false
		}
	}
	return p.Initial == wire.Seeded
}
