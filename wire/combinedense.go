package wire

import "fmt"

// denseOnlyRefusals are those of what only vectors that travel whole allow. They come
// first, so that who asks for it hears of transport=dense.
var denseOnlyRefusals = []refusal{
	{"rule", func(p *Plan) bool { return p.Rule == LocalAdam && !p.dense() },
		setDense("a mean of models that adam moved follows from no mean of scalars", "rule=sgd beta=0 beta2=0 epsilon=0 with server_rule=adam")},
	{"boxes", func(p *Plan) bool { return len(p.Boxes) > 0 && !p.dense() },
		setDense("a mean of models that were kept in a box follows from no mean of scalars", "boxes=[]")},
	{"estimator", func(p *Plan) bool { return p.Estimator == Surrogate && !p.dense() },
		setDense("a surrogate's steps are along no directions that others could make again", "begin with another preset")},
}

// denseRefusals are those of vectors that travel whole.
var denseRefusals = []refusal{
	{"dense_keep", func(p *Plan) bool { return p.dense() && p.DenseKeep < 2 },
		fmt.Sprintf("of so many records the vectors are kept, and a device that comes late needs the last of each phase: choose at least 2; dense_keep=%d is usual", DefaultDenseKeep)},
	{"dense_keep", func(p *Plan) bool { return !p.dense() && p.DenseKeep > 0 },
		"only transport=dense has vectors beside its records: set it, or dense_keep=0"},
	{"dim", func(p *Plan) bool { return p.dense() && p.Object(0) > MaxDense },
		notDense(fmt.Sprintf("every device sends that many numbers a round, with control=scaffold-2 twice as many, and the limit is %d", MaxDense), "a smaller model")},
	{"transport", func(p *Plan) bool { return p.dense() && p.Private() },
		notDense("dense shows the coordinator every device's model, which a secret run key is to keep from it", "a public run_key and no key_check")},
	{"transport", func(p *Plan) bool { return p.dense() && p.Pool > 0 },
		notDense("a pool's state is its coefficients, and dense replaces x whole", "pool=0 rebase=0")},
	{"transport", func(p *Plan) bool { return p.dense() && p.Distribution == Subspace },
		notDense("a subspace is of the last moves, and who catches up by the last vector saw none of them", "distribution=normal subspace_moves=0 subspace_share=0")},
	{"server_rule", func(p *Plan) bool { return p.dense() && p.ServerRule != ServerMean },
		notDense("what a server rule keeps follows from every move of the run, and who catches up by the last vector saw none of them", "server_rule=mean and its numbers to 0")},
	{"aggregator", func(p *Plan) bool { return p.dense() && p.Aggregator != WeightedMean },
		notDense("only a mean can be made of vectors as they come, without holding all of them", "aggregator=weighted-mean and its number to 0")},
	{"precision", func(p *Plan) bool { return p.dense() && p.Precision != Single },
		notDense("halves would round the model itself", "precision=single")},

	{"max_scalar", func(p *Plan) bool { return p.MaxScalar < p.farthest() },
		"a model may go to the ends of its boxes, and vectors with larger elements are refused: raise it to the largest end, or let boxes end before it"},

	{"beta2", func(p *Plan) bool { return (p.Rule == LocalAdam) != (p.Beta2 > 0) || p.Beta2 >= 1 },
		"rule=adam has one above 0 and below 1, other rules none; beta2=0.999 is usual"},
	{"epsilon", func(p *Plan) bool { return (p.Rule == LocalAdam) != (p.Epsilon > 0) },
		"rule=adam has one above 0, other rules none; epsilon=1e-8 is usual"},
}

// maxFeatureElements bounds M d, the numbers that random features are made with: 1 GiB.
const maxFeatureElements = 1 << 28

// surrogateRefusals are those of estimator=surrogate, and of what only it has.
var surrogateRefusals = []refusal{
	{"control", func(p *Plan) bool { return p.Estimator == Surrogate && p.Control != NoControl },
		"a surrogate has a correction of its own: set control=none"},
	{"perturbations", func(p *Plan) bool { return p.Estimator == Surrogate && p.MaxPerturbations() != 1 },
		"a surrogate probes no directions, its queries are active and around: set perturbations=1 perturbation_schedule=[]"},
	{"sharing", func(p *Plan) bool { return p.Estimator == Surrogate && p.Sharing == PerClient },
		"a surrogate probes no directions: set sharing=shared"},

	{"kernel", func(p *Plan) bool { return p.Estimator != Surrogate && p.Kernel != SquaredExponential },
		onlySurrogate("kernel=squared-exponential")},
	{"window_of", func(p *Plan) bool { return p.Estimator != Surrogate && p.WindowOf != Latest },
		onlySurrogate("window_of=latest")},
	{"correction", func(p *Plan) bool { return p.Estimator != Surrogate && p.Correction != CorrectionInverse },
		onlySurrogate("correction=inverse")},
	{"correction_at", func(p *Plan) bool { return p.Estimator != Surrogate && p.CorrectionAt != AtIterate },
		onlySurrogate("correction_at=iterate")},
	{"candidates", func(p *Plan) bool { return p.Estimator != Surrogate && p.Candidates > 0 },
		onlySurrogate("candidates=0")},

	{"features", func(p *Plan) bool { return (p.Estimator == Surrogate) != (p.Features > 0) },
		"estimator=surrogate has random features, others features=0; FZooS takes features=10000"},
	{"features", func(p *Plan) bool { return uint64(p.Features)*p.Dim > maxFeatureElements },
		fmt.Sprintf("every device has features*dim numbers in memory, and the limit is %d: set features=1000 or so, or begin with another preset", maxFeatureElements)},
	{"length_scale", func(p *Plan) bool { return (p.Estimator == Surrogate) != (p.LengthScale > 0) },
		"estimator=surrogate has one above 0, others length_scale=0; FZooS takes length_scale=1, in boxes"},
	{"noise", func(p *Plan) bool { return (p.Estimator == Surrogate) != (p.Noise > 0) },
		"estimator=surrogate has some, others noise=0; noise=1e-6 for losses that repeat exactly"},
	{"window", func(p *Plan) bool { return p.Estimator == Surrogate && p.Window < 2 },
		"of one loss there is no slope: choose at least 2; window=300 is usual"},
	{"window", func(p *Plan) bool { return p.Estimator != Surrogate && p.Window > 0 },
		onlySurrogate("window=0")},
	{"active", func(p *Plan) bool { return p.Active > p.Candidates },
		"the queries at an iterate are chosen among the candidates: choose at most as many; FZooS takes active=5 candidates=100 radius=0.01"},
	{"around", func(p *Plan) bool { return p.Around > p.Candidates },
		"the queries at a round's x are chosen among the candidates: choose at most as many, such as around=5 candidates=100 radius=0.01"},
	{"radius", func(p *Plan) bool { return (p.Candidates > 0) != (p.Radius > 0) },
		"candidates are of a cube of this half side: with some choose one above 0, without radius=0; FZooS takes radius=0.01, in boxes"},
	{"active", func(p *Plan) bool { return p.Estimator == Surrogate && p.Active == 0 && p.Around == 0 },
		"one loss at a time shows no slope: set active=5, or around above 0, with candidates and radius"},
	{"heterogeneity", func(p *Plan) bool { return (p.Correction == CorrectionTheory) != (p.Heterogeneity > 0) },
		"correction=theory has G above 0, other corrections heterogeneity=0"},
}

func (p *Plan) dense() bool { return p.Transport == DenseVectors }

// farthest is how far from 0 boxes let parameters go; 0 without boxes.
func (p *Plan) farthest() float32 {
	most := float32(0)
	for _, b := range p.Boxes {
		most = max(most, -b.Low, b.High)
	}
	return most
}

// setDense is the remedy for what needs vectors that travel whole.
func setDense(why, other string) string {
	return fmt.Sprintf("%s: set transport=dense dense_keep=%d, or %s", why, DefaultDenseKeep, other)
}

// notDense is the remedy for what does not go with vectors that travel whole.
func notDense(why, other string) string {
	return why + ": set " + other + ", or dense_keep=0 and transport=mean, or relay if sharing=per-client"
}

// onlySurrogate is the remedy for what a surrogate has; none is its value without.
func onlySurrogate(none string) string {
	return "only estimator=surrogate has one: set it, or " + none
}

// Sides of boxes are bounded so that no product of mu or the step size with them is 0
// or infinite.
const (
	minSide float32 = 1e-12
	maxSide float32 = 1e12
)

// checkBoxes wants a box for each segment, or one for all, of two ends apart.
func (p *Plan) checkBoxes() error {
	if n := len(p.Boxes); n > 1 && n != len(p.Segments) {
		return &PlanError{"boxes", n, fmt.Sprintf("give one for each of the %d segments, or one for all", len(p.Segments))}
	}
	for _, b := range p.Boxes {
		if side := b.High - b.Low; !(side >= minSide && side <= maxSide) {
			return &PlanError{"boxes", b, "let high be above low, by 1e-12..1e12: measure the parameter in another unit"}
		}
	}
	return nil
}
