package wire

import (
	"fmt"
	"slices"
)

// A refusal is a combination of fields that cannot run. Devices carry what is
// refused in a few words, which are unique for a field; package plancheck, for
// authors of plans, finds by them why, and what to do.
type refusal struct {
	field string // the field to name
	on    transports
	when  func(p *Plan) bool
	what  string
}

func (r *refusal) refuses(p *Plan) bool { return r.on&(1<<p.Transport) != 0 && r.when(p) }

// refusals are judged in order, after every field was found within its own limits.
var refusals = slices.Concat(denseOnlyRefusals, scalarRefusals, denseRefusals, surrogateRefusals)

// scalarRefusals are of plans whose devices send scalars along seeded directions, and of
// what holds for all transports.
var scalarRefusals = []refusal{
	// Directions and transport.
	{"transport", onMean, func(p *Plan) bool { return p.Sharing == PerClient },
		"transport=mean needs sharing=shared"},
	{"transport", onRelay, func(p *Plan) bool { return p.Sharing == SharedDirections },
		"transport=relay needs sharing=per-client"},
	{"roster", onAll, func(p *Plan) bool {
		return p.Sharing == PerClient && p.Roster == OpenRoster
	},
		"sharing=per-client needs roster=dense"},

	// Subspace.
	{"subspace_moves", onAll, func(p *Plan) bool {
		return p.Distribution == Subspace && p.SubspaceMoves == 0
	},
		"distribution=subspace needs 1 or more"},
	{"subspace_share", onAll, func(p *Plan) bool {
		return p.Distribution == Subspace && !(p.SubspaceShare > 0 && p.SubspaceShare < 1)
	},
		"distribution=subspace needs a share above 0 and below 1"},
	{"subspace_moves", onAll, func(p *Plan) bool {
		return p.Distribution != Subspace && p.SubspaceMoves != 0
	},
		"only distribution=subspace has it"},
	{"subspace_share", onAll, func(p *Plan) bool {
		return p.Distribution != Subspace && p.SubspaceShare != 0
	},
		"only distribution=subspace has it"},

	// Seed pool.
	{"pool", onAll, func(p *Plan) bool { return p.Pool == 1 },
		"a pool needs 2 or more directions"},
	{"rebase", onAll, func(p *Plan) bool { return p.Pool > 0 && p.Rebase == 0 },
		"a pool needs it"},
	{"rebase", onAll, func(p *Plan) bool { return p.Pool == 0 && p.Rebase != 0 },
		"only a pool has it"},
	{"pool", onAll, func(p *Plan) bool { return p.Pool > 0 && p.Sharing == PerClient },
		"a pool needs sharing=shared"},
	{"pool", onAll, func(p *Plan) bool { return p.Pool > 0 && p.Distribution == Subspace },
		"a pool excludes distribution=subspace"},
	{"pool", onAll, func(p *Plan) bool { return p.Pool > 0 && p.ServerRule != ServerMean },
		"a pool needs server_rule=mean"},
	{"pool", onAll, func(p *Plan) bool { return p.Pool > 0 && p.Control != NoControl },
		"a pool needs control=none"},
	{"pool", onAll, func(p *Plan) bool {
		return p.Pool > 0 && (p.WeightDecay > 0 || p.Prox > 0) && p.scaled()
	},
		"a pool with decay or prox needs equal step scales"},

	// Local rule.
	{"beta", onAll, func(p *Plan) bool { return p.Rule == SGD && p.Beta != 0 },
		"rule=sgd has no momentum"},
	{"beta", onAll, func(p *Plan) bool { return p.Rule != SGD && !(p.Beta > 0 && p.Beta < 1) },
		"this rule needs a momentum factor above 0 and below 1"},
	{"prox", onAll, func(p *Plan) bool { return p.Prox > 0 && p.Steps == 1 },
		"prox needs steps above 1"},

	// Control variates.
	{"control", onScalars, func(p *Plan) bool {
		return p.Control != NoControl && p.Sharing == PerClient
	},
		"control variates need sharing=shared or transport=dense"},
	{"control", onAll, func(p *Plan) bool {
		return p.Control == ScaffoldMean && p.Distribution == Subspace
	},
		"scaffold-2 excludes distribution=subspace"},
	{"control", onScalars, func(p *Plan) bool {
		return p.Control == ScaffoldMean && p.Roster == OpenRoster
	},
		"scaffold-2 needs roster=dense or transport=dense"},
	{"control", onScalars, func(p *Plan) bool {
		return p.Control == ScaffoldMean && p.Weights != Equal
	},
		"scaffold-2 needs weights=equal or transport=dense"},
	{"control", onAll, func(p *Plan) bool {
		return p.Control != NoControl && p.Aggregator != WeightedMean
	},
		"control variates need aggregator=weighted-mean"},

	// Server rule.
	{"server_step", onAll, func(p *Plan) bool {
		return (p.ServerRule != ServerMean) != (p.ServerStep > 0)
	},
		"every server rule but mean needs one above 0, and mean has none"},
	{"server_beta1", onAll, func(p *Plan) bool {
		return p.ServerBeta1 >= 1 || p.ServerBeta1 != 0 && !p.ServerRule.hasMoment()
	},
		"momentum, adam, amsgrad and yogi need 0 or more and below 1, other rules have none"},
	{"server_beta1", onAll, func(p *Plan) bool {
		return p.ServerRule == ServerMomentum && p.ServerBeta1 == 0
	},
		"server_rule=momentum needs one above 0"},
	{"server_beta2", onAll, func(p *Plan) bool {
		return p.ServerBeta2 >= 1 || p.ServerBeta2 != 0 && !p.ServerRule.adaptive()
	},
		"adam, amsgrad and yogi need 0 or more and below 1, other rules have none"},
	{"server_epsilon", onAll, func(p *Plan) bool {
		return p.ServerRule.adaptive() != (p.ServerEpsilon > 0)
	},
		"adam, amsgrad and yogi need one above 0, other rules have none"},
	{"server_v0", onAll, func(p *Plan) bool { return p.ServerV0 != 0 && !p.ServerRule.adaptive() },
		"only adam, amsgrad and yogi have a second moment"},

	// Aggregation.
	{"aggregator", onRelay, func(p *Plan) bool {
		return p.Aggregator == Median || p.Aggregator == TrimmedMean
	},
		"transport=relay needs a mean"},
	{"weights", onAll, func(p *Plan) bool {
		return p.Weights != Equal && (p.Aggregator == Median || p.Aggregator == TrimmedMean)
	},
		"median and trimmed-mean need weights=equal"},
	{"trim", onAll, func(p *Plan) bool {
		return (p.Aggregator == TrimmedMean) != (p.Trim > 0) || p.Trim >= 0.5
	},
		"trimmed-mean needs a share above 0 and below 0.5, other aggregators have none"},
	{"trim", onAll, func(p *Plan) bool {
		return p.Aggregator == TrimmedMean && float32(p.Trim*float32(p.Target)) < 1
	},
		"it cuts off no contributor"},
	{"clip", onAll, func(p *Plan) bool { return (p.Aggregator == ClippedMean) != (p.Clip > 0) },
		"clipped-mean needs one above 0, other aggregators have none"},
	{"max_scalar", onAll, func(p *Plan) bool {
		return p.Precision == Half && p.MaxScalar > maxHalf
	},
		"precision=half reaches to 65504"},
}

// combine returns the first refusal of p.
func (p *Plan) combine() error {
	for i := range refusals {
		if r := &refusals[i]; r.refuses(p) {
			return &PlanError{r.field, p.text(r.field), r.what}
		}
	}
	return p.checkRelay()
}

// checkRelay keeps records of transport=relay within RelayLimit.
func (p *Plan) checkRelay() error {
	if !p.Transport.Relays() {
		return nil
	}
	if size := p.RecordBytes(); size > RelayLimit {
		return &PlanError{"target", p.Target, fmt.Sprintf(
			"relaying %d scalars of each contributor makes records of %d bytes, "+
				"and the limit is %d; lower target, steps or perturbations, "+
				"or set precision=half, sharing=shared transport=mean, or transport=dense",
			p.Steps*p.MaxPerturbations(), size, RelayLimit)}
	}
	return nil
}

// RecordBytes bounds the bytes of a round's record. Package wire/cost has the bytes of a
// given round.
func (p *Plan) RecordBytes() uint64 {
	const weight, slot = 5, 5
	target := uint64(p.Target)
	switch p.Transport {
	case DenseVectors:
		return headRoom
	case Relay:
		return headRoom + target*(p.term(p.Steps)+weight)
	}
	switch p.Control {
	case ScaffoldMean:
		return headRoom + (target+1)*p.term(p.Steps) + target*slot
	case ScaffoldPoint:
		return headRoom + p.term(p.Steps) + p.term(1)
	}
	return headRoom + p.term(p.Steps)
}

// checkControl keeps records of control=scaffold-2 within MaxRecord, even if each
// contributor's control variate lies along directions of another record.
func (p *Plan) checkControl() error {
	if p.Control != ScaffoldMean {
		return nil
	}
	if size := p.RecordBytes(); size > MaxRecord {
		return &PlanError{"target", p.Target, fmt.Sprintf(
			"a mean and %d contributors' control variates can take %d bytes of a record, "+
				"and the limit is %d; "+
				"lower target, steps or perturbations, or set precision=half",
			p.Target, size-headRoom, MaxRecord-headRoom)}
	}
	return nil
}

// headRoom bounds the bytes of a record beside its terms and slots.
const headRoom = 128

// term bounds the bytes that the scalars of one device for some steps take in a record.
func (p *Plan) term(steps uint32) uint64 {
	const head = 16 // array, back, source, bin
	return head + uint64(steps)*uint64(p.MaxPerturbations())*uint64(p.Precision.Width())
}

// scaled reports whether some segment scales the step size.
func (p *Plan) scaled() bool {
	for _, s := range p.Segments {
		if orOne(s.StepScale) != 1 {
			return true
		}
	}
	return false
}

// text returns the value of a field in the form that plan files use.
func (p *Plan) text(name string) any {
	at := slices.IndexFunc(planFields, func(f Field) bool { return f.Name == name })
	f := &planFields[at]
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
