package fzoos

import (
	"fmt"
	"math"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/blackbox"
	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
)

// disparitySteps is T of figure 3. The runs make one more step, because the first query of a step
// shows where the previous step ended.
const disparitySteps = 20

// A lookout observes local steps. The first query of a step is at the local iterate, and with the
// plain rule the iterate moves by -eta g. So two consecutive iterates give g, except for elements
// that the box limits. With Adam's rule, two iterates would not give g.
type lookout struct {
	q    *blackbox.Quadratic
	seen []glimpse   // of each client
	sums [][]float64 // of each client: sums of the cosines of each local step
	n    [][]int
}

// A glimpse is the last local iterate of a client that the lookout saw.
type glimpse struct {
	n    uint64 // record being made
	step int
	x    []float32
}

func newLookout(q *blackbox.Quadratic) *lookout {
	l := &lookout{q: q, seen: make([]glimpse, q.Clients())}
	for range q.Clients() {
		l.sums = append(l.sums, make([]float64, disparitySteps))
		l.n = append(l.n, make([]int, disparitySteps))
	}
	return l
}

// asked receives every query before a client makes it. Several clients call asked at the same
// time, each with its own sample.
func (l *lookout) asked(x []float32, samples []int, b objective.Batch) {
	i := samples[0]
	was := &l.seen[i]
	if was.x != nil && was.n == b.N && was.step == b.Step {
		return // not the first of the step
	}
	if was.x != nil && was.n == b.N && was.step == b.Step-1 && was.step < disparitySteps {
		l.sums[i][was.step] += l.cosine(was.x, x)
		l.n[i][was.step]++
	}
	*was = glimpse{b.N, b.Step, append(was.x[:0], x...)}
}

// cosine returns the cosine of the angle between b - a and the negative gradient of F at a.
func (l *lookout) cosine(a, b []float32) float64 {
	g := make([]float64, len(a))
	l.q.MeanGradient(g, a)
	var ab, aa, bb float64
	for j, v := range g {
		move := float64(a[j]) - float64(b[j])
		ab, aa, bb = ab+v*move, aa+v*v, bb+move*move
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// means returns, for each local step, the mean cosine over clients and rounds. If cumulative is
// set, the mean is also over all earlier local steps.
func (l *lookout) means(cumulative bool) []float64 {
	out, sum, n := make([]float64, disparitySteps), 0.0, 0
	for t := range out {
		if !cumulative {
			sum, n = 0, 0
		}
		for i := range l.sums {
			sum, n = sum+l.sums[i][t], n+l.n[i][t]
		}
		out[t] = sum / float64(n)
	}
	return out
}

// disparity makes figure 3: C = 5, and all methods with the plain rule and the same step size. At
// the start, a step of this size moves x as far as a step of Adam with step size 0.01.
func (x *boxRun) disparity() error {
	const step, most = 0.1, 5
	rounds := min(most, x.size.few(most))
	x.Report.Figure = chart.Chart{Title: x.Report.ID, X: "local step",
		Y: "cosine with the gradient of F, mean so far"}
	x.Report.Table.Columns = []string{"method", "local_step", "cosine", "cosine_so_far"}
	ours := x.size.fzoos()
	list := []contest.Method{ours.With("fzoos-s", "FZooS", plainRule...)}
	for _, c := range baselines {
		list = append(list, c.With("s"+c.Name[1:], c.Title, plainRule...))
	}
	var ends, at []float64
	var text []string
	for _, c := range list {
		each, sofar, queries, err := x.watched(c, step, rounds)
		if err != nil {
			return err
		}
		s := chart.Line{Name: c.Title}
		for t := range each {
			x.Report.Table.Add(c.Title, t+1, each[t], sofar[t])
			s.Add(float64(t+1), sofar[t])
		}
		x.Report.Figure.Lines = append(x.Report.Figure.Lines, s)
		ends, at = append(ends, sofar[disparitySteps-1]), append(at, each[0], each[disparitySteps-1])
		text = append(text,
			fmt.Sprintf("%s %.3f (step 1 %.3f, step %d %.3f; %.0f queries a step)", c.Title,
				sofar[disparitySteps-1], each[0], disparitySteps, each[disparitySteps-1], queries))
		x.Env.Say("%s", text[len(text)-1])
	}
	x.claimDisparity(ends, at, text)
	return nil
}

func (x *boxRun) claimDisparity(ends, at []float64, text []string) {
	least := true
	for _, v := range ends[1:] {
		least = least && ends[0] > v
	}
	x.Report.Claim(least, "C=5: FZooS's steps are nearer to the gradient of F than any other's",
		"mean cosine of %d local steps: %v", disparitySteps, text)
	x.Report.Claim(at[0] > at[1], "C=5: FZooS's get worse from step to step",
		"%.3f, then %.3f", at[0], at[1])
}

// watched runs a method, and returns the cosines of the method's local steps and the number of
// queries of a local step.
func (x *boxRun) watched(c contest.Method, step float32, rounds uint64) (each, sofar []float64,
	queries float64, err error) {
	each, sofar = make([]float64, disparitySteps), make([]float64, disparitySteps)
	for seed := uint64(1); seed <= uint64(x.size.seeds); seed++ {
		t := x.quadraticTask(5, disparitySteps+1, rounds)
		t.name += "w"
		one, err := t.training(&c, step, seed)
		if err != nil {
			return nil, nil, 0, err
		}
		q, err := quadraticOf(5, seed)
		if err != nil {
			return nil, nil, 0, err
		}
		l := newLookout(q)
		one.Task.Asked = l.asked
		// A run that is read from a log makes no queries, so this run has no log.
		e := &lab.Env{Logf: x.Env.Logf, Screen: x.Env.Screen}
		r, err := e.TrainOne(x.Ctx, x.Report.ID, one, seed)
		if err != nil {
			return nil, nil, 0, err
		}
		for t, v := range l.means(false) {
			each[t] += v / float64(x.size.seeds)
		}
		for t, v := range l.means(true) {
			sofar[t] += v / float64(x.size.seeds)
		}
		queries = perStep(r, one)
	}
	return each, sofar, queries, nil
}

// perStep returns the number of queries of a client per local step, including the queries at the
// end of each round.
func perStep(r *run.Result, one *lab.Training) float64 {
	last := r.Curve.Points[len(r.Curve.Points)-1]
	return float64(last.Queries) / float64(last.Round) / float64(one.Clients) / (disparitySteps + 1)
}
