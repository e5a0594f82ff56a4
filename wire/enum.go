package wire

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/prng"
)

// The plan's choices. On the wire each is its number, in files its name.
// Numbers of choices to come are in SPEC.md.

// Sharing says whether all devices probe the same directions.
type Sharing uint8

const (
	// SharedDirections: every device probes the directions of the record, so
	// that scalars can be averaged.
	SharedDirections Sharing = 0
	// PerClient: every device probes directions of its own slot.
	PerClient Sharing = 1
)

// Distribution is that of a direction z.
type Distribution uint8

const (
	// Normal: elements are standard normal.
	Normal = Distribution(prng.Normal)
	// Rademacher: elements are +1 or -1.
	Rademacher = Distribution(prng.Rademacher)
	// Sphere: uniform on the unit sphere, z/|z| of a normal z; an estimate is
	// d times the scalar, so that its mean is the gradient. ZO-AdaFL (5).
	Sphere Distribution = 3
	// Subspace: v = sqrt(1-a) v1 + sqrt(a) Q v2 with standard normal v1 of d
	// and v2 of tau elements, the columns of Q a basis of the last tau moves;
	// v1 alone before there are tau moves. ZOFedHT (9), a is
	// Plan.SubspaceShare, tau Plan.SubspaceMoves.
	Subspace Distribution = 4
)

// Elements is the distribution of the numbers that a direction is made of.
func (v Distribution) Elements() prng.Distribution {
	if v == Rademacher {
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
)

// Rule is how a local step's estimate v = (1/P) sum_p g_p z_p moves the iterate.
// A round makes K such steps, and then [ServerRule] has its say.
type Rule uint8

const (
	// SGD: x -= eta v.
	SGD Rule = 1
	// Momentum: m = beta m + (1-beta) v, x -= eta m; DeComFL (8)-(9).
	Momentum Rule = 2
	// TorchMomentum: m = beta m + v, x -= eta m; what torch.optim.SGD does
	// with dampening 0. Steps are 1/(1-beta) times those of Momentum.
	TorchMomentum Rule = 3
	// LocalAdam: m = b1 m + (1-b1) v, s = b2 s + (1-b2) v^2,
	// x -= eta m' / (sqrt(s') + e) with m' = m/(1-b1^t) and s' = s/(1-b2^t) of
	// the round's step t = 1, 2, ...; b1, b2, e are Plan's Beta, Beta2 and
	// Epsilon. Of DenseVectors only: a mean of such moves follows from no mean of
	// scalars.
	LocalAdam Rule = 4
)

// Initial says where the parameters of record 1 come from.
type Initial uint8

const (
	// Seeded: from the plan's segments; zero where there are none.
	Seeded Initial = 0
	// Given: by the app; every device checks them against InitialDigest.
	Given Initial = 1
)

// Fill says how a segment is seeded.
type Fill uint8

const (
	Zero Fill = 0
	// UniformFill: scale * u, u uniform in [-1, 1].
	UniformFill Fill = 1
	// NormalFill: scale * z, z standard normal.
	NormalFill Fill = 2
)

// StepDecay is the schedule of the step size between the points of
// StepSchedule; r is the round, from 1.
type StepDecay uint8

const (
	Constant StepDecay = 0
	// InverseSqrt: step / sqrt(r).
	InverseSqrt StepDecay = 1
)

// Aggregator is how scalars of several devices become one.
type Aggregator uint8

const (
	// WeightedMean: exact, rounded once.
	WeightedMean Aggregator = 0
	// Median: of each scalar over the contributors; of an even number the mean
	// of the middle two.
	Median Aggregator = 1
	// TrimmedMean: the mean of each scalar without the Plan.Trim part of the
	// contributors at either end, rounded down: of fewer than 1/Trim it is their
	// mean, and nothing is cut off.
	TrimmedMean Aggregator = 2
	// ClippedMean: the weighted mean of contributions whose scalars, as one
	// vector, are shortened to the length Plan.Clip. That bounds no weight:
	// Plan.MaxWeight does.
	ClippedMean Aggregator = 3
)

// Control is a correction that each local step adds to its estimate: c - c_i,
// what the fleet and what this device found when they looked before, so that
// devices with unlike data do not drift apart. FZooS (6) and appendix F.
type Control uint8

const (
	NoControl Control = 0
	// ScaffoldPoint: c_i is device i's estimate at the round's first point, taken
	// in a phase of its own; SCAFFOLD type I, FZooS (91).
	ScaffoldPoint Control = 1
	// ScaffoldMean: c_i is the mean of device i's estimates over the steps of
	// its last contribution, c their mean over all devices; SCAFFOLD type II,
	// FZooS (6) with the vectors below algorithm 2.
	ScaffoldMean Control = 2
)

// Precision is the width of the scalars that travel.
type Precision uint8

const (
	// Single: float32, 4 bytes.
	Single Precision = 0
	// Half: binary16, 2 bytes, 11 bits of significand and at most 65504.
	Half Precision = 1
)

// Weights are the contributors' weights in the mean.
type Weights uint8

const (
	Equal     Weights = 0 // 1/|C_r|, as in DeComFL
	BySamples Weights = 1 // by the samples each device says it used
)

// Roster is who may take part.
type Roster uint8

const (
	// Dense: devices have slots; a cohort has exactly as many as it should.
	Dense Roster = 0
	// OpenRoster: no slots; devices select themselves by a threshold.
	OpenRoster Roster = 1
)

// StopWhen is the side of StopValue on which StopMetric ends the run.
type StopWhen uint8

const (
	Above StopWhen = 0
	Below StopWhen = 1
)

// names of each choice, by number; "" is no choice.
var (
	sharingNames      = []string{"shared", "per-client"}
	distributionNames = []string{"", "normal", "rademacher", "sphere", "subspace"}
	differenceNames   = []string{"", "forward", "central"}
	ruleNames         = []string{"", "sgd", "momentum", "torch-momentum", "adam"}
	initialNames      = []string{"seeded", "given"}
	fillNames         = []string{"zero", "uniform", "normal"}
	stepDecayNames    = []string{"constant", "inverse-sqrt"}
	aggregatorNames   = []string{"weighted-mean", "median", "trimmed-mean", "clipped-mean"}
	controlNames      = []string{"none", "scaffold-1", "scaffold-2"}
	precisionNames    = []string{"single", "half"}
	weightsNames      = []string{"equal", "samples"}
	rosterNames       = []string{"dense", "open"}
	stopWhenNames     = []string{"above", "below"}
)

func (v Sharing) String() string      { return enumName(sharingNames, int(v)) }
func (v Distribution) String() string { return enumName(distributionNames, int(v)) }
func (v Difference) String() string   { return enumName(differenceNames, int(v)) }
func (v Rule) String() string         { return enumName(ruleNames, int(v)) }
func (v Initial) String() string      { return enumName(initialNames, int(v)) }
func (v Fill) String() string         { return enumName(fillNames, int(v)) }
func (v StepDecay) String() string    { return enumName(stepDecayNames, int(v)) }
func (v Aggregator) String() string   { return enumName(aggregatorNames, int(v)) }
func (v Control) String() string      { return enumName(controlNames, int(v)) }
func (v Precision) String() string    { return enumName(precisionNames, int(v)) }
func (v Weights) String() string      { return enumName(weightsNames, int(v)) }
func (v Roster) String() string       { return enumName(rosterNames, int(v)) }
func (v StopWhen) String() string     { return enumName(stopWhenNames, int(v)) }

func (v Fill) MarshalText() ([]byte, error) { return []byte(v.String()), nil }
func (v *Fill) UnmarshalText(b []byte) error {
	n, err := enumValue(fillNames, string(b))
	*v = Fill(n)
	return err
}

func enumName(names []string, v int) string {
	if v < len(names) && names[v] != "" {
		return names[v]
	}
	return fmt.Sprintf("unknown(%d)", v)
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
