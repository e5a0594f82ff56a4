package decomfl

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/papers/firstorder"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/models"
)

// fedAvg makes figure 5 of DeComFL, FedAvg by gradients at four step sizes, and the comparison of
// traffic with DeComFL in figure 2.
func fedAvg() lab.Experiment {
	return lab.Experiment{
		ID:    "decomfl-fedavg",
		Title: "FedAvg by gradients at four steps, and DeComFL by what travels, CNN on MNIST",
		Paper: "DeComFL, figures 2 and 5",
		Long:  "some 5 hours; ten minutes with --short --screen",
		Do:    onMNIST(func(x *trial) error { return x.fedavg(fedavgSizeOf(x.Env)) }),
	}
}

// A fedavgSize says which parts of the experiment a trial runs.
type fedavgSize struct {
	local   []int // values of K
	batch   uint32
	rounds  int
	decomfl setting
}

func fedavgSizeOf(e *lab.Env) fedavgSize {
	s := fedavgSize{local: []int{1, 4, 10}, batch: 256, rounds: 100, decomfl: variantSetting(4, 20)}
	if e.Short {
		s.local, s.batch, s.rounds = []int{4}, 32, 30
		s.decomfl.batch, s.decomfl.step, s.decomfl.rounds = 32, 5e-4, 60
	}
	s.decomfl.measure = max(s.decomfl.rounds/30, 1)
	return s
}

// fedavgSteps are the step sizes of figure 5.
var fedavgSteps = []float32{0.1, 0.05, 0.01, 0.005}

func (x *trial) fedavg(s fedavgSize) error {
	d := &duel{rounds: s.rounds, every: max(s.rounds/20, 1), target: 0.70,
		train: models.NewCNNMNIST(x.set.Train, x.set.Mean, x.set.Std),
		test:  models.NewCNNMNIST(x.set.Test, x.set.Mean, x.set.Std)}
	x.Report.Figure.Title = "MNIST: DeComFL and FedAvg by gradients"
	r, err := x.Env.Train(x.Ctx, x.Report.ID, s.decomfl.training(x.set), 1)
	x.Report.AddRows(r)
	if err != nil {
		return err
	}
	ours := scalars("DeComFL, "+cellName(&s.decomfl), r[0], s.decomfl.k,
		func(uint64) uint32 { return s.decomfl.p })
	var best []*duelCurve
	curves := []*duelCurve{ours}
	for _, k := range s.local {
		steps, err := x.fedavgAt(d, k, int(s.batch))
		if err != nil {
			return err
		}
		best, curves = append(best, steps[0]), append(curves, steps...)
	}
	d.draw(x.Report, curves)
	d.fewerNumbers(x.Report, ours, curves[1:])
	for _, c := range best {
		d.slower(x.Report, ours, c)
	}
	return nil
}

// fedavgAt trains FedAvg with K local steps at each step size, and adds the claim that the step
// size chosen in figure 5 is best here too.
func (x *trial) fedavgAt(d *duel, k, batch int) (curves []*duelCurve, err error) {
	holds := true
	var texts []string
	for _, step := range fedavgSteps {
		c, err := d.gradients(x.Ctx, x.Env, &gradientArm{fmt.Sprintf("FedAvg, K=%d, step %g", k, step),
			firstorder.Method{Asked: asked, Steps: k, Batch: batch, Eta: step, Beta: 0.5}}, 1)
		if err != nil {
			return nil, err
		}
		curves = append(curves, c)
		holds = holds && c.last().accuracy <= curves[0].last().accuracy
		texts = append(texts, fmt.Sprintf("%g: %.4f", step, c.last().accuracy))
	}
	x.Report.Claim(holds, fmt.Sprintf("FedAvg, K=%d: 0.1 is the best of four steps", k),
		"accuracy after round %d at steps of %s", d.rounds, strings.Join(texts, ", "))
	return curves, nil
}
