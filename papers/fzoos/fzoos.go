package fzoos

import (
	"cmp"
	"fmt"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
)

// These constants are the settings of FZooS's appendix G: N, rounds and local steps of each
// problem, and Q = 20 directions with a difference of 0.01 in a box of side 1. Where the appendix
// gives no value, they are the settings of the paper's code. Only the code says how many queries
// a client makes around a round's x: it takes 50 of 200 points, in a cube of another size. Here a
// client makes 5 such queries, and 20 in another comparison.
const (
	clients = 5
	dim     = 300
	rounds  = 50
	steps   = 10
)

// Experiments returns the experiments of FZooS's section 5 and appendix H.
func Experiments() []lab.Experiment {
	const paper = "FZooS, "
	list := []lab.Experiment{
		{ID: "fzoos-quadratic",
			Title: "quadratic functions that differ by C: FZooS, FedZO, FedProx, SCAFFOLD I and II",
			Paper: paper + "figure 1", Long: "some 2 hours"},
		{ID: "fzoos-local-updates", Title: "the same with 5, 10 and 20 local steps",
			Paper: paper + "figure 4", Long: "an hour"},
		{ID: "fzoos-features", Title: "FZooS with 100, 1,000 and 10,000 random features",
			Paper: paper + "figure 5a", Long: "some 2 hours"},
		{ID: "fzoos-ablation", Title: "FZooS with other corrections", Paper: paper + "figure 5b",
			Long: "some 5 hours"},
		{ID: "fzoos-disparity", Title: "cosine of each local step's gradient with that of F",
			Paper: paper + "figure 3", Long: "some 10 minutes"},
		{ID: "fzoos-attack-mnist", Title: "attack on ten models of MNIST, each of P * 10 classes",
			Paper: paper + "figure 7", Long: "some 30 hours"},
		{ID: "fzoos-metric-covtype", Title: "precision, recall, F1 and Jaccard index of an MLP " +
			"on Covertype", Paper: paper + "figures 8 to 12", Takes: []string{"arm"},
			Long: "some 40 hours; --arm takes fzoos, fzoos-l, fzoos-w, or fz, fz-l, fz-w with --short, " +
				"and a, a-p, a-1, a-2"},
	}
	runs := []func(*boxRun) error{
		(*boxRun).quadratic, (*boxRun).localUpdates, (*boxRun).features, (*boxRun).ablation,
		(*boxRun).disparity, (*boxRun).attack, (*boxRun).metrics,
	}
	for i := range list {
		list[i].Do = func(t *lab.Trial) error {
			return runs[i](&boxRun{Trial: t, size: sizeOf(t.Env)})
		}
	}
	return list
}

// A size says which parts of the experiments a trial runs. The fields for FZooS itself are
// smaller than in the paper, because a local step of FZooS takes as long as thousands of queries
// of these problems.
type size struct {
	name     string   // of FZooS, for names of runs
	method   []string // fields of FZooS's plan
	window   string   // another one, of fzoos-metric-covtype
	rounds   uint64   // of the quadratic's main comparison
	fewer    uint64   // of its variations and the other problems; 0: the paper's
	c        []float64
	features []string  // of fzoos-features
	sgd      []float32 // steps of the baselines with the plain rule
	calm     []float32 // steps of FZooS, whose gradients have less noise
	portions []float64 // P
	steps    []uint32  // values of T
	images   int
	rows     int // Covertype's rows per client
	scores   int // number of scores
	seeds    int
}

// sizeOf returns the size for an environment. A client in the paper uses all its points; here a
// client uses only its latest 1,000 points. In a short experiment, a client uses 300 points, and
// 2,000 features instead of 10,000 unless the experiment varies the number of features.
func sizeOf(e *lab.Env) size {
	s := size{
		rounds: rounds, c: []float64{5, 50, 0.5}, features: []string{"100", "1000", "10000"},
		sgd: []float32{0.003, 0.03, 0.1, 0.3}, calm: []float32{0.03, 0.1, 0.3, 1},
		portions: []float64{0.3, 0.5, 0.7}, steps: []uint32{5, 10, 20},
		images: 15, rows: 1000, scores: 4, name: "fzoos", method: []string{"around=5", "window=1000"},
		window: "300",
	}
	if e.Short {
		s.name, s.method = "fz", []string{"around=5", "window=300", "features=2000"}
		s.window = "100"
		s.fewer, s.portions, s.images, s.rows, s.scores = 15, []float64{0.7}, 6, 250, 1
	}
	if e.Seeds > 0 {
		s.images = e.Seeds // they are the attack's seeds
	}
	s.seeds = e.SeedsOr(5)
	return s
}

// few returns the number of rounds for the parts of the experiments that are shorter than in the
// paper.
func (s *size) few(paper uint64) uint64 {
	return cmp.Or(s.fewer, paper)
}

// fzoos returns the method.
func (s *size) fzoos() contest.Method {
	return contest.Method{Name: s.name, Title: "FZooS", Preset: "fzoos", Set: s.method}.At(0.01)
}

// baselines are the methods with which the experiments compare FZooS. The baselines use the
// paper's local rule: Adam, reset in each round.
var baselines = func() []contest.Method {
	plain := contest.Method{Name: "a", Title: "FedZO", Preset: "fedzo-dense", Set: []string{
		"distribution=normal", "difference=forward", "perturbations=20", "mu=0.01", "batch=0",
		"rule=adam", "beta=0.9", "beta2=0.999", "epsilon=1e-8",
	}}.At(0.01)
	return []contest.Method{
		plain,
		plain.With("a-p", "FedProx", "prox=1"),
		plain.With("a-1", "SCAFFOLD I", "control=scaffold-1"),
		plain.With("a-2", "SCAFFOLD II", "control=scaffold-2"),
	}
}()

// plainRule makes a method use plain gradient steps, without momentum or Adam.
var plainRule = []string{"rule=sgd", "beta=0", "beta2=0", "epsilon=0"}

// plainSteps returns baselines with the plain rule and several step sizes to choose from.
func plainSteps(list []contest.Method, steps []float32) []contest.Method {
	return lab.Each(list, func(c contest.Method) contest.Method {
		return c.With("s"+c.Name[1:], c.Title+", SGD", plainRule...).At(steps...)
	})
}

// key returns the name of a run, from short names of the problem and the method.
func key(problem string, c *contest.Method, step float32) string {
	return contest.Padded(fmt.Sprintf("%s-%s-%s", problem, c.Name, lab.Token(step)))
}
