package plan

import "github.com/zofl/zofl/internal/codec"

// ServerRule is how a replica applies a round's mean move delta = x_K - x_0 to the model. delta
// points downhill. The letters stand for fields of Plan: a is ServerStep, b1 ServerBeta1, b2
// ServerBeta2, e ServerEpsilon.
type ServerRule uint8

const (
	// ServerMean: x = x_0 + delta, the mean of the local models.
	ServerMean ServerRule = 0
	// ServerSGD: x = x_0 + a delta.
	ServerSGD ServerRule = 1
	// ServerMomentum: m = b1 m + delta, x = x_0 + a m.
	ServerMomentum ServerRule = 2
	// ServerAdam: m = b1 m + (1-b1) delta, v = b2 v + (1-b2) delta^2,
	// x = x_0 + a m/sqrt(v + e); ZO-AdaFL (2)-(4).
	ServerAdam ServerRule = 3
	// ServerAMSGrad: like ServerAdam, with the largest v so far in (4); ZO-AdaFL,
	// algorithm 1, line 16.
	ServerAMSGrad ServerRule = 4
	// ServerYogi: like ServerAdam, with v -= (1-b2) delta^2 sign(v - delta^2).
	ServerYogi ServerRule = 5
	// ServerSign: x = x_0 + a sign(delta).
	ServerSign ServerRule = 6
	// ServerNormalized: momentum of the round's mean estimate g, divided by the root of a running mean
	// of squared scalars, with decoupled decay l = Plan.ServerDecay. a is the record's StepSize. u is
	// the weighted mean square of the record's own scalars, an estimate of a contributor's
	// |gradient|^2.
	//
	//	m = b1 m + (1-b1) g,  V = b2 V + (1-b2) u,  p1 = b1 p1,  p2 = b2 p2
	//	x = (1 - l a) x - a (m/(1-p1)) / sqrt(V/(1-p2))
	//
	// V, p1 and p2 are single numbers. ServerNormalized needs plans with one local step, of rule sgd.
	ServerNormalized ServerRule = 8
	// ServerAdaGrad: like ServerAdam, with v += delta^2, so that v never decays: FedAdagrad of Reddi
	// et al., Adaptive Federated Optimization, with ZO-AdaFL's root (4).
	ServerAdaGrad ServerRule = 10 // 7 and 9 are never assigned: test vectors have them as unknown
	// ServerCMA: an evolution strategy. The scalars of a record are mean losses of its candidates,
	// points around x; the rule ranks them, and moves x, a path p, the rows of [Covariance] and
	// sigma, the distance of the candidates. StepSize is the first sigma, Perturbations the first
	// number of candidates. docs/replay.md has the operations in their order. ServerCMA needs plans
	// with [NoDifference], shared normal directions, one local step and [Mean].
	ServerCMA ServerRule = 11
)

// Steps says whether Plan.ServerStep sets the length of the rule's move. For all other rules only
// Plan.StepSize sets the length.
func (v ServerRule) Steps() bool {
	return v != ServerMean && v != ServerNormalized && v != ServerCMA
}

// Moments returns the number of vectors that the rule keeps: m, v, the largest v. The vectors of
// ServerCMA are no moments: [Plan.EvolutionVectors] counts them.
func (v ServerRule) Moments() int {
	switch v {
	case ServerMomentum, ServerNormalized:
		return 1
	case ServerAdam, ServerYogi, ServerAdaGrad:
		return 2
	case ServerAMSGrad:
		return 3
	}
	return 0
}

var serverRuleNames = []string{"mean", "sgd", "momentum", "adam", "amsgrad", "yogi", "sign",
	"", "normalized", "", "adagrad", "cma"}

func (v ServerRule) String() string { return codec.Name(serverRuleNames, int(v)) }
