package decomfl

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
)

const paper = "DeComFL, section 5 and figure 2; the authors' code and curves"

func mnist() lab.Experiment {
	return lab.Experiment{
		ID:    "decomfl-mnist",
		Title: "accuracy, bytes and time of DeComFL on MNIST beside the official code's",
		Paper: paper,
		Long:  "an hour or two",
		Do: onMNIST(func(x *trial) error {
			return x.all(x.compare, x.diverge, x.help, x.bytes, x.time)
		}),
	}
}

// The settings at which the official code was run.
var (
	softmaxSetting = setting{name: "softmax", k: 1, p: 10, batch: 32, step: 1e-3,
		rounds: 1000, measure: 50}
	cnnSetting = setting{name: "cnn", cnn: true, k: 1, p: 10, batch: 32, step: 5e-4,
		rounds: 600, measure: 20}
	bigSetting = setting{name: "cnn-p20-b256", cnn: true, k: 1, p: 20, batch: 256,
		step: 1e-3, rounds: 100, measure: 20}
	fastSetting = setting{name: "cnn-fast", cnn: true, k: 1, p: 10, batch: 32, step: 1e-3,
		rounds: 200, measure: 20}
)

// A trial is a running experiment.
type trial struct {
	*lab.Trial
	set    *lab.Set
	curves map[string]lab.Results
}

func newTrial(t *lab.Trial) *trial {
	t.Report.Figure = chart.Chart{Title: "DeComFL on MNIST", X: "round", Y: "test accuracy"}
	return &trial{Trial: t, curves: map[string]lab.Results{}}
}

func (x *trial) load() (err error) {
	x.set, err = x.Env.MNIST()
	return err
}

// onMNIST returns an experiment that begins by loading MNIST.
func onMNIST(do func(*trial) error) func(*lab.Trial) error {
	return func(t *lab.Trial) error {
		x := newTrial(t)
		if err := x.load(); err != nil {
			return err
		}
		return do(x)
	}
}

func (x *trial) all(parts ...func() error) error {
	for _, part := range parts {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// train trains a setting once, and returns the same results to later callers.
func (x *trial) train(d setting, seeds int) (lab.Results, error) {
	if r, done := x.curves[d.name]; done {
		return r, nil
	}
	r, err := x.Env.Train(x.Ctx, x.Report.ID, d.training(x.set), seeds)
	x.curves[d.name] = r
	x.Report.AddCurves(run.Accuracy, r)
	return r, err
}

// shorter returns a setting for a short experiment.
func (x *trial) shorter(d setting, rounds uint64) setting {
	if x.Env.Short {
		d.rounds = min(d.rounds, rounds)
	}
	return d
}

// compare trains the settings at which the official code was run.
func (x *trial) compare() error {
	settings := []struct {
		setting
		official []officialRange
		at       []uint64 // rounds of the claims
		whose    string
	}{
		{x.shorter(softmaxSetting, 200), officialSoftmax,
			[]uint64{50, 100, 200, 500, 1000}, "official code"},
		{x.shorter(cnnSetting, 100), officialCNN, []uint64{100, 200}, "official code"},
		{bigSetting, publishedCNN[[2]uint32{1, 20}], []uint64{100}, "published"},
	}
	if x.Env.Short {
		settings = settings[:2]
	}
	for _, s := range settings {
		results, err := x.train(s.setting, x.Env.SeedsOr(3))
		if err != nil {
			return err
		}
		x.within(&s.setting, results, s.official, s.whose, s.at...)
	}
	return nil
}

// within adds the claim that the mean over the seeds is not below the lowest official run. A run
// that ended before the round counts as below.
func (x *trial) within(d *setting, results lab.Results, official []officialRange,
	whose string, at ...uint64) {
	line := chart.Line{Name: d.name + ", " + whose}
	for _, o := range official {
		if o.round > d.rounds {
			continue
		}
		middle := (o.low + o.high) / 2
		line.Marks = append(line.Marks,
			chart.Mark{Point: chart.Point{X: float64(o.round), Y: middle}, Title: "middle"})
		line.Ranges = append(line.Ranges, chart.Range{X: float64(o.round), Low: o.low, High: o.high})
		if len(at) > 0 && !slices.Contains(at, o.round) {
			continue
		}
		ours := results.At(run.Accuracy, o.round)
		x.Report.Claim(len(ours) == len(results) && lab.Mean(ours) >= o.low,
			fmt.Sprintf("%s: test accuracy after round %d in or above the official range", d, o.round),
			"%s of %d of %d seeds, %s %.4f-%.4f of %d",
			lab.Spread(ours), len(ours), len(results), whose, o.low, o.high, o.seeds)
	}
	x.Report.Figure.Lines = append(x.Report.Figure.Lines, line)
}

// diverge trains a setting with which the official code diverges.
func (x *trial) diverge() error {
	if x.Env.Short {
		return nil
	}
	beyond, err := x.train(cnnSetting, x.Env.SeedsOr(3))
	if err != nil {
		return err
	}
	x.guarded(&cnnSetting, beyond,
		"1 of 3 official runs diverges from round 336 on, 1 falls to 0.549 by 400")
	fast, err := x.train(fastSetting, x.Env.SeedsOr(3))
	if err != nil {
		return err
	}
	x.guarded(&fastSetting, fast, "3 of 3 official runs diverge, the first at round 92")
	return nil
}

// guarded adds the claim that no run continued after it diverged: the coordinator ended each run
// as diverged, or the run's test loss is below the loss of guessing.
func (x *trial) guarded(d *setting, results lab.Results, official string) {
	holds := len(results) > 0
	var each []string
	for _, r := range results {
		c := r.Curve
		last := c.Points[len(c.Points)-1]
		ended, _, _ := strings.Cut(c.Ended, ":")
		text := fmt.Sprintf("seed %d ended (%s) at round %d with train loss %.3g",
			c.Seed, ended, last.Round, last.TrainLoss)
		if ended != "diverged" {
			loss := c.At(run.TestLoss, last.Round)
			text += fmt.Sprintf(", test loss %.3g", loss)
			holds = holds && loss < math.Log(10)
		}
		each = append(each, text)
	}
	x.Report.Claim(holds, fmt.Sprintf("%s: no run is left to blow up", d), "%s; %s",
		strings.Join(each, "; "), official)
}
