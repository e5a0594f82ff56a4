package fzoos

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/zofl/zofl/papers/blackbox"
	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// A boxTask holds a problem for each seed, and the metric that the methods minimize.
type boxTask struct {
	name   string // short, for names of runs
	draws  string // names the random draws: tasks with the same name begin alike
	title  string
	metric string
	rounds uint64
	steps  uint32 // T
	seeds  int
	random bool // x begins anywhere in the box; otherwise at 0
	// at returns the problem of a seed, and a function that measures x: it returns the metric to
	// minimize, then the other metrics.
	at      func(seed uint64) (blackbox.Problem, func(x []float32) []float64, error)
	metrics []string // names of the others
}

// training returns the training of a method with a step size on the problem of a seed. All
// methods have the same random start of x, the same directions and the same random features.
func (t *boxTask) training(c *contest.Method, step float32, seed uint64) (*lab.Training, error) {
	p, measure, err := t.at(seed)
	if err != nil {
		return nil, err
	}
	return &lab.Training{
		Name: key(t.name, c, step), Preset: c.Preset, Clients: p.Clients(),
		Asked: p.Clients(), Rounds: t.rounds,
		Every: 1, Task: boxed(p, append([]string{t.metric}, t.metrics...), measure),
		Shares: func(uint64) ([][]int, error) { return numbered(p.Clients()), nil },
		Set: func(pl *plan.Plan) {
			key := sha256.Sum256(
				binary.LittleEndian.AppendUint64([]byte("zofl black box\x00"+t.draws+"\x00"), seed))
			low, high := p.Box()
			pl.RunKey, pl.Boxes = key[:], []plan.Box{{Low: low, High: high}}
			if t.random {
				pl.Segments = []plan.Segment{
					{Name: "all", Len: pl.Dim, Fill: plan.UniformFill, Scale: high}}
			}
			c.Fields(pl, step)
			pl.Steps, pl.Batch, pl.Diverge = t.steps, 0, 0
			pl.DenseKeep = uint32(2*t.rounds) + 2 // a measurement may be rounds behind
		},
	}, nil
}

// boxed turns a problem into a task in which sample i is client i.
func boxed(p blackbox.Problem, metrics []string, measure func([]float32) []float64) run.Task {
	var local []func([]float32) float64
	for i := range p.Clients() {
		local = append(local, p.Local(i))
	}
	return run.Task{
		Dim: p.Dim(), Metrics: metrics, Measure: measure,
		Loss: func(x []float32, samples []int) float64 { return local[samples[0]](x) },
	}
}

// numbered returns shares in which each client has its own number.
func numbered(clients int) [][]int {
	shares := make([][]int, clients)
	for i := range shares {
		shares[i] = []int{i}
	}
	return shares
}
