package wire

import (
	"fmt"
	"slices"
)

// A refusal is a combination of fields that makes no sense: the field that
// cannot stand with the others, and why.
type refusal struct {
	field string
	when  func(p *Plan) bool
	why   string
}

// refusals are judged in order; each field is within its own limits by then.
var refusals = slices.Concat(denseOnlyRefusals, seededRefusals, denseRefusals, surrogateRefusals)

// seededRefusals are those of scalars along directions.
var seededRefusals = []refusal{
	// Directions and transport.
	{"transport", func(p *Plan) bool { return p.Sharing == PerClient && p.Transport == Mean },
		"scalars along the directions of one device are no scalars along another's, so they have no mean: set transport=relay or dense, or sharing=shared"},
	{"transport", func(p *Plan) bool { return p.Sharing == SharedDirections && p.Transport == Relay },
		"along shared directions the mean says all that a replica uses, in a record that does not grow with the fleet: set transport=mean, or sharing=per-client"},
	{"roster", func(p *Plan) bool { return p.Sharing == PerClient && p.Roster == OpenRoster },
		"directions of a device's own are addressed by its slot, which an open roster does not give: set roster=dense, or sharing=shared and transport=mean or dense"},

	// Subspace.
	{"subspace_moves", func(p *Plan) bool { return p.Distribution == Subspace && p.SubspaceMoves == 0 },
		"say how many moves span the subspace; ZOFedHT takes 5"},
	{"subspace_share", func(p *Plan) bool { return p.Distribution == Subspace && !(p.SubspaceShare > 0 && p.SubspaceShare < 1) },
		"choose alpha above 0 and below 1: 0 is distribution=normal, at 1 no direction would leave the subspace"},
	{"subspace_moves", func(p *Plan) bool { return p.Distribution != Subspace && p.SubspaceMoves != 0 },
		"only distribution=subspace keeps moves: set it, or this to 0"},
	{"subspace_share", func(p *Plan) bool { return p.Distribution != Subspace && p.SubspaceShare != 0 },
		"only distribution=subspace has one: set it, or this to 0"},

	// Seed pool.
	{"pool", func(p *Plan) bool { return p.Pool == 1 },
		"with one direction the model moves on a line: choose at least 2, or 0 for none; FedKSeed takes 4096"},
	{"rebase", func(p *Plan) bool { return p.Pool > 0 && p.Rebase == 0 },
		fmt.Sprintf("say after how many rounds x is computed anew from the pool's coefficients; %d is usual", DefaultRebase)},
	{"rebase", func(p *Plan) bool { return p.Pool == 0 && p.Rebase != 0 },
		"only a pool has coefficients to rebase on: set pool, or this to 0"},
	{"pool", func(p *Plan) bool { return p.Pool > 0 && p.Sharing == PerClient },
		"a pool is of shared directions: set sharing=shared transport=mean, or pool=0"},
	{"pool", func(p *Plan) bool { return p.Pool > 0 && p.Distribution == Subspace },
		"directions in a subspace that moves are never the same twice: choose another distribution, or pool=0"},
	{"pool", func(p *Plan) bool { return p.Pool > 0 && p.ServerRule != ServerMean },
		"a pool's coefficients follow the local steps, and most server rules act element by element, after which x is no sum of coefficients times directions: set server_rule=mean, or pool=0"},
	{"pool", func(p *Plan) bool { return p.Pool > 0 && p.Control != NoControl },
		"control variates would double the coefficients at every step: set control=none, or pool=0"},
	{"pool", func(p *Plan) bool { return p.Pool > 0 && (p.WeightDecay > 0 || p.Prox > 0) && p.scaled() },
		"with decay or prox and step scales each segment has coefficients of its own: drop weight_decay and prox or the segments' step_scale, or set pool=0"},

	// Local rule.
	{"beta", func(p *Plan) bool { return p.Rule == SGD && p.Beta != 0 },
		"sgd has no momentum: set it to 0, or rule to momentum, torch-momentum or adam"},
	{"beta", func(p *Plan) bool { return p.Rule != SGD && !(p.Beta > 0 && p.Beta < 1) },
		"choose a momentum factor above 0 and below 1, or rule sgd; 0.9 is usual"},
	{"prox", func(p *Plan) bool { return p.Prox > 0 && p.Steps == 1 },
		"the only step starts where the pull goes to, so there is none: set steps above 1, or prox=0"},

	// Control variates.
	{"control", func(p *Plan) bool { return p.Control != NoControl && p.Sharing == PerClient && !p.dense() },
		"a device's own control variate would have to be relayed with its scalars: set sharing=shared transport=mean, or transport=dense, or control=none"},
	{"control", func(p *Plan) bool { return p.Control == ScaffoldMean && p.Distribution == Subspace },
		"the subspace of an older record is gone, and with it the directions of a device's control variate: choose another distribution, or control=scaffold-1 or none"},
	{"control", func(p *Plan) bool { return p.Control == ScaffoldMean && p.Roster == OpenRoster && !p.dense() },
		"a record has to name who contributed, which an open roster does not know: set roster=dense, or transport=dense, or control to scaffold-1 or none"},
	{"control", func(p *Plan) bool { return p.Control == ScaffoldMean && p.Weights != Equal && !p.dense() },
		"c is the mean over all devices, whose samples nobody knows: set weights=equal, or transport=dense, or control to scaffold-1 or none"},
	{"control", func(p *Plan) bool { return p.Control != NoControl && p.Aggregator != WeightedMean },
		"a correction cancels in the mean only if both are means: set aggregator=weighted-mean, or control=none"},

	// Server rule.
	{"server_step", func(p *Plan) bool { return (p.ServerRule != ServerMean) != (p.ServerStep > 0) },
		"every server rule but mean has a step size, above 0: set both or neither; ZO-AdaFL takes 0.02 for amsgrad, and sgd is mean at 1"},
	{"server_beta1", func(p *Plan) bool { return p.ServerBeta1 >= 1 || p.ServerBeta1 != 0 && !p.ServerRule.hasMoment() },
		"choose 0 or more and below 1 for momentum, adam, amsgrad and yogi, 0 for others; 0.9 is usual"},
	{"server_beta1", func(p *Plan) bool { return p.ServerRule == ServerMomentum && p.ServerBeta1 == 0 },
		"without it momentum is sgd: choose a factor above 0 and below 1, or server_rule=sgd"},
	{"server_beta2", func(p *Plan) bool { return p.ServerBeta2 >= 1 || p.ServerBeta2 != 0 && !p.ServerRule.adaptive() },
		"choose 0 or more and below 1 for adam, amsgrad and yogi, 0 for others; 0.99 is usual"},
	{"server_epsilon", func(p *Plan) bool { return p.ServerRule.adaptive() != (p.ServerEpsilon > 0) },
		"adam, amsgrad and yogi divide by the root of it and of v, so it is above 0, and 0 for others; ZO-AdaFL takes 1e-8"},
	{"server_v0", func(p *Plan) bool { return p.ServerV0 != 0 && !p.ServerRule.adaptive() },
		"only adam, amsgrad and yogi have a second moment: set it to 0"},

	// Aggregation.
	{"aggregator", func(p *Plan) bool {
		return p.Transport == Relay && (p.Aggregator == Median || p.Aggregator == TrimmedMean)
	},
		"scalars along different directions have no order: choose weighted-mean or clipped-mean, or sharing=shared transport=mean"},
	{"weights", func(p *Plan) bool {
		return p.Weights != Equal && (p.Aggregator == Median || p.Aggregator == TrimmedMean)
	},
		"a weight that a device chooses would undo what the aggregator is for: set weights=equal, or aggregator to weighted-mean or clipped-mean"},
	{"trim", func(p *Plan) bool { return (p.Aggregator == TrimmedMean) != (p.Trim > 0) || p.Trim >= 0.5 },
		"trimmed-mean cuts off a part above 0 and below 0.5 at either end, other aggregators none; 0.1 is usual"},
	{"trim", func(p *Plan) bool { return p.Aggregator == TrimmedMean && float32(p.Trim*float32(p.Target)) < 1 },
		"of so few contributors it cuts off nobody: raise it to 1/target or more, or target, or set aggregator=median"},
	{"clip", func(p *Plan) bool { return (p.Aggregator == ClippedMean) != (p.Clip > 0) },
		"clipped-mean has a largest length, above 0, other aggregators none"},
	{"max_scalar", func(p *Plan) bool { return p.Precision == Half && p.MaxScalar > maxHalf },
		"a half reaches to 65504: set max_scalar to that or less, or precision=single"},
}

// combine judges the fields together.
func (p *Plan) combine() error {
	for i := range refusals {
		if r := &refusals[i]; r.when(p) {
			return &PlanError{r.field, p.text(r.field), r.why}
		}
	}
	return p.checkRelay()
}

// checkRelay keeps a relayed record within its limit.
func (p *Plan) checkRelay() error {
	if p.Transport != Relay {
		return nil
	}
	if size := p.relayed(); size > RelayLimit {
		return &PlanError{"target", p.Target, fmt.Sprintf(
			"relaying %d scalars of each contributor makes records of %d bytes, the limit is %d: lower target, steps or perturbations, set precision=half, share directions, or set transport=dense",
			p.Steps*p.MaxPerturbations(), size, RelayLimit)}
	}
	return nil
}

// relayed is about how many bytes a relayed round takes at most.
func (p *Plan) relayed() uint64 {
	const weight = 5
	return headRoom + uint64(p.Target)*(p.term()+weight)
}

// checkControl keeps a record within its limit if every contributor's control
// variate is of another record.
func (p *Plan) checkControl() error {
	if p.Control != ScaffoldMean {
		return nil
	}
	const slot = 5
	if size := (uint64(p.Target)+1)*p.term() + slot*uint64(p.Target); size > MaxRecord-headRoom {
		return &PlanError{"target", p.Target, fmt.Sprintf(
			"a mean and %d contributors' control variates can take %d bytes in a record of at most %d: lower target, steps or perturbations, or set precision=half",
			p.Target, size, MaxRecord-headRoom)}
	}
	return nil
}

// headRoom is what a round has besides terms and slots, rounded up.
const headRoom = 128

// term is how many bytes the scalars of a device take in a record at most.
func (p *Plan) term() uint64 {
	const head = 16 // array, back, source, bin
	return head + uint64(p.Steps)*uint64(p.MaxPerturbations())*uint64(p.Precision.Width())
}

// scaled says whether segments have unlike steps.
func (p *Plan) scaled() bool {
	for _, s := range p.Segments {
		if orOne(s.StepScale) != 1 {
			return true
		}
	}
	return false
}

// hasMoment says whether the rule keeps a first moment.
func (v ServerRule) hasMoment() bool { return v.Moments() > 0 }

// adaptive says whether the rule keeps a second moment.
func (v ServerRule) adaptive() bool { return v.Moments() > 1 }

// text is the value of a field as files have it.
func (p *Plan) text(name string) any {
	f, err := findField(name, "")
	if err != nil {
		panic("wire: internal error: " + err.Error())
	}
	switch v := f.at(p).(type) {
	case *uint8:
		return enumName(f.names, int(*v))
	case *uint32:
		return *v
	case *uint64:
		return *v
	case *float32:
		return *v
	case *[]Box:
		return *v
	}
	panic("wire: internal error: a combination of " + name)
}
