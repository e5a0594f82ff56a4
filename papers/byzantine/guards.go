package byzantine

import (
	"fmt"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
)

// Guards returns the experiment in which no device lies.
func Guards() lab.Experiment {
	return lab.Experiment{
		ID:    "guards",
		Title: "what the guards against liars cost 20 honest devices, softmax on MNIST",
		Paper: "none",
		Long:  "half a minute a run, of which there are 80; a few seconds with --screen",
		Takes: []string{"rounds"},
		Do: func(t *lab.Trial) error {
			x, err := newShielded(t, "20 honest devices", 300)
			if err != nil {
				return err
			}
			x.seeds = 5
			return x.costs()
		},
	}
}

// A guardedFleet is a kind of fleet that the experiment runs without guards and with several
// guards.
type guardedFleet struct {
	split   lab.Split
	without shield
	with    []shield
}

// costly is the loss of accuracy above which a guard counts as costly.
const costly = 0.005

// guardedFleets have the guards that zofl plan sets, and the guards that docs/liars.md
// recommends. A fleet has a guard only if the guard can have an effect: a bound on claimed sample
// counts has an effect only if some devices have many more samples than others.
var guardedFleets = func() []guardedFleet {
	always := []shield{
		{name: "defaults", settings: "bound=8 claim_bound=8"},
		{name: "bound", settings: "bound=1.5"},
		{name: "trust", settings: "bound=1.5 trust=100"},
	}
	none := shield{name: "mean"}
	samples := shield{name: "samples", settings: "weights=samples"}
	claims := []shield{{name: "claims", settings: "weights=samples claim_bound=8"}}
	return []guardedFleet{
		{lab.Splits[0], none, always},
		{lab.Splits[1], none, always},
		{rich("ri", "IID", lab.Splits[0].Deal), samples, claims},
		{rich("rd", "Dirichlet 0.1", lab.Splits[1].Deal), samples, claims},
	}
}()

// In a rich split the first richDevices devices keep all their samples, the others a twentieth.
const (
	richDevices = 2
	poorShare   = 20
)

func rich(name, title string, deal func([]uint8, int, uint64) ([][]int, error)) lab.Split {
	return lab.Split{Name: name, Title: title + ", two devices with 20 times the samples",
		Deal: func(labels []uint8, clients int, seed uint64) ([][]int, error) {
			shares, err := deal(labels, clients, seed)
			for i := richDevices; i < len(shares); i++ {
				shares[i] = shares[i][:max(1, len(shares[i])/poorShare)]
			}
			return shares, err
		}}
}

// costs trains each kind of fleet without and with its guards, and makes a table of final
// accuracies. Fleets with the same seed have the same data and random draws, so costs compares
// fleets seed by seed.
func (x *trial) costs() error {
	x.Report.Summary.Columns = []string{"data", "guarded by", "accuracy", "change, by seed",
		"contributions cut"}
	for _, c := range guardedFleets {
		unguarded, err := x.honest(c.split, c.without)
		if err != nil {
			return err
		}
		base := unguarded.At(run.Accuracy, x.rounds)
		x.row(c.split, c.without, base, "", unguarded)
		for _, s := range c.with {
			guarded, err := x.honest(c.split, s)
			if err != nil {
				return err
			}
			values := guarded.At(run.Accuracy, x.rounds)
			changes := make([]float64, len(values))
			for i := range values {
				changes[i] = values[i] - base[i]
			}
			x.row(c.split, s, values, lab.Spread(changes), guarded)
			x.needs()
			x.Report.Claim(lab.Mean(changes) >= -costly, fmt.Sprintf("%s: %s costs honest devices at "+
				"most %v of accuracy", c.split.Title, s.title(x.fleet), costly), "%s", lab.Spread(changes))
		}
	}
	return nil
}

// honest trains a fleet without liars for every seed.
func (x *trial) honest(sp lab.Split, s shield) (lab.Results, error) {
	results, err := x.train(methods[0], sp, s, lies[0])
	x.Report.AddRows(results)
	return results, err
}

// row adds a row to the table.
func (x *trial) row(sp lab.Split, s shield, values []float64, changes string,
	r lab.Results) {
	cut, all := uint64(0), uint64(0)
	for _, one := range r {
		cut, all = cut+one.Cut, all+x.rounds*uint64(x.fleet.devices)
	}
	x.Report.Summary.Rows = append(x.Report.Summary.Rows, []string{sp.Title, s.title(x.fleet),
		lab.Spread(values), changes, fmt.Sprintf("%.2f %%", 100*float64(cut)/float64(all))})
}
