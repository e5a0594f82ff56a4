package adafl

import (
	"fmt"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/lab"
)

// These constants are the settings of ZO-AdaFL's section 5.2. Where the section gives no value,
// for mu, balance and the minibatch, they are the settings of FedZO's published code, see the
// preset zo-adafl. The balance, relative to the scale of the classifier's logits, decides where
// an attack ends: with a tenth of this balance, the attack makes the classifier misclassify most
// images of Fashion-MNIST, but distorts them several times as much. So compare the figures of
// this experiment with each other rather than with the paper's figures.
const (
	id         = "zo-adafl-attack"
	class      = 4
	clients    = 50
	imageCount = 200 // of the class, which all clients share
	shareSize  = 60  // drawn for each client from these
	balance    = 1.0
	mu         = 1e-3
	batch      = 25
	steps      = 50 // K of figure 2b
	// The paper's comparison has 600 rounds. Its sweeps over K and clients are cut here.
	paperRounds, sweepRounds = 600, 200
)

// Experiment attacks classifiers of MNIST and Fashion-MNIST by the paper's methods, and compares
// their losses, distortions and rates of success.
func Experiment() lab.Experiment {
	return lab.Experiment{
		ID:    id,
		Title: "universal attack on class 4 of MNIST and Fashion-MNIST: ZO-AdaFL, FedZO, DZOPA, ZONE-S",
		Paper: "ZO-AdaFL, section 5, figures 2 and 3, Table 2",
		Long: "some 9 hours of a core for each of three seeds; with --short --rounds 600 some 35 " +
			"minutes for one seed of a set, 10 of them for --arm ada",
		Takes: []string{"rounds", "tasks", "arm"},
		Do: func(t *lab.Trial) error {
			s, err := sizeOf(t.Env)
			if err != nil {
				return err
			}
			return newTrial(t, s).all()
		},
	}
}

// A size says which parts of the paper's experiment a trial runs.
type size struct {
	sets   []string
	epochs int    // of the classifiers' training
	k      uint32 // local steps where they do not vary
	among  int    // clients a round where they do not vary
	rounds uint64 // of the comparison of the methods
	sweep  uint64 // for each K and each number of clients a round, on the first set
	every  uint64 // rounds between measurements of the perturbation
	steps  []uint32
	asked  []int
	// methods are those to run. Fewer than all make no sweeps and no claims.
	methods []method
	// dzopa and zones are the step sizes to try for the baselines, because the paper gives none. The
	// report contains the best step size of each, by attack loss and distortion.
	dzopa, zones []float64
	seeds        int
}

// sizeOf returns the size for an environment. In a short comparison 10 of the 50
// clients take part in a round.
func sizeOf(e *lab.Env) (s size, err error) {
	s = size{
		epochs: 4, k: steps, among: clients,
		rounds: e.RoundsOr(paperRounds, 40), sweep: sweepRounds, every: 20,
		steps: []uint32{10, steps, 100}, asked: []int{10, 30, clients},
		// FedZO's code uses 5e-3 for DZOPA, and for ZONE-S 2e-6 times d. With 5e-2 a round of the
		// baseline makes as long a step along the gradient as a round of FedZO with K = 50.
		dzopa: []float64{5e-3, 5e-2}, zones: []float64{1.5e-3, 5e-3, 1.5e-2, 5e-2},
	}
	if e.Short {
		s.among, s.sweep, s.every = 10, 20, 5
		s.dzopa, s.zones = []float64{5e-2}, []float64{5e-3, 5e-2}
	}
	s.sweep = min(s.sweep, s.rounds)
	s.seeds = e.SeedsOr(3)
	s.sets, err = lab.Pick("tasks", []string{figures2, "fashion-mnist"},
		func(set string) string { return set }, e.Tasks, nil)
	if err == nil {
		s.methods, err = lab.Pick("arm", methods, func(m method) string { return m.tag }, e.Arms, nil)
	}
	return s, err
}

// figures2 is the data set of figure 2, on which K and the clients of a round vary.
const figures2 = "mnist"

// A method is a method that the paper compares.
type method struct{ name, tag string }

var (
	ada   = method{"ZO-AdaFL", "ada"}
	fedZO = method{"FedZO", "fedzo"}
	dzopa = method{"DZOPA", "dzopa"}
	zones = method{"ZONE-S", "zones"}
	// methods are the methods of Table 2.
	methods = []method{ada, fedZO, dzopa, zones}
)

// A curve is a method with its settings, and its runs by seed from 1.
type curve struct {
	method
	step    float64 // eta, of the baselines
	results lab.Results
}

// at returns the mean of a metric over the seeds.
func (c *curve) at(metric string, round uint64) float64 {
	return lab.Mean(c.results.At(metric, round))
}

// text formats a metric with the name of its method.
func (c *curve) text(metric string, round uint64) string {
	name := c.name
	if c.step > 0 {
		name += fmt.Sprintf(" (eta %g)", c.step)
	}
	return name + " " + lab.Spread(c.results.At(metric, round))
}

// A trial is a running experiment.
type trial struct {
	*lab.Trial
	size  size
	sets  []*set
	steps []*curve // by size.steps
	asked []*curve // by size.asked
}

func newTrial(t *lab.Trial, size size) *trial {
	t.Report.Figure = chart.Chart{Title: "ZO-AdaFL, universal attack on class 4", X: "round",
		Y: "attack loss"}
	return &trial{Trial: t, size: size}
}

func (x *trial) all() error {
	for _, name := range x.size.sets {
		s, err := x.load(name)
		if err != nil {
			return err
		}
		x.sets = append(x.sets, s)
		if err := x.compare(s); err != nil {
			return err
		}
	}
	if len(x.size.methods) < len(methods) {
		return nil
	}
	if x.sets[0].name == figures2 {
		if err := x.sweep(x.sets[0]); err != nil {
			return err
		}
	}
	x.claims()
	return nil
}

// compare runs the four methods on a data set, with the same number of losses a round for each
// method. In a round of ZONE-S a single client computes all these losses.
func (x *trial) compare(s *set) (err error) {
	for _, m := range x.size.methods {
		switch m {
		case dzopa:
			s.curves[m], err = x.best(s, m, x.size.dzopa)
		case zones:
			s.curves[m], err = x.best(s, m, x.size.zones)
		default:
			s.curves[m], err = x.fleet(s, m, x.size.k, x.size.among, x.size.rounds)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sweep varies K and the clients a round. sweep does not repeat the runs of compare.
func (x *trial) sweep(s *set) error {
	vary := func(k uint32, asked int) (*curve, error) {
		if k == x.size.k && asked == x.size.among {
			return s.curves[ada], nil
		}
		return x.fleet(s, ada, k, asked, x.size.sweep)
	}
	for _, k := range x.size.steps {
		c, err := vary(k, x.size.among)
		if err != nil {
			return err
		}
		x.steps = append(x.steps, c)
	}
	for _, asked := range x.size.asked {
		c, err := vary(x.size.k, asked)
		if err != nil {
			return err
		}
		x.asked = append(x.asked, c)
	}
	return nil
}

// add adds the curves of runs to the report.
func (x *trial) add(results lab.Results) { x.Report.AddCurves(loss, results) }

// Metrics of a perturbation after a round. The first three metrics are over the images that the
// clients share, the last metric is over the images of the test set.
const (
	loss        = "attack_loss"
	distortion  = "distortion"
	success     = "success"
	testSuccess = "test_success"
)

var metrics = []string{loss, distortion, success, testSuccess}
