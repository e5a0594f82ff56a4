package valid

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A refusal is a combination of fields that cannot run. Devices carry what is
// refused in a few words, which are unique for a field; package plancheck, for
// authors of plans, finds by them why, and what to do.
type refusal struct {
	field string // the field to name
	on    transports
	when  func(p *plan.Plan) bool
	what  string
}

// of returns the refusals of a feature. A plan that lacks it is not asked whether it has a fault
// there. No condition: the feature alone is one.
func of(feature func(p *plan.Plan) bool, list []refusal) []refusal {
	for i := range list {
		when := list[i].when
		list[i].when = func(p *plan.Plan) bool { return feature(p) && (when == nil || when(p)) }
	}
	return list
}

// transports are a set: the transports that a refusal concerns.
type transports uint8

const (
	onMean  transports = 1 << plan.Mean
	onRelay transports = 1 << plan.Relay
	onDense transports = 1 << plan.DenseVectors
	// onScalars are those whose devices send scalars along seeded directions.
	onScalars = onMean | onRelay
	onAll     = onScalars | onDense
)

func (r *refusal) refuses(p *plan.Plan) bool { return r.on&(1<<p.Transport) != 0 && r.when(p) }

// refusals are judged in order, after every field was found within its own limits.
var refusals = slices.Concat(
	denseOnlyRefusals, scalarRefusals, denseRefusals, surrogateRefusals, lateRefusals,
	autoRefusals, groupRefusals, guardRefusals, noiseRefusals,
	secureRefusals)

// scalarRefusals concern plans whose devices send scalars along seeded directions, and rules for
// all transports.
var scalarRefusals = []refusal{
	// Directions and transport.
	{"transport", onMean, func(p *plan.Plan) bool { return p.Sharing != plan.SharedDirections },
		"transport=mean needs sharing=shared"},
	{"transport", onRelay, func(p *plan.Plan) bool { return p.Sharing == plan.SharedDirections },
		"transport=relay needs sharing=per-client"},
	{"roster", onAll, func(p *plan.Plan) bool {
		return p.Sharing == plan.PerClient && p.Roster == plan.OpenRoster
	},
		"sharing=per-client needs roster=dense"},

	// Subspace.
	{"subspace_moves", onAll, func(p *plan.Plan) bool {
		return p.Distribution == plan.Subspace && p.SubspaceMoves == 0
	},
		"distribution=subspace needs 1 or more"},
	{"subspace_share", onAll, func(p *plan.Plan) bool {
		return p.Distribution == plan.Subspace && !(p.SubspaceShare > 0 && p.SubspaceShare < 1)
	},
		"distribution=subspace needs a share above 0 and below 1"},
	{"subspace_moves", onAll, func(p *plan.Plan) bool {
		return p.Distribution != plan.Subspace && p.SubspaceMoves != 0
	},
		"only distribution=subspace has it"},
	{"subspace_share", onAll, func(p *plan.Plan) bool {
		return p.Distribution != plan.Subspace && p.SubspaceShare != 0
	},
		"only distribution=subspace has it"},

	// Seed pool.
	{"pool", onAll, func(p *plan.Plan) bool { return p.Pool == 1 },
		"a pool needs 2 or more directions"},
	{"rebase", onAll, func(p *plan.Plan) bool { return p.Pool > 0 && p.Rebase == 0 },
		"a pool needs it"},
	{"rebase", onAll, func(p *plan.Plan) bool { return p.Pool == 0 && p.Rebase != 0 },
		"only a pool has it"},
	{"pool", onAll, func(p *plan.Plan) bool {
		return p.Pool > 0 && p.Sharing != plan.SharedDirections
	},
		"a pool needs sharing=shared"},
	{"pool", onAll, func(p *plan.Plan) bool {
		return p.Pool > 0 && p.Distribution == plan.Subspace
	},
		"a pool excludes distribution=subspace"},
	{"pool", onAll, func(p *plan.Plan) bool {
		return p.Pool > 0 && p.ServerRule != plan.ServerMean
	},
		"a pool needs server_rule=mean"},
	{"pool", onAll, func(p *plan.Plan) bool { return p.Pool > 0 && p.Control != plan.NoControl },
		"a pool needs control=none"},
	{"pool", onAll, func(p *plan.Plan) bool {
		return p.Pool > 0 && (p.WeightDecay > 0 || p.Prox > 0) && scaled(p)
	},
		"a pool with decay or prox needs equal step scales"},

	// Local rule.
	{"beta", onAll, func(p *plan.Plan) bool { return p.Rule == plan.SGD && p.Beta != 0 },
		"rule=sgd has no momentum"},
	{"beta", onAll, func(p *plan.Plan) bool { return p.Rule == plan.LocalSign && p.Beta != 0 },
		"rule=sign has no momentum"},
	{"beta", onAll, func(p *plan.Plan) bool {
		return p.Rule != plan.SGD && p.Rule != plan.LocalSign && !(p.Beta > 0 && p.Beta < 1)
	},
		"this rule needs a momentum factor above 0 and below 1"},
	{"prox", onAll, func(p *plan.Plan) bool { return p.Prox > 0 && p.Steps == 1 },
		"prox needs steps above 1"},

	// Control variates.
	{"control", onScalars, func(p *plan.Plan) bool {
		return p.Control != plan.NoControl && p.Sharing != plan.SharedDirections
	},
		"control variates need sharing=shared or transport=dense"},
	{"control", onAll, func(p *plan.Plan) bool {
		return p.Control == plan.ScaffoldMean && p.Distribution == plan.Subspace
	},
		"scaffold-2 excludes distribution=subspace"},
	{"control", onScalars, func(p *plan.Plan) bool {
		return p.Control == plan.ScaffoldMean && p.Roster == plan.OpenRoster
	},
		"scaffold-2 needs roster=dense or transport=dense"},
	{"control", onScalars, func(p *plan.Plan) bool {
		return p.Control == plan.ScaffoldMean && p.Weights != plan.Equal
	},
		"scaffold-2 needs weights=equal or transport=dense"},
	{"control", onAll, func(p *plan.Plan) bool {
		return p.Control != plan.NoControl && p.Aggregator != plan.WeightedMean
	},
		"control variates need aggregator=weighted-mean"},

	{"control", onAll, func(p *plan.Plan) bool { return p.Control == plan.SVRG && p.Steps == 1 },
		"control=svrg needs steps above 1"},

	{"cohort", onAll, func(p *plan.Plan) bool {
		return p.Cohort > 0 && p.Control != plan.ScaffoldPoint && p.Control != plan.SVRG
	},
		"only control=scaffold-1 and svrg keep a cohort"},

	// Server rule.
	{"server_step", onAll, func(p *plan.Plan) bool {
		return p.ServerRule.Steps() != (p.ServerStep > 0)
	},
		"every server rule but mean and normalized needs one above 0, and these have none"},
	{"server_beta1", onAll, func(p *plan.Plan) bool {
		return p.ServerBeta1 >= 1 || p.ServerBeta1 != 0 && p.ServerRule.Moments() < 1
	},
		"rules with a moment, which mean, sgd and sign lack, need 0 or more, below 1; others none"},
	{"server_beta1", onAll, func(p *plan.Plan) bool {
		return p.ServerRule == plan.ServerMomentum && p.ServerBeta1 == 0
	},
		"server_rule=momentum needs one above 0"},
	{"server_beta2", onAll, func(p *plan.Plan) bool {
		second := p.ServerRule.Moments() > 1 && p.ServerRule != plan.ServerAdaGrad ||
			p.ServerRule == plan.ServerNormalized
		return p.ServerBeta2 >= 1 || p.ServerBeta2 != 0 && !second
	},
		"adam, amsgrad, yogi, normalized need 0 or more, below 1; others have none"},
	{"server_epsilon", onAll, func(p *plan.Plan) bool {
		return (p.ServerRule.Moments() > 1) != (p.ServerEpsilon > 0)
	},
		"adam, amsgrad, yogi and adagrad need one above 0, other rules have none"},
	{"server_v0", onAll,
		func(p *plan.Plan) bool { return p.ServerV0 != 0 && p.ServerRule.Moments() < 2 },
		"only adam, amsgrad, yogi and adagrad have a second moment"},
	{"server_decay", onAll, func(p *plan.Plan) bool {
		return p.ServerDecay != 0 && p.ServerRule != plan.ServerNormalized
	},
		"only server_rule=normalized has it"},
	{"server_rule", onAll, func(p *plan.Plan) bool { return normalized(p) && p.Steps != 1 },
		"server_rule=normalized needs steps=1"},
	{"server_rule", onAll, func(p *plan.Plan) bool { return normalized(p) && p.Rule != plan.SGD },
		"server_rule=normalized needs rule=sgd"},
	{"server_rule", onAll, func(p *plan.Plan) bool { return normalized(p) && p.WeightDecay != 0 },
		"server_rule=normalized excludes weight_decay"},
	{"server_rule", onAll, func(p *plan.Plan) bool {
		return normalized(p) && p.Control != plan.NoControl
	},
		"server_rule=normalized needs control=none"},
	{"server_rule", onAll, func(p *plan.Plan) bool {
		return normalized(p) && p.Distribution == plan.Subspace
	},
		"server_rule=normalized excludes distribution=subspace"},

	// Schedule.
	{"rounds", onAll, func(p *plan.Plan) bool {
		return p.StepDecay == plan.Cosine && p.Rounds == 0
	},
		"step_decay=cosine needs rounds"},
	{"floor", onAll, func(p *plan.Plan) bool { return p.StepDecay != plan.Cosine && p.Floor != 0 },
		"only step_decay=cosine has it"},

	// Aggregation.
	{"aggregator", onRelay, func(p *plan.Plan) bool {
		return !grouped(p) && (p.Aggregator == plan.Median || p.Aggregator == plan.TrimmedMean)
	},
		"transport=relay needs a mean"},
	{"weights", onAll, func(p *plan.Plan) bool {
		return p.Weights != plan.Equal &&
			(p.Aggregator == plan.Median || p.Aggregator == plan.TrimmedMean)
	},
		"median and trimmed-mean need weights=equal"},
	{"trim", onAll, func(p *plan.Plan) bool {
		return (p.Aggregator == plan.TrimmedMean) != (p.Trim > 0) || p.Trim >= 0.5
	},
		"trimmed-mean needs a share above 0 and below 0.5, other aggregators have none"},
	{"trim", onAll, func(p *plan.Plan) bool {
		return p.Aggregator == plan.TrimmedMean && float32(p.Trim*float32(p.Target)) < 1
	},
		"it cuts off no contributor"},
	{"clip", onAll, func(p *plan.Plan) bool {
		return (p.Aggregator == plan.ClippedMean) != (p.Clip > 0)
	},
		"clipped-mean needs one above 0, other aggregators have none"},
	{"max_scalar", onAll, func(p *plan.Plan) bool {
		return p.Precision == plan.Half && p.MaxScalar > plan.MaxHalf
	},
		"precision=half reaches to 65504"},
	{"max_scalar", onRelay, func(p *plan.Plan) bool {
		return p.Precision.Quantized() && p.MaxScalar > plan.MaxHalf
	},
		"the scale of int8, int4 and int2 reaches to 65504"},
	{"precision", onMean, func(p *plan.Plan) bool { return p.Precision.Quantized() },
		"int8, int4 and int2 need transport=relay"},
}

func refusalRules() (list []rule) {
	for i := range refusals {
		list = append(list, &refusals[i])
	}
	return list
}

func (r *refusal) check(p *plan.Plan) error {
	if r.refuses(p) {
		return fault(r.field, text(p, r.field), r.what)
	}
	return nil
}

// checkRelay keeps records of transport=relay within MaxRecord.
func checkRelay(p *plan.Plan) error {
	if !p.Transport.Relays() {
		return nil
	}
	if size := RecordBytes(p); size > wire.MaxRecord {
		return fault("target", p.Target, fmt.Sprintf(
			"relaying %d scalars of each contributor makes records of %d bytes, "+
				"and the limit is %d",
			p.Steps*p.MaxPerturbations(), size, wire.MaxRecord))
	}
	return nil
}

// checkControl keeps records of control=scaffold-2 within MaxRecord, even if each
// contributor's control variate lies along directions of another record.
func checkControl(p *plan.Plan) error {
	if p.Control != plan.ScaffoldMean {
		return nil
	}
	if size := RecordBytes(p); size > wire.MaxRecord {
		return fault("target", p.Target, fmt.Sprintf(
			"a mean and %d contributors' control variates can take %d bytes of a record, "+
				"and the limit is %d",
			p.Target, size-recordHead, wire.MaxRecord-recordHead))
	}
	return nil
}

func normalized(p *plan.Plan) bool { return p.ServerRule == plan.ServerNormalized }

// scaled reports whether some segment scales the step size.
func scaled(p *plan.Plan) bool {
	for _, s := range p.Segments {
		if s.StepScale != 0 && s.StepScale != 1 {
			return true
		}
	}
	return false
}

// text returns the value of a field in the form that plan files use.
func text(p *plan.Plan, name string) any {
	f, _ := plan.FieldNamed(name)
	switch v := f.At(p).(type) {
	case *uint8:
		return f.Choice(*v)
	case *uint32:
		return *v
	case *uint64:
		return *v
	case *float32:
		return *v
	case *[]plan.Box:
		return *v
	case *[]string:
		return *v
	}
	panic("wire: internal error: a combination of " + name)
}
