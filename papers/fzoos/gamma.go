package fzoos

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/blackbox"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/reference"
)

// Gamma compares correction lengths of FZooS (5). A device cannot compute all of these: the
// length of Corollary 1 needs rho, and the length of Proposition B.1 needs the gradient of F. So
// the experiment simulates FZooS with package reference, in float64.
func Gamma() lab.Experiment {
	return lab.Experiment{
		ID:    "fzoos-gamma",
		Title: "correction lengths: 1/t, Corollaries 1 and E.1, Proposition B.1, on quadratics",
		Paper: "FZooS, section 4, appendices B.2 and E.3",
		Long:  "ten minutes a seed on a core",
		Do:    func(t *lab.Trial) error { return (&gammaRun{t, gammaSizeOf(t.Env)}).all() },
	}
}

// A gammaSize is the size of the problems and of FZooS.
type gammaSize struct {
	dim, window, features, rounds, seeds int
	c                                    []float64
}

func gammaSizeOf(e *lab.Env) gammaSize {
	s := gammaSize{dim, 300, 2000, 15, e.SeedsOr(1), []float64{0.5, 5, 50}}
	if e.Short {
		s.dim, s.window, s.features, s.rounds = 60, 60, 600, 8
	}
	return s
}

// A client makes gammaQueries queries around each x. In each coordinate, the distance of a query
// from x is normal with the standard deviation gammaRadius.
const gammaQueries, gammaRadius = 5, 0.01

// A gammaArm is a correction length.
type gammaArm struct {
	name, title string
	of          func(*gammaFleet) func(reference.Step) float64
}

// gammaArms are the correction lengths to compare. Two arms take the ends of the range that
// theorem 1 allows for rho: 1 and nearly 0.
var gammaArms = []gammaArm{
	{"1/t", "1/t", func(*gammaFleet) func(reference.Step) float64 { return reference.Inverse }},
	{"0", "0", func(*gammaFleet) func(reference.Step) float64 { return never }},
	{"1", "1", func(*gammaFleet) func(reference.Step) float64 { return reference.Always }},
	{"c1", "Corollary 1, rho 1", func(f *gammaFleet) func(reference.Step) float64 {
		return f.bound(1)
	}},
	{"c1s", "Corollary 1, rho 0", func(f *gammaFleet) func(reference.Step) float64 {
		return f.bound(0)
	}},
	{"e1", "Corollary E.1", func(f *gammaFleet) func(reference.Step) float64 {
		return reference.Theory(f.g, f.Posterior, clients, len(f.B))
	}},
	{"b1", "Proposition B.1", func(f *gammaFleet) func(reference.Step) float64 {
		return reference.Best(f.gradient)
	}},
}

func never(reference.Step) float64 { return 0 }

// A gammaFleet is FZooS on a quadratic, in coordinates of its box.
type gammaFleet struct {
	*reference.FZooS
	q   *blackbox.Quadratic
	g   float64 // the clients' heterogeneity
	rng *rand.Rand
	s   *reference.FZooSState
}

func newGammaFleet(c float64, size gammaSize, seed uint64) (*gammaFleet, error) {
	q, err := blackbox.NewQuadratic(blackbox.QuadraticConfig{Dim: size.dim, Clients: clients,
		C: c, Seed: seed})
	if err != nil {
		return nil, err
	}
	f := &gammaFleet{q: q, g: heterogeneityOf(q), rng: rand.New(rand.NewPCG(seed, 0x67616d6d61))}
	random := reference.Random{L: 1}
	for range size.features {
		random.V = append(random.V, f.normals(1))
		random.B = append(random.B, 2*math.Pi*f.rng.Float64())
	}
	f.FZooS = &reference.FZooS{
		Posterior: reference.Posterior{L: 1, Noise: 1e-6, Mean: true}, Random: random, Dim: size.dim,
		K: steps, Eta: 0.01, Window: size.window, Domain: reference.Unit(size.dim),
		Origin: make([]float64, size.dim),
		Local: reference.Optimizer{Kind: reference.AdamKingma, Beta: 0.9, Beta2: 0.999,
			Epsilon: 1e-8},
	}
	start := make([]float64, size.dim)
	for i := range start {
		start[i] = f.rng.Float64()
	}
	f.s = f.NewState(start)
	return f, nil
}

// normals returns a vector of normal numbers with this standard deviation.
func (f *gammaFleet) normals(deviation float64) []float64 {
	v := make([]float64, f.q.Dim())
	for i := range v {
		v[i] = deviation * f.rng.NormFloat64()
	}
	return v
}

// bound returns the correction length of Corollary 1 after the first round, for a rho of 1 or 0.
func (f *gammaFleet) bound(decay float64) func(reference.Step) float64 {
	return reference.Bound(f.g, f.Posterior, clients, len(f.B), decay)
}

// at returns the parameters x for the coordinates u, which are from 0 to 1 in the box.
func (f *gammaFleet) at(u []float64) []float32 {
	low, high := f.q.Box()
	x := make([]float32, len(u))
	for i, v := range u {
		x[i] = low + (high-low)*float32(v)
	}
	return x
}

// gradient returns the gradient of F with respect to the coordinates u.
func (f *gammaFleet) gradient(u []float64) []float64 {
	low, high := f.q.Box()
	g := make([]float64, len(u))
	f.q.MeanGradient(g, f.at(u))
	for i := range g {
		g[i] *= float64(high - low)
	}
	return g
}

// query is a [reference.Query]: it returns x and points around x, with their values.
func (f *gammaFleet) query(client int, _ reference.At, x []float64) (points [][]float64,
	y []float64) {
	for i := range 1 + gammaQueries {
		p := append([]float64(nil), x...)
		if i > 0 {
			for j, z := range f.normals(gammaRadius) {
				p[j] += z
			}
		}
		p = f.Domain.Project(p)
		points, y = append(points, p), append(y, f.q.Local(client)(f.at(p)))
	}
	return points, y
}

// round makes both phases of round r, from 0.
func (f *gammaFleet) round(r int) {
	n := uint64(2 + 2*r)
	x, w := make([]float64, f.q.Dim()), make([]float64, len(f.B))
	for client := range clients {
		addTo(x, f.Iterate(f.s, client, n, f.query))
	}
	f.s.X = x
	for client := range clients {
		addTo(w, f.Weigh(f.s, client, n+1, f.query))
	}
	f.s.W = w
}

// addTo adds one client's vector, divided by the number of clients, to mean.
func addTo(mean, v []float64) {
	for i, e := range v {
		mean[i] += e / clients
	}
}

// above returns F - F* at the round's x.
func (f *gammaFleet) above() float64 { return f.q.F(f.at(f.s.X)) - f.q.Minimum() }

// A gammaRun is a running experiment.
type gammaRun struct {
	*lab.Trial
	size gammaSize
}

// all runs FZooS with every correction length on every problem. To compare the lengths at equal
// points, all computes the disparity of each length at the steps of the run with length 1/t.
func (x *gammaRun) all() error {
	x.Report.Table.Columns = []string{"c", "length", "seed", "above_minimum", "disparity_at_1/t"}
	x.Report.Figure = chart.Chart{Title: "FZooS by correction length", X: "round", Y: lab.AboveMinimum,
		LogY: true}
	for _, c := range x.size.c {
		ends, off := make([]float64, len(gammaArms)), make([]float64, len(gammaArms))
		for seed := uint64(1); seed <= uint64(x.size.seeds); seed++ {
			var each []float64
			for i := range gammaArms {
				end, mean, err := x.follow(c, i, seed)
				if err != nil {
					return err
				}
				if i == 0 {
					each = mean
				}
				ends[i] += end / float64(x.size.seeds)
				off[i] += each[i] / float64(x.size.seeds)
				x.Report.Table.Add(c, gammaArms[i].title, seed, end, each[i])
				x.Env.Say("C=%g, seed %d, gamma %s: F - F* %.4f; disparity at the steps of 1/t %.4g",
					c, seed, gammaArms[i].title, end, each[i])
			}
		}
		x.claims(c, ends, off)
	}
	return nil
}

// follow runs FZooS with a correction length, and returns F - F* at the end. For each length,
// follow also returns the mean disparity that this length would have had at the steps of the run
// that have a correction.
func (x *gammaRun) follow(c float64, arm int, seed uint64) (end float64, off []float64, err error) {
	f, err := newGammaFleet(c, x.size, seed)
	if err != nil {
		return 0, nil, err
	}
	lengths, steps := make([]func(reference.Step) float64, len(gammaArms)), 0.0
	for i := range gammaArms {
		lengths[i] = gammaArms[i].of(f)
	}
	off = make([]float64, len(lengths))
	f.Gamma = func(s reference.Step) float64 {
		gradient := f.gradient(s.X)
		steps++
		for i, length := range lengths {
			off[i] += s.Disparity(length(s), gradient)
		}
		return lengths[arm](s)
	}
	line := chart.Line{Name: fmt.Sprintf("C=%g, %s, seed %d", c, gammaArms[arm].title, seed)}
	for r := range x.size.rounds {
		if x.Ctx.Err() != nil {
			return 0, nil, context.Cause(x.Ctx)
		}
		f.round(r)
		line.Add(float64(r+1), f.above())
	}
	x.Report.Figure.Lines = append(x.Report.Figure.Lines, line)
	for i := range off {
		off[i] /= steps
	}
	return f.above(), off, nil
}

// claims compares each length with 1/t, the first of gammaArms.
func (x *gammaRun) claims(c float64, ends, off []float64) {
	texts, least := "", math.Inf(1)
	for i, a := range gammaArms {
		texts += fmt.Sprintf("; %s %.4g, %.4f", a.title, off[i], ends[i])
		least = min(least, off[i])
	}
	figures := "disparity at the steps of 1/t, and F - F* at each one's end" + texts
	for i, a := range gammaArms {
		switch a.name {
		case "c1", "c1s":
			x.Report.Claim(off[i] < off[0] && ends[i] < ends[0],
				fmt.Sprintf("C=%g: %s is nearer to the gradient of F than 1/t, and ends lower",
					c, a.title), "%s", figures)
		case "b1":
			x.Report.Claim(off[i] <= least && ends[i] < ends[0],
				fmt.Sprintf("C=%g: %s is nearest of all, and ends lower than 1/t", c, a.title),
				"%s", figures)
		}
	}
}
