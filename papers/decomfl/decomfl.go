package decomfl

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// The DeComFL experiments on MNIST have 100 clients with 600 IID samples each, of which 10 take
// part in a round.
const (
	clients = 100
	asked   = 10
)

// Experiments returns the paper's experiments that train models.
func Experiments() []lab.Experiment {
	list := []lab.Experiment{mnist()}
	list = append(list, variants()...)
	return append(list, grid(), projection(), fedAvg(), fashion())
}

// A setting is one training, as specified by the official code's flags.
type setting struct {
	name    string
	cnn     bool   // of 28,938 parameters; otherwise the softmax of 784x10
	k, p    uint32 // local steps, perturbations
	batch   uint32
	step    float32
	rounds  uint64
	measure uint64 // rounds between measurements
}

// official sets the values that all official runs share: central differences with mu 1e-3, and
// torch's momentum of 0.9 on gradients with weight decay 1e-5.
func (d *setting) official(p *plan.Plan, segments []plan.Segment) {
	p.Segments = segments
	p.Difference, p.Mu = plan.Central, 1e-3
	p.Steps, p.Perturbations, p.Batch, p.StepSize = d.k, d.p, d.batch, d.step
	p.Rule, p.Beta, p.WeightDecay = plan.TorchMomentum, 0.9, 1e-5
}

// training returns the training of the setting on a data set.
func (d *setting) training(s *lab.Set) *lab.Training {
	task, segments := s.Task(d.cnn)
	return &lab.Training{
		Name: d.name, Preset: "decomfl", Clients: clients, Asked: asked, Rounds: d.rounds,
		Task: task, Order: run.Walk, Every: d.measure,
		Shares: func(seed uint64) ([][]int, error) {
			return data.IID(s.Train.Len(), clients, seed)
		},
		Set: func(p *plan.Plan) { d.official(p, segments) },
	}
}

// null returns a short training of the setting, with a loss that takes no time.
func (d *setting) null(s *lab.Set, rounds uint64) *lab.Training {
	n := *d
	n.name, n.rounds = d.name+"-null", rounds
	t := n.training(s)
	t.Task = t.Task.Null()
	return t
}

func (d *setting) String() string {
	return fmt.Sprintf("%s, K=%d, P=%d, batch %d, step %g", lab.ModelName(d.cnn), d.k, d.p, d.batch,
		d.step)
}
