package device

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// Lag measures Table 1 of DeComFL, with M = 100 clients, of which m = 10 take part in a round.
func Lag() lab.Experiment {
	return lab.Experiment{
		ID: "decomfl-lag", Title: "scalars and bytes a round, and what a client gets that was away",
		Paper: "DeComFL, section 4.2 and Table 1", Long: "a minute",
		Do: func(t *lab.Trial) error {
			t.Report.Table.Columns = []string{"K", "P", "d", "missed_rounds", "scalars_up",
				"scalars_down", "bytes_up", "bytes_down"}
			t.Report.Figure = chart.Chart{Title: "DeComFL: what a client gets that was away",
				X: "missed rounds", Y: "bytes"}
			x := &lagRun{t}
			if err := x.rounds(); err != nil {
				return err
			}
			return x.away()
		},
	}
}

// A lagRun is a running experiment.
type lagRun struct{ *lab.Trial }

const (
	lagSmall, lagLarge = 1_000, 30_000 // d
	lagRounds          = 110
	lagClients         = 100
	lagAsked           = 10 // in a round
)

// quadratic is a cheap task that ignores its samples.
func quadratic(dim int) run.Task {
	return run.Task{
		Dim: dim,
		Loss: func(x []float32, samples []int) float64 {
			sum := 0.0
			for i, v := range x {
				e := float64(v) - float64((i+samples[0])%5)
				sum += e * e
			}
			return sum / float64(len(x))
		},
	}
}

// train runs R rounds with k local steps and p perturbations on d parameters.
func (x *lagRun) train(k, p uint32, d int, rounds uint64) (*run.Result, error) {
	x.Env.Say("decomfl-lag: K=%d, P=%d, d=%d, %d rounds", k, p, d, rounds)
	env := *x.Env
	env.Dir, env.Logf = "", nil // it takes seconds, and the log is read afterwards
	results, err := env.Train(x.Ctx, x.Report.ID, &lab.Training{
		Name: "lag", Preset: "decomfl", Clients: lagClients, Asked: lagAsked, Rounds: rounds,
		Task:   quadratic(d),
		Shares: func(uint64) ([][]int, error) { return lagShares(), nil },
		Set: func(plan *plan.Plan) {
			plan.Steps, plan.Perturbations = k, p
			plan.Diverge = 0 // the course of the loss does not matter
		},
	}, 1)
	if err != nil {
		return nil, err
	}
	return results[0], nil
}

func lagShares() [][]int {
	shares := make([][]int, lagClients)
	for i := range shares {
		shares[i] = []int{i}
	}
	return shares
}

// rounds adds the claims about the traffic of a round.
func (x *lagRun) rounds() error {
	const rounds = 20
	up, down := true, true
	var ups, downs, sizes []string
	var bytes [2]float64 // of a round at K=1, P=10, by d
	for _, s := range []struct{ k, p, d int }{{1, 10, lagSmall}, {1, 10, lagLarge},
		{4, 10, lagSmall}, {1, 40, lagSmall}, {10, 1, lagSmall}} {
		r, err := x.train(uint32(s.k), uint32(s.p), s.d, rounds)
		if err != nil {
			return err
		}
		t := r.Totals
		gotUp, gotDown := float64(t.Up.Scalars)/rounds, float64(t.Down.Scalars)/rounds
		up = up && gotUp == float64(lagAsked*s.k*s.p)
		down = down && gotDown <= float64(2*lagClients*s.k*s.p)
		of := fmt.Sprintf("K=%d, P=%d, d=%d", s.k, s.p, s.d)
		ups = append(ups, fmt.Sprintf("%s: %g", of, gotUp))
		downs = append(downs, fmt.Sprintf("%s: %g of %d", of, gotDown, 2*lagClients*s.k*s.p))
		upBytes, downBytes := float64(t.Up.Bytes)/rounds, float64(t.Down.Bytes)/rounds
		if s.k == 1 && s.p == 10 {
			bytes[len(sizes)] = upBytes + downBytes
			sizes = append(sizes, fmt.Sprintf("d=%d: %.0f B up from %d clients, %.0f B down to %d",
				s.d, upBytes, lagAsked, downBytes, lagClients))
		}
		x.Report.Table.Add(s.k, s.p, s.d, 0, gotUp, gotDown, upBytes, downBytes)
	}
	x.Report.Claim(up, "uplink: mKP scalars a round", "%s", strings.Join(ups, "; "))
	x.Report.Claim(down, "downlink: at most 2MKP scalars a round", "%s: no seed travels",
		strings.Join(downs, "; "))
	x.Report.Claim(bytes[1] < 1.01*bytes[0], "the traffic of a round does not depend on d", "%s",
		strings.Join(sizes, "; "))
	return nil
}

// away adds the claims about the traffic of a client that missed rounds.
func (x *lagRun) away() error {
	const k, p = 1, 10
	r, err := x.train(k, p, lagSmall, lagRounds)
	if err != nil {
		return err
	}
	holds, linear := true, chart.Line{Name: "received"}
	var texts []string
	for _, missed := range []uint64{1, 10, 44, 100} {
		t, err := absence(x.Ctx, r, lagSmall, missed)
		if err != nil {
			return fmt.Errorf("a client that missed %d rounds: %w", missed, err)
		}
		holds = holds && t.Scalars <= 2*missed*k*p
		texts = append(texts, fmt.Sprintf("%d rounds: %d scalars of %d, %d B with all overhead",
			missed, t.Scalars, 2*missed*k*p, t.Bytes))
		x.Report.Table.Add(k, p, lagSmall, missed, 0, t.Scalars, 0, t.Bytes)
		linear.Add(float64(missed), float64(t.Bytes))
	}
	x.Report.Figure.Lines = []chart.Line{linear}
	x.Report.Claim(holds, "a client that missed h rounds gets at most 2hKP scalars",
		"K=%d, P=%d: %s", k, p, strings.Join(texts, "; "))
	return nil
}
