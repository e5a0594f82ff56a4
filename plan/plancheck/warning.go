package plancheck

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/wire/survey"
)

// Warnings returns what a plan that can run may lack or reveal, one paragraph each: layers that
// start at zero, its deadline is short, its rounds end before a step moves the model,
// its decay may outweigh the loss, its scalars have few bits, classes or sketches reveal something,
// or its noise hides next to nothing.
func Warnings(p *plan.Plan) (list []string) {
	if layersAtZero(p) {
		list = append(list, ZeroStart)
	}
	if p.Deadline > 0 && p.Deadline < shortestDeadline {
		list = append(list, fmt.Sprintf("deadline=%d is in milliseconds, and leaves devices hardly "+
			"any time for their losses. For %[1]d seconds set deadline=%[1]d000.", p.Deadline))
	}
	if first := survey.FirstMove(p); p.Rounds > 0 && p.Rounds < first {
		list = append(list, fmt.Sprintf("rounds=%d end before the model moves: with step=auto the "+
			"first %d rounds measure. Set more, such as rounds=%d.", p.Rounds, first-1,
			60*survey.FirstRounds))
	}
	if p.ServerRule == plan.ServerCMA && p.Covariance == plan.FullCovariance && p.Dim > slowDim {
		list = append(list, fmt.Sprintf("covariance=full takes %d products a record on every device, "+
			"and %[2]d numbers: covariance=limited takes far less.",
			2*p.Dim*p.Dim*uint64(p.Perturbations), p.Dim*p.Dim))
	}
	if text := FoundDecay(p); text != "" {
		list = append(list, text)
	}
	if text := fewBits(p); text != "" {
		list = append(list, text)
	}
	switch {
	case p.Classes > 0:
		list = append(list, classesWarning)
	case p.Groups == grouping.Sketch:
		list = append(list, sketchWarning)
	}
	return append(list, noiseWarnings(p)...)
}

// NoSecret returns the warning for a plan with secure=sum and without a secret, or "".
func NoSecret(p *plan.Plan) string {
	if !p.Summed() || p.Private() {
		return ""
	}
	return "secure=sum without a secret hides a device only from a coordinator that follows the " +
		"protocol: one that poses as all other devices reads what it sends. Make the plan with " +
		"`zofl plan --secret FILE`, and give each device the file."
}

// FoundDecay returns the warning for a plan with decay beside a step that devices still have to
// find, or "".
func FoundDecay(p *plan.Plan) string {
	if p.ServerDecay == 0 || p.StepAuto == 0 || p.StepSize > 0 {
		return ""
	}
	return decayText(p)
}

// ChangedDecay returns the warning of [FoundDecay] for a change during a run, or "". p is the plan
// after the change. During a run its step may be the one that the devices have found, so p does not
// tell that step from a person's. The warning is only for a change that sets the decay, or makes
// devices find the step, and names no step.
func ChangedDecay(c *plan.Change, p *plan.Plan) string {
	decay, _ := plan.FieldNamed("server_decay")
	step, _ := plan.FieldNamed("step")
	sets := slices.Contains(c.Fields, step.Number)
	switch {
	case p.ServerDecay == 0 || p.StepAuto == 0 || sets && p.StepSize > 0:
		return ""
	case sets || slices.Contains(c.Fields, decay.Number):
		return decayText(p)
	}
	return ""
}

func decayText(p *plan.Plan) string {
	return fmt.Sprintf("server_decay=%v pulls every parameter towards 0 by %[1]v times the step, and "+
		"step=auto finds a step as long as the model needs: where that is long, the pull is stronger "+
		"than the loss. The run takes no step above %.3g, so that a round pulls by a tenth at most. "+
		"Set step to a number, or server_decay=0.", p.ServerDecay, survey.MostDecay/p.ServerDecay)
}

// slowDim is the largest model without a warning of the time that covariance=full takes.
const slowDim = 300

// fewBits returns the warning for a plan whose scalars have so few bits that they are biased, and
// whose rule keeps their length, or "". The numbers are those of docs/methods.md.
func fewBits(p *plan.Plan) string {
	gains := map[plan.Precision]string{plan.Int4: "0.98 to 1.09", plan.Int2: "0.88 to 1.49"}
	gain, few := gains[p.Precision]
	if !few || p.ServerRule > plan.ServerMomentum {
		return ""
	}
	return fmt.Sprintf("precision=%v changes the length of steps: a scalar counts %s times on "+
		"average, the more the smaller P is. Tune step with this precision, or set precision=int8, "+
		"or server_rule=normalized, which divides most of it out.", p.Precision, gain)
}

// shortestDeadline is the shortest deadline without a warning, in milliseconds. The author of a
// smaller number probably meant seconds.
const shortestDeadline = 100

// mostEpsilon is the largest epsilon without a warning. Above it the noise guarantees next to
// nothing: the run may change the odds of a guess about a device's data by a factor of e^20, or 500
// million.
const mostEpsilon = 20

// noiseWarnings returns the reasons why a plan's noise hides little.
func noiseWarnings(p *plan.Plan) (list []string) {
	if p.DPClip == 0 {
		return nil
	}
	devices := max(p.Members, p.Target)
	if float64(p.DPDelta)*float64(devices) >= 1 {
		list = append(list, fmt.Sprintf("dp_delta=%v lets a run show all of one device in %.3g. With %d "+
			"devices it promises none of them anything: set far less than 1/%[3]d.", p.DPDelta,
			1/p.DPDelta, devices))
	}
	if b := dp.Planned(p); b != nil && b.Epsilon > mostEpsilon {
		list = append(list, fmt.Sprintf("epsilon %.3g promises next to nothing: above %d the noise may "+
			"hide none of what a device's data do. Set fewer rounds, or more dp_noise, which zofl plan "+
			"--epsilon finds.", b.Epsilon, mostEpsilon))
	}
	return list
}

// ZeroStart is the warning for a plan that seems to be for a network, and whose parameters all
// start at zero.
const ZeroStart = "All parameters start at zero. For a linear model, such as softmax regression, " +
	"that is right. Hidden layers and matrix factors hardly learn from there: give random weights, " +
	"as --segments relu:784x64,64x10 does, or begin at a model that you have, with --initial FILE."

const classesWarning = "With classes, the coordinator learns how many samples of each class " +
	"every device has, in all and in each minibatch, and the slopes of the loss of each class. Set " +
	"classes=0 where labels are private. Devices whose objective has no losses by class " +
	"decline."

const sketchWarning = "With groups=sketch, every device sends the coordinator 64 slopes of its " +
	"loss along directions that all share. They tell whose data are alike, and by a guess of the " +
	"labels' gradients roughly which labels a device has. No other device sees them. Set " +
	"groups=random where that is private."

// A linear model has weights and biases, and rarely this many parameters: softmax regression of
// MNIST has 7,850. A plan does not say for which model it is.
const (
	linearSegments = 2
	linearDim      = 10_000
)

// layersAtZero says whether a plan is probably for a model with hidden layers, and starts at zero.
func layersAtZero(p *plan.Plan) bool {
	if p.Initial != plan.Seeded || slices.ContainsFunc(p.Segments,
		func(s plan.Segment) bool { return s.Fill != plan.ZeroFill }) {
		return false
	}
	return len(p.Segments) > linearSegments || len(p.Segments) == 0 && p.Dim > linearDim
}
