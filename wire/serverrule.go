package wire

// ServerRule is how the model takes a round's mean move delta = x_K - x_0, which
// points downhill. Its letters are fields of Plan: a is ServerStep, b1 ServerBeta1, b2
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
)

// Moments returns the number of vectors that the rule keeps: m, v, the largest v.
func (v ServerRule) Moments() int {
	switch v {
	case ServerMomentum:
		return 1
	case ServerAdam, ServerYogi:
		return 2
	case ServerAMSGrad:
		return 3
	}
	return 0
}

var serverRuleNames = []string{"mean", "sgd", "momentum", "adam", "amsgrad", "yogi", "sign"}

func (v ServerRule) String() string { return enumName(serverRuleNames, int(v)) }
