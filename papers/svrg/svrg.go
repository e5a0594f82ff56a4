package svrg

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// Experiment tests whether ZO-SVRG does what its paper claims: an estimate whose noise vanishes
// near the minimum, where the noise of ZO-SGD stays. The problem is a sum of many losses whose
// least value is known.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    "zo-svrg",
		Title: "ZO-SVRG against plain steps on least squares: where the noise of minibatches ends",
		Paper: "ZO-SVRG (Liu et al. 2018), algorithm 2 and theorem 1; DeComFL, appendix A.1",
		Long:  "two minutes on a core",
		Do: func(t *lab.Trial) error {
			x := &trial{t, 100, t.Env.SeedsOr(3)}
			if t.Env.Short {
				x.rounds = 40
			}
			return x.all()
		},
	}
}

// The sizes of the problem and of local work. A minibatch is a hundredth of a client's samples.
const (
	dim, clients, samples       = 20, 5, 200
	steps, perturbations, batch = 10, 10, 2
)

// A leastSquares problem has the losses f_s(x) = (w_s x - y_s)^2/2 of samples s, with y_s the sum
// of w_s and noise of deviation 1.
type leastSquares struct {
	w     [][]float64
	y     []float64
	least float64 // of F, the mean over all samples
}

func newLeastSquares(seed uint64) *leastSquares {
	rng := rand.New(rand.NewPCG(seed, 0x73767267))
	q := &leastSquares{}
	for range clients * samples {
		w, y := make([]float64, dim), rng.NormFloat64()
		for i := range w {
			w[i] = rng.NormFloat64()
			y += w[i]
		}
		q.w, q.y = append(q.w, w), append(q.y, y)
	}
	rows := mat.NewDense(len(q.w), dim, nil)
	for s, w := range q.w {
		rows.SetRow(s, w)
	}
	var best mat.VecDense
	if err := best.SolveVec(rows, mat.NewVecDense(len(q.y), q.y)); err != nil {
		panic("paper: internal error: least squares: " + err.Error())
	}
	q.least = q.over(best.RawVector().Data)
	return q
}

// residual returns w_s x - y_s.
func (q *leastSquares) residual(x []float64, s int) float64 {
	sum := -q.y[s]
	for i, v := range x {
		sum += q.w[s][i] * v
	}
	return sum
}

// over returns F.
func (q *leastSquares) over(x []float64) float64 {
	sum := 0.0
	for s := range q.w {
		r := q.residual(x, s)
		sum += r * r / 2
	}
	return sum / float64(len(q.w))
}

func (q *leastSquares) task() run.Task {
	return run.Task{
		Dim: dim, Metrics: []string{lab.AboveMinimum},
		Measure: func(x []float32) []float64 { return []float64{q.over(widened(x)) - q.least} },
		Loss: func(x []float32, samples []int) float64 {
			return q.gradient(make([]float32, len(x)), x, samples)
		},
		Gradient: q.gradient,
	}
}

// gradient returns the mean loss of samples, and adds its gradient to grad.
func (q *leastSquares) gradient(grad, x []float32, samples []int) (loss float64) {
	at, n := widened(x), float64(len(samples))
	for _, s := range samples {
		r := q.residual(at, s)
		loss += r * r / (2 * n)
		for i, w := range q.w[s] {
			grad[i] += float32(r * w / n)
		}
	}
	return loss
}

func widened(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// shares deals the samples in their order.
func (q *leastSquares) shares(uint64) ([][]int, error) {
	all := make([][]int, clients)
	for s := range q.w {
		all[s%clients] = append(all[s%clients], s)
	}
	return all, nil
}

// An arm is a method, and a factor on the number of rounds.
type arm struct {
	name, title string
	preset      string
	times       uint64
	decays      bool
}

// The number of losses of single samples that a client evaluates in a round: 2P a step for each
// sample.
const (
	plainLosses = 2 * perturbations * steps * batch
	losses      = 2 * perturbations * (samples + 2*(steps-1)*batch)
)

// arms are the methods. Plain ZO-SGD also runs for as many losses of samples as ZO-SVRG
// evaluates.
var arms = []arm{
	{"sgd", "DeComFL", "decomfl", 1, false},
	{"long", "DeComFL, as many losses of samples", "decomfl", losses / plainLosses, false},
	{"cosine", "the same, its step falling to a thousandth", "decomfl",
		losses / plainLosses, true},
	{"svrg", "ZO-SVRG", "zo-svrg", 1, false},
}

// training returns a method with a step, for a seed's problem.
func (a *arm) training(q *leastSquares, step float32, rounds uint64) *lab.Training {
	rounds *= a.times
	return &lab.Training{
		Name: fmt.Sprintf("%s-%s", a.name, lab.Token(step)), Preset: a.preset, Clients: clients,
		Asked: clients, Rounds: rounds, Every: rounds / 20, Task: q.task(), Shares: q.shares,
		Set: func(p *plan.Plan) {
			p.Difference, p.Mu, p.Batch, p.Diverge = plan.Central, 1e-2, batch, 0
			p.Steps, p.Perturbations, p.StepSize = steps, perturbations, step
			if a.decays {
				p.StepDecay, p.Floor = plan.Cosine, 1e-3
			}
		},
	}
}
