package adafl

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/zofl/zofl/papers/attack"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// fleet runs ZO-AdaFL or FedZO with the production code, for all seeds. Both have the same
// number of steps and directions: with FedZO's own P of 20, a record of 50 clients would
// exceed the limit of a relay.
func (x *trial) fleet(s *set, m method, k uint32, asked int,
	rounds uint64) (*curve, error) {
	preset := "zo-adafl"
	if m == fedZO {
		preset = "fedzo"
	}
	t := &lab.Training{
		Name: fmt.Sprintf("%s-%s-k%d-m%d", s.tag, m.tag, k, asked), Preset: preset,
		Clients: clients, Asked: asked, Rounds: rounds, Task: s.task(), Every: x.size.every,
		Shares: func(seed uint64) ([][]int, error) { return s.shares(seed), nil },
		Set: func(p *plan.Plan) {
			p.Steps, p.Perturbations, p.Mu, p.Batch = k, 1, mu, batch
		},
	}
	results, err := x.Env.Train(x.Ctx, id, t, x.size.seeds)
	x.add(results)
	return &curve{method: m, results: results}, err
}

// best simulates a baseline with each step size, and returns the one with the least attack
// loss and distortion.
func (x *trial) best(s *set, m method, steps []float64) (*curve, error) {
	var best *curve
	least := math.Inf(1)
	for _, step := range steps {
		c := &curve{method: m, step: step}
		for seed := uint64(1); seed <= uint64(x.size.seeds); seed++ {
			r, err := x.simulate(s, c, seed)
			c.results = append(c.results, r)
			if err != nil {
				x.add(c.results)
				return c, err
			}
		}
		x.add(c.results)
		loss := c.at(loss, x.size.rounds) + balance*c.at(distortion, x.size.rounds)
		if best == nil || loss < least {
			best, least = c, loss
		}
	}
	return best, nil
}

// A state is the saved state of a simulation after some rounds.
type state struct {
	Points  []run.Point
	Vectors [][]float32
}

// simulate runs a baseline with one seed, and continues from the state that an earlier run saved.
func (x *trial) simulate(s *set, c *curve, seed uint64) (*run.Result, error) {
	f := attack.Fleet{
		Loss: s.target.Loss, Dim: s.target.Dim(), Shares: s.shares(seed), Batch: batch,
		Mu: mu, Step: c.step, Seed: seed, Workers: workers,
	}
	b := x.baseline(c.method, f)
	curve := &run.Curve{Name: fmt.Sprintf("%s-%s-eta%g", s.tag, c.tag, c.step), Seed: seed,
		Metrics: metrics}
	file := ""
	if x.Env.Dir != "" {
		file = filepath.Join(x.Env.Dir, id,
			fmt.Sprintf("%s-%d-of-%d.gob", curve.Name, seed, x.size.rounds))
	}
	if err := restore(file, curve, b); err != nil {
		return nil, err
	}
	progress := x.Env.Progress(&lab.Training{Rounds: x.size.rounds})
	for curve.Last() < x.size.rounds {
		if err := x.Ctx.Err(); err != nil {
			return &run.Result{Curve: curve, Params: b.X()}, err
		}
		p := run.Point{Round: curve.Last() + 1, TrainLoss: math.NaN()}
		start := time.Now()
		b.Round(p.Round)
		p.Queries, p.Seconds = p.Round*b.Queries(), time.Since(start).Seconds()
		if p.Round%x.size.every == 0 || p.Round == x.size.rounds {
			p.Values = s.measure(b.X())
		}
		curve.Points = append(curve.Points, p)
		if p.Values == nil {
			continue
		}
		progress(curve)
		if err := keep(file, curve, b); err != nil {
			return nil, err
		}
	}
	curve.Ended = wire.EndRounds.String()
	return &run.Result{Curve: curve, Params: b.X()}, nil
}

// baseline returns a baseline method that averages H estimates for a gradient. H is the number of
// steps of a fleet's client, so that with 50 clients a round of the baseline takes as many losses
// as a round of the fleet.
func (x *trial) baseline(m method, f attack.Fleet) attack.Baseline {
	f.Mean = int(x.size.k)
	if m == zones {
		return attack.NewZONES(f)
	}
	f.Mean = max(f.Mean*x.size.among/clients, 1)
	return attack.NewDZOPA(f)
}

// restore sets curve and b to the saved values, if there are any.
func restore(file string, curve *run.Curve, b attack.Baseline) error {
	if file == "" {
		return nil
	}
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	var kept state
	if err := gob.NewDecoder(f).Decode(&kept); err != nil {
		return fmt.Errorf("%s: %w: remove it to begin again", file, err)
	}
	state := b.State()
	if len(kept.Vectors) != len(state) || len(state[0]) != len(kept.Vectors[0]) {
		return fmt.Errorf("%s: it is of another number of clients: remove it to begin again", file)
	}
	curve.Points = kept.Points
	for i, v := range kept.Vectors {
		copy(state[i], v)
	}
	return nil
}

// keep saves a simulation to a file, atomically.
func keep(file string, curve *run.Curve, b attack.Baseline) error {
	if file == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.Create(file + ".new")
	if err != nil {
		return err
	}
	err = gob.NewEncoder(f).Encode(state{curve.Points, b.State()})
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
