package plan

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/prng"

	"github.com/zofl/zofl/internal/codec"
)

// This file has the plan's choices. A choice is a number in frames and records, and a name in plan
// files. The wire specification reserves numbers for future choices.

// Sharing says which devices probe the same directions.
type Sharing uint8

const (
	// SharedDirections: all devices probe the same directions of the record, so that the coordinator
	// can average their scalars.
	SharedDirections Sharing = 0
	// PerClient: each device probes directions derived from its slot.
	PerClient Sharing = 1
	// GroupDirections: the devices of a group probe the same directions. Group k uses the directions
	// of slot k. Either an announcement names the devices of each group, or each device draws its
	// group. A record has a term for each group.
	GroupDirections Sharing = 3
)

// Distribution is the distribution of a direction z.
type Distribution uint8

const (
	// Normal: elements are standard normal.
	Normal = Distribution(prng.Normal)
	// Rademacher: elements are +1 or -1.
	Rademacher = Distribution(prng.Rademacher)
	// Sphere: uniform on the unit sphere, z/|z| for a normal z. A step uses d times the scalar, so
	// that the mean of the estimates is the gradient. ZO-AdaFL (5).
	Sphere Distribution = 3
	// Subspace: v = sqrt(1-a) v1 + sqrt(a) Q v2, with standard normal v1 of d and v2 of tau elements;
	// the columns of Q are a basis of the last tau moves. Before the model has made tau moves, v is v1
	// alone. ZOFedHT (9), where a is Plan.SubspaceShare and tau Plan.SubspaceMoves.
	Subspace Distribution = 4
	// LowRank: elements are +1 or -1. In a segment with Rows, element (i, j) is the product of a sign
	// of row i and a sign of column j, see package prng/lowrank.
	LowRank Distribution = 6 // 5 is never assigned: a test vector has it as unknown
)

// Elements returns the distribution of a direction's elements.
func (v Distribution) Elements() prng.Distribution {
	if v == Rademacher || v == LowRank {
		return prng.Rademacher
	}
	return prng.Normal
}

// Difference is the finite difference that estimates a directional derivative.
type Difference uint8

const (
	// Forward: g = (f(x + mu z) - f(x)) / mu, P+1 queries a step.
	Forward Difference = 1
	// Central: g = (f(x + mu z) - f(x - mu z)) / (2 mu), 2P queries a step.
	Central Difference = 2
	// NoDifference: a scalar is the loss at a candidate, less the least loss of the device's own
	// candidates; P queries. For [ServerCMA] alone.
	NoDifference Difference = 3
)

// Rule is how a local step moves the iterate by its estimate v = (1/P) sum_p g_p z_p. A round makes
// K local steps; then [ServerRule] applies their sum.
type Rule uint8

const (
	// SGD: x -= eta v.
	SGD Rule = 1
	// Momentum: m = beta m + (1-beta) v, x -= eta m; DeComFL (8)-(9).
	Momentum Rule = 2
	// TorchMomentum: m = beta m + v, x -= eta m, as torch.optim.SGD does with dampening 0. Steps are
	// 1/(1-beta) times as long as with Momentum.
	TorchMomentum Rule = 3
	// LocalAdam: m = b1 m + (1-b1) v, s = b2 s + (1-b2) v^2, x -= eta m' / (sqrt(s') + e) with m' =
	// m/(1-b1^t) and s' = s/(1-b2^t) at step t = 1, 2, ... of the round; b1, b2, e are Plan's Beta,
	// Beta2 and Epsilon. LocalAdam needs DenseVectors, because the mean of such moves is not a
	// function of mean scalars.
	LocalAdam Rule = 4
	// LocalSign: x -= eta sign(v), where sign(0) is 0: ZO-SignSGD (Liu et al. 2019), which DeComFL
	// names in appendix A.1. Only with DenseVectors, as for LocalAdam; with one local step
	// [ServerSign] takes the sign of the round's mean estimate.
	LocalSign Rule = 6 // 5 is never assigned: a test vector has it as unknown
)

// Initial says where the initial parameters come from.
type Initial uint8

const (
	// Seeded: from the Fill of each of the plan's segments; zeros without segments.
	Seeded Initial = 0
	// Given: from the app. Every device checks the given parameters against InitialDigest.
	Given Initial = 1
)

// Fill says how a device draws the initial parameters of a segment.
type Fill uint8

const (
	ZeroFill Fill = 0
	// UniformFill: scale * u, u uniform in [-1, 1].
	UniformFill Fill = 1
	// NormalFill: scale * z, z standard normal.
	NormalFill Fill = 2
)

// StepDecay is how the step size decays with the round r, counted from 1. The decays from Cosine on
// apply to the step size that sets the length of a round's move, StepSize or ServerStep, see
// [Plan.FactorAt].
type StepDecay uint8

const (
	Constant StepDecay = 0
	// InverseSqrt: step / sqrt(r).
	InverseSqrt StepDecay = 1
	// Cosine: floor + (1-floor) (1 + cos(pi t))/2, t = (r-1)/Rounds, at most 1.
	Cosine StepDecay = 2
	// SlowSqrt: 1 / sqrt(1 + (r-1)/30).
	SlowSqrt StepDecay = 4 // 3 is never assigned: a test vector has it as unknown
)

// Aggregator is how the coordinator combines the contributions of several devices.
type Aggregator uint8

const (
	// WeightedMean: the weighted mean of each scalar, computed exactly and rounded once.
	WeightedMean Aggregator = 0
	// Median: the median of each scalar over the contributors; for an even number the mean of the
	// middle two.
	Median Aggregator = 1
	// TrimmedMean: the mean of each scalar without its largest and smallest values. The coordinator
	// leaves out as many of the largest values, and as many of the smallest, as Plan.Trim times the
	// number of contributors, rounded down. So with fewer than 1/Trim contributors no value is left
	// out.
	TrimmedMean Aggregator = 2
	// ClippedMean: the weighted mean of contributions, after the coordinator scales down each
	// contribution whose L2 norm exceeds Plan.Clip to that norm. ClippedMean does not bound weights;
	// Plan.MaxWeight does.
	ClippedMean Aggregator = 3
)

// Control is a correction c - c_i that each local step adds to its estimate, so that devices with
// different data do not drift apart. c_i is an earlier gradient estimate of device i, and c the
// mean estimate of all devices. FZooS (6) and appendix F.
type Control uint8

const (
	NoControl Control = 0
	// ScaffoldPoint: c_i is device i's estimate at the round's first point, made in phase 1 of the
	// round. SCAFFOLD type I, FZooS (91).
	ScaffoldPoint Control = 1
	// ScaffoldMean: c_i is the mean of device i's estimates over the steps of its
	// last contribution, and c the mean of c_i over all devices. SCAFFOLD type II,
	// FZooS (6) with the vectors below algorithm 2.
	ScaffoldMean Control = 2
	// SVRG: a local step moves by two terms. One term is the difference between the device's estimate
	// on a minibatch at the iterate and its estimate on the same minibatch at the round's first point
	// x_0, along the same directions. The other term is c, the mean of the devices' estimates at x_0
	// on all of their data, made in phase 1:
	//
	//	x = x - eta (grad_B f(x) - grad_B f(x_0) + c)
	//
	// ZO-SVRG, Liu et al. 2018, algorithm 2.
	SVRG Control = 4 // 3 is never assigned: test vectors have it as unknown
)

// point says whether a round's first phase estimates gradients at its first point.
func (v Control) point() bool { return v == ScaffoldPoint || v == SVRG }

// Weights are the contributors' weights in the mean.
type Weights uint8

const (
	Equal     Weights = 0 // 1/|C_r|, as in DeComFL
	BySamples Weights = 1 // by the samples that each device claims
)

// Roster is the list of devices that take part.
type Roster uint8

const (
	// ListedRoster: devices are listed and have slots; a cohort has an exact size.
	ListedRoster Roster = 0
	// OpenRoster: devices are not listed and select themselves by a threshold.
	OpenRoster Roster = 1
)

// Close says when a round closes that has its quorum, and so whose contributions count.
type Close uint8

const (
	// CloseAtTarget: with Target contributions. So the first devices to answer count.
	CloseAtTarget Close = 0
	// CloseAtDeadline: when all that it asked have answered, or at its deadline. An open roster does
	// not know whom it asked, so each round takes its deadline.
	CloseAtDeadline Close = 1
)

// StopWhen is the side of StopValue on which StopMetric ends the run.
type StopWhen uint8

const (
	Above StopWhen = 0
	Below StopWhen = 1
)

// BestWhen says which values of a plan's Best are better.
type BestWhen uint8

const (
	BestByName BestWhen = 0 // see [Plan.LowestIsBest]
	Highest    BestWhen = 1
	Lowest     BestWhen = 2
)

// The names of each choice, by number; "" stands for a number without a choice.
var (
	sharingNames      = []string{"shared", "per-client", "", "groups"} // 2 is not used
	distributionNames = []string{"", "normal", "rademacher", "sphere", "subspace", "", "lowrank"}
	differenceNames   = []string{"", "forward", "central", "none"}
	ruleNames         = []string{"", "sgd", "momentum", "torch-momentum", "adam", "", "sign"}
	initialNames      = []string{"seeded", "given"}
	fillNames         = []string{"zero", "uniform", "normal"}
	stepDecayNames    = []string{"constant", "inverse-sqrt", "cosine", "", "slow-sqrt"}
	aggregatorNames   = []string{"weighted-mean", "median", "trimmed-mean", "clipped-mean"}
	controlNames      = []string{"none", "scaffold-1", "scaffold-2", "", "svrg"}
	precisionNames    = []string{"single", "half", "", "int8", "int4", "int2"}
	weightsNames      = []string{"equal", "samples"}
	rosterNames       = []string{"dense", "open"}
	closeNames        = []string{"target", "deadline"}
	stopWhenNames     = []string{"above", "below"}
	bestWhenNames     = []string{"auto", "highest", "lowest"}
)

func (v Sharing) String() string      { return codec.Name(sharingNames, int(v)) }
func (v Distribution) String() string { return codec.Name(distributionNames, int(v)) }
func (v Difference) String() string   { return codec.Name(differenceNames, int(v)) }
func (v Rule) String() string         { return codec.Name(ruleNames, int(v)) }
func (v Initial) String() string      { return codec.Name(initialNames, int(v)) }
func (v Fill) String() string         { return codec.Name(fillNames, int(v)) }
func (v StepDecay) String() string    { return codec.Name(stepDecayNames, int(v)) }
func (v Aggregator) String() string   { return codec.Name(aggregatorNames, int(v)) }
func (v Control) String() string      { return codec.Name(controlNames, int(v)) }
func (v Precision) String() string    { return codec.Name(precisionNames, int(v)) }
func (v Weights) String() string      { return codec.Name(weightsNames, int(v)) }
func (v Roster) String() string       { return codec.Name(rosterNames, int(v)) }
func (v Close) String() string        { return codec.Name(closeNames, int(v)) }
func (v StopWhen) String() string     { return codec.Name(stopWhenNames, int(v)) }
func (v BestWhen) String() string     { return codec.Name(bestWhenNames, int(v)) }

func (v Fill) MarshalText() ([]byte, error) { return []byte(v.String()), nil }
func (v *Fill) UnmarshalText(b []byte) error {
	n, err := enumValue(fillNames, string(b))
	*v = Fill(n)
	return err
}

func enumValue(names []string, s string) (uint8, error) {
	for i, name := range names {
		if name == s && s != "" {
			return uint8(i), nil
		}
	}
	return 0, fmt.Errorf("%q is not one of %s", s, enumList(names))
}

func enumList(names []string) string {
	var known []string
	for _, name := range names {
		if name != "" {
			known = append(known, name)
		}
	}
	return strings.Join(known, ", ")
}
