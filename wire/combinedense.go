package wire

import "fmt"

// denseRefusals are those of vectors that travel whole, and of what only they allow.
var denseRefusals = []refusal{
	{"dense_keep", func(p *Plan) bool { return (p.Transport == DenseVectors) != (p.DenseKeep > 0) },
		fmt.Sprintf("only transport=dense has vectors beside its records, and there say of how many records they are kept; %d is usual", DefaultDenseKeep)},
	{"dense_keep", func(p *Plan) bool { return p.Transport == DenseVectors && p.DenseKeep < 2 },
		"a device that comes late needs the last vector of each phase: choose at least 2"},
	{"dim", func(p *Plan) bool { return p.Transport == DenseVectors && p.Object(0) > MaxDense },
		fmt.Sprintf("with transport=dense every device sends a vector of that size a round, and the limit is %d elements: share directions with transport=mean", MaxDense)},
	{"transport", func(p *Plan) bool { return p.Transport == DenseVectors && p.Private() },
		"dense shows the coordinator every device's model, which a secret run key is to keep from it: use transport=mean or relay, or a public run key"},
	{"transport", func(p *Plan) bool { return p.Transport == DenseVectors && p.Pool > 0 },
		"a pool's state is its coefficients, and dense replaces x whole: set transport=mean, or pool=0"},
	{"transport", func(p *Plan) bool { return p.Transport == DenseVectors && p.Distribution == Subspace },
		"a subspace is of the last moves, and who catches up by the last vector saw none of them: set transport=mean or relay, or another distribution"},
	{"server_rule", func(p *Plan) bool { return p.Transport == DenseVectors && p.ServerRule != ServerMean },
		"what a server rule keeps follows from every move of the run, and who catches up by the last vector saw none of them: set server_rule=mean, or transport=mean or relay"},
	{"aggregator", func(p *Plan) bool { return p.Transport == DenseVectors && p.Aggregator != WeightedMean },
		"only a mean can be made of vectors as they come, without holding all of them: set aggregator=weighted-mean, or transport=mean"},
	{"precision", func(p *Plan) bool { return p.Transport == DenseVectors && p.Precision != Single },
		"halves would round the model itself: set precision=single, or transport=mean or relay"},

	{"rule", func(p *Plan) bool { return p.Rule == LocalAdam && p.Transport != DenseVectors },
		"a mean of models that adam moved follows from no mean of scalars: set transport=dense, or server_rule=adam with rule=sgd"},
	{"beta2", func(p *Plan) bool { return (p.Rule == LocalAdam) != (p.Beta2 > 0) || p.Beta2 >= 1 },
		"adam has one above 0 and below 1, other rules none; 0.999 is usual"},
	{"epsilon", func(p *Plan) bool { return (p.Rule == LocalAdam) != (p.Epsilon > 0) },
		"adam has one above 0, other rules none; 1e-8 is usual"},
	{"boxes", func(p *Plan) bool { return len(p.Boxes) > 0 && p.Transport != DenseVectors },
		"a mean of models that were kept in a box follows from no mean of scalars: set transport=dense, or no boxes"},
}

// surrogateRefusals are those of estimator=surrogate.
var surrogateRefusals = []refusal{
	{"estimator", func(p *Plan) bool { return p.Estimator == Surrogate && p.Transport != DenseVectors },
		"a surrogate's steps are along no directions that others could make again: set transport=dense, or estimator=differences"},
	{"control", func(p *Plan) bool { return p.Estimator == Surrogate && p.Control != NoControl },
		"a surrogate has a correction of its own: set control=none, or estimator=differences"},
	{"perturbations", func(p *Plan) bool { return p.Estimator == Surrogate && p.MaxPerturbations() != 1 },
		"a surrogate probes no directions, its queries are active and around: set 1, and no schedule of others"},
	{"sharing", func(p *Plan) bool { return p.Estimator == Surrogate && p.Sharing == PerClient },
		"a surrogate probes no directions: set sharing=shared"},
	{"features", func(p *Plan) bool { return (p.Estimator == Surrogate) != (p.Features > 0) },
		"estimator=surrogate has random features, above 0, others none; FZooS takes 10000"},
	{"length_scale", func(p *Plan) bool { return (p.Estimator == Surrogate) != (p.LengthScale > 0) },
		"estimator=surrogate has one above 0, others none; FZooS takes 1 in boxes of side 1"},
	{"noise", func(p *Plan) bool { return (p.Estimator == Surrogate) != (p.Noise > 0) },
		"estimator=surrogate has one above 0, others none; 1e-6 for losses that repeat exactly"},
	{"window", func(p *Plan) bool { return (p.Estimator == Surrogate) != (p.Window > 1) },
		"estimator=surrogate knows 2 losses or more, others none; 1000 is usual"},
	{"active", func(p *Plan) bool { return p.Active > p.Candidates },
		"the active queries are chosen among the candidates: choose at most as many; FZooS takes 5 of 100"},
	{"around", func(p *Plan) bool { return p.Around > p.Candidates },
		"the queries around x are chosen among the candidates: choose at most as many"},
	{"radius", func(p *Plan) bool { return (p.Candidates > 0) != (p.Radius > 0) },
		"candidates are of a cube of this half side, above 0; FZooS takes 0.01 in boxes of side 1"},
	{"heterogeneity", func(p *Plan) bool { return (p.Correction == CorrectionTheory) != (p.Heterogeneity > 0) },
		"correction=theory has G above 0, others none"},
	{"kernel", func(p *Plan) bool { return p.Estimator != Surrogate && p.Kernel != SquaredExponential },
		"only estimator=surrogate has one: set it, or leave this"},
	{"window_of", func(p *Plan) bool { return p.Estimator != Surrogate && p.WindowOf != Latest },
		"only estimator=surrogate has one: set it, or leave this"},
	{"candidates", func(p *Plan) bool { return p.Estimator != Surrogate && p.Candidates != 0 },
		"only estimator=surrogate chooses its queries: set it, or this to 0"},
	{"correction", func(p *Plan) bool { return p.Estimator != Surrogate && p.Correction != CorrectionInverse },
		"only estimator=surrogate has one: set it, or leave this"},
	{"correction_at", func(p *Plan) bool { return p.Estimator != Surrogate && p.CorrectionAt != AtIterate },
		"only estimator=surrogate has one: set it, or leave this"},
}

// checkBoxes wants a box for each segment, or one for all, of two different ends.
func (p *Plan) checkBoxes() error {
	if n := len(p.Boxes); n > 1 && n != len(p.Segments) {
		return &PlanError{"boxes", n, fmt.Sprintf("give one for each of the %d segments, or one for all", len(p.Segments))}
	}
	for _, b := range p.Boxes {
		if side := b.High - b.Low; !(side > 0) || side-side != 0 || b.Low-b.Low != 0 {
			return &PlanError{"boxes", b, "let low be below high, both finite"}
		}
	}
	return nil
}
