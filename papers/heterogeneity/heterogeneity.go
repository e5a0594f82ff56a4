package heterogeneity

import (
	"fmt"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// Experiment asks a question that the DeComFL paper leaves open: how much accuracy training loses
// with unlike clients, and whether FedProx's proximal term and SCAFFOLD's control variates,
// remedies known for gradients, recover it.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    "heterogeneity",
		Title: "what unlike clients cost DeComFL, and what FedProx and SCAFFOLD get back",
		Paper: "none: what DeComFL leaves open; corrections as in FZooS, appendix F",
		Long:  "some 4 hours for softmax, a day for the CNN",
		Do:    func(t *lab.Trial) error { return newTrial(t, sizeOf(t.Env)).all() },
	}
}

// A drift is a model, a fleet, and enough local steps for clients to drift apart.
type drift struct {
	cnn            bool
	clients, asked int
	k              uint32
	steps          []float32 // to choose from
}

func (d *drift) String() string {
	return fmt.Sprintf("%s, %d of %d clients, K=%d", lab.ModelName(d.cnn), d.asked, d.clients, d.k)
}

// A size says which parts of the experiment a trial runs.
type size struct {
	drifts  []drift
	methods []contest.Method
	queries uint64 // of a client that takes part in every round
	times   uint64 // number of measurements of a model
	seeds   int
}

var (
	softmaxDriftSteps = []float32{1e-3, 3e-3, 1e-2}
	cnnDriftSteps     = []float32{5e-4, 1e-3, 3e-3}
)

// sizeOf returns the size for an environment. A short one is softmax with ten
// local steps, for a few rounds with one step size, the best of the three there.
func sizeOf(e *lab.Env) size {
	s := size{methods: driftMethods, queries: 22_000, times: 20}
	for _, fleet := range []int{100, 10} {
		for _, k := range []uint32{5, 10} {
			s.drifts = append(s.drifts, drift{clients: fleet, asked: 10, k: k, steps: softmaxDriftSteps})
		}
	}
	for _, fleet := range []int{100, 10} {
		s.drifts = append(s.drifts,
			drift{cnn: true, clients: fleet, asked: 10, k: 10, steps: cnnDriftSteps})
	}
	if e.Short {
		step := softmaxDriftSteps[1:2]
		s.drifts = []drift{{clients: 100, asked: 10, k: 10, steps: step},
			{clients: 10, asked: 10, k: 10, steps: step}}
		s.queries, s.times = 2_200, 10
	}
	s.seeds = e.SeedsOr(3)
	return s
}

// driftMethods are the methods compared, DeComFL first. A FedProx coefficient of 1 is FZooS's
// value. With the larger step sizes, a coefficient of 10 returns a local model most of the way to
// the global model.
var driftMethods = func() []contest.Method {
	plain := contest.Method{Name: "plain", Title: "DeComFL",
		Set: []string{"difference=forward", "perturbations=10", "batch=32", "mu=1e-3", "rule=sgd"}}
	return []contest.Method{
		plain,
		plain.With("p1", "FedProx 1", "prox=1"),
		plain.With("p10", "FedProx 10", "prox=10"),
		plain.With("v1", "SCAFFOLD I", "control=scaffold-1", "cohort=round"),
		plain.With("v1r", "SCAFFOLD I, a cohort a phase", "control=scaffold-1"),
		plain.With("v2", "SCAFFOLD II", "control=scaffold-2"),
	}
}()

// contest returns the contest of a drift with a split.
func (d *drift) contest(s *lab.Set, sp lab.Split, size *size) *contest.Rules {
	task, segments := s.Task(d.cnn)
	return &contest.Rules{
		Name: fmt.Sprintf("%c-%s-%d-k%d", lab.ModelName(d.cnn)[0]|0x20, sp.Name, d.clients, d.k),
		Training: lab.Training{
			Clients: d.clients, Asked: d.asked, Task: task, Order: run.Draws,
			Shares: func(seed uint64) ([][]int, error) { return sp.Deal(s.Train.Labels, d.clients, seed) },
		},
		Base:    func(p *plan.Plan) { p.Segments, p.Steps = segments, d.k },
		Queries: size.queries, Times: size.times,
	}
}
