package decomfl

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/zofl/zofl/papers/firstorder"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/papers/tasks"
	"github.com/zofl/zofl/plan"
)

// fashion makes figures 3, 6 and 7 of DeComFL: training on Fashion-MNIST with P doubled three
// times, compared with methods by gradients.
func fashion() lab.Experiment {
	return lab.Experiment{
		ID: "decomfl-fashion",
		Title: "Fashion-MNIST with P doubled, against FedAvg, FedCom, Top-k, FedProx, SCAFFOLD " +
			"and CyCP by gradients",
		Paper: "DeComFL, figures 3, 6 and 7",
		Long: "weeks; a day with --screen; half an hour with --short --screen, which is the MLP; " +
			"--short --screen --tasks cnn is DeComFL alone, a quarter of an hour or so",
		Takes: []string{"tasks"},
		Do: func(t *lab.Trial) error {
			s, err := fashionSizeOf(t.Env)
			if err != nil {
				return err
			}
			train, test, err := s.models(t.Env)
			if err != nil {
				return err
			}
			return newTrial(t).fashion(s, train, test)
		},
	}
}

// A fashionSize says which parts of the experiment a trial runs.
type fashionSize struct {
	mlp     bool // an MLP of 6,634 parameters on 14x14 pixels in place of the CNN of 1,206,590
	members int  // 0: all clients; otherwise so many, all of which take part in each round
	batch   uint32
	p       uint32 // of the first rounds
	rounds  uint64 // of DeComFL: P doubles after a sixth, a third and two thirds
	doubles uint64 // rounds of the run in which P doubles; 0: rounds
	first   int    // rounds of methods by gradients; 0: none of them
	seeds   int
}

// Models of decomfl-fashion, as --tasks has them.
const (
	fashionMLP = "mlp"
	fashionCNN = "cnn"
)

// fashionSizeOf returns the size for an environment. The paper trains for 3,000 rounds. Clients
// that take no part replay each round too, so the short form of the CNN has only ten. The run in
// which P doubles ends where it has made as many queries as the other.
func fashionSizeOf(e *lab.Env) (s fashionSize, err error) {
	usual := fashionCNN
	if e.Short {
		usual = fashionMLP
	}
	models, err := lab.Pick("tasks", []string{fashionMLP, fashionCNN},
		func(name string) string { return name }, e.Tasks, []string{usual})
	if err == nil && len(models) > 1 {
		err = fmt.Errorf("--tasks %s: take one of them", strings.Join(models, ","))
	}
	if err != nil {
		return s, err
	}
	switch s.mlp = models[0] == fashionMLP; {
	case e.Short && s.mlp:
		s.batch, s.p, s.rounds, s.first = 32, 25, 300, 100
	case e.Short:
		s.members, s.batch, s.p, s.rounds, s.doubles = asked, 32, 25, 60, 27
	default:
		s.batch, s.p, s.rounds, s.first = 256, 25, 3000, 1000
	}
	s.seeds = e.SeedsOr(1)
	return s, nil
}

// fashionDim is the number of parameters of the paper's model.
const fashionDim = 1_206_590

// fashionSteps is K of the published runs.
const fashionSteps = 5

func (s *fashionSize) models(e *lab.Env) (train, test models.Differentiable, err error) {
	if s.mlp {
		rows := tasks.Task{Data: "fashion-mnist", Shrink: 2, Scale: tasks.Standardized,
			Train: 60_000, Test: 10_000}
		a, b, _, err := rows.Rows(e)
		if err != nil {
			return nil, nil, err
		}
		return models.NewNet(a, 32), models.NewNet(b, 32), nil
	}
	of, err := e.Images("fashion-mnist")
	if err != nil {
		return nil, nil, err
	}
	return models.NewCNNFashion(of.Train, of.Mean, of.Std),
		models.NewCNNFashion(of.Test, of.Mean, of.Std), nil
}

// doubled returns P in a round: the schedule doubles P three times.
func (s *fashionSize) doubled(round uint64) uint32 {
	p := s.p
	for _, point := range s.schedule() {
		if round >= point.Round {
			p = point.Perturbations
		}
	}
	return p
}

func (s *fashionSize) schedule() []plan.PerturbationPoint {
	at := s.rounds / 6
	return []plan.PerturbationPoint{{Round: at + 1, Perturbations: 2 * s.p},
		{Round: 2*at + 1, Perturbations: 4 * s.p}, {Round: 4*at + 1, Perturbations: 8 * s.p}}
}

// training returns DeComFL with the settings of the published runs, and P constant or doubled.
func (s *fashionSize) training(d *duel, name string, doubled bool) *lab.Training {
	segments := lab.Segments(d.train)
	settings := setting{k: fashionSteps, p: s.p, batch: s.batch, step: 5e-4}
	rounds, every := s.rounds, max(s.rounds/30, 1)
	if doubled {
		rounds = cmp.Or(s.doubles, rounds)
	}
	if s.members > 0 {
		every = 27 // a measurement of the CNN takes as long as ten rounds
	}
	return &lab.Training{
		Name: name, Run: "fashion", Preset: "decomfl",
		Clients: d.clients(), Asked: asked, Rounds: rounds,
		Task: run.Classifier(d.train, d.test, 2), Order: run.Walk, Every: every,
		Shares: d.shares,
		Set: func(p *plan.Plan) {
			settings.official(p, segments)
			p.Beta = 0.8
			if doubled {
				p.PerturbationSchedule = s.schedule()
			}
		},
	}
}

// arms are the methods by gradients, FedAvg first. Of the last three methods the paper gives only
// the names, no settings.
func (s *fashionSize) arms() []gradientArm {
	plain := firstorder.Method{Asked: asked, Steps: fashionSteps, Batch: int(s.batch),
		Eta: 0.1, Beta: 0.5}
	with := func(title string, set func(*firstorder.Method)) gradientArm {
		m := plain
		set(&m)
		return gradientArm{title, m}
	}
	return []gradientArm{
		{"FedAvg", plain},
		with("FedCom, 8 bits", func(m *firstorder.Method) { m.Compress = firstorder.EightBits }),
		with("Top-k, 10 %", func(m *firstorder.Method) { m.Compress = firstorder.TopK(0.1) }),
		with("Top-k, 5 %", func(m *firstorder.Method) { m.Compress = firstorder.TopK(0.05) }),
		with("Top-k, 1 %", func(m *firstorder.Method) { m.Compress = firstorder.TopK(0.01) }),
		with("FedProx, 0.1", func(m *firstorder.Method) { m.Prox = 0.1 }),
		with("SCAFFOLD", func(m *firstorder.Method) { m.Scaffold, m.Beta = true, 0 }),
		with("CyCP, 10 groups", func(m *firstorder.Method) { m.Groups = 10 }),
	}
}

// fashion trains DeComFL twice and every method by gradients, and adds the claims about the
// figures.
func (x *trial) fashion(s fashionSize, train, test models.Differentiable) error {
	d := &duel{train: train, test: test, members: s.members, rounds: s.first,
		every: max(s.first/20, 1), target: 0.70}
	x.Report.Figure.Title = "Fashion-MNIST: DeComFL and methods by gradients"
	var ours, others []*duelCurve
	for _, t := range []struct {
		name, title string
		doubled     bool
	}{{"doubled", "DeComFL, P doubled", true}, {"constant", "DeComFL, P as at first", false}} {
		r, err := x.Env.Train(x.Ctx, x.Report.ID, s.training(d, t.name, t.doubled), s.seeds)
		x.Report.AddRows(r)
		if err != nil {
			return err
		}
		p := func(uint64) uint32 { return s.p }
		if t.doubled {
			p = s.doubled
		}
		ours = append(ours, scalars(t.title, r[0], fashionSteps, p))
	}
	for _, a := range s.arms() {
		if s.first == 0 {
			break
		}
		c, err := d.gradients(x.Ctx, x.Env, &a, 1)
		if err != nil {
			return err
		}
		others = append(others, c)
	}
	d.draw(x.Report, append(ours[:2:2], others...))
	x.fashionClaims(d, ours, others)
	return nil
}

func (x *trial) fashionClaims(d *duel, ours, others []*duelCurve) {
	r := x.Report
	doubled, constant := ours[0].last(), ours[1].last()
	at := ours[0].points[0]
	for _, p := range ours[0].points {
		if p.numbers <= constant.numbers {
			at = p
		}
	}
	r.Claim(at.accuracy > constant.accuracy,
		"not the paper's: doubling P raises it after equal queries, too",
		"%.4f after round %d against %.4f after round %d", at.accuracy, at.round,
		constant.accuracy, constant.round)
	same := ours[1].after(doubled.round)
	r.Claim(doubled.accuracy > same.accuracy, "doubling P raises the accuracy after equal rounds",
		"%.4f against %.4f after round %d, with %.1f times the queries", doubled.accuracy,
		same.accuracy, doubled.round, doubled.numbers/same.numbers)
	if len(others) == 0 {
		return
	}
	// The numbers of DeComFL do not depend on d, those of the others do.
	r.Needs(uint64(d.train.Dim()), fashionDim, "parameters")
	d.fewerNumbers(r, ours[0], others)
	r.Needs(0, 0, "")
	for _, c := range others {
		d.slower(r, ours[0], c)
	}
	worst := others[4].last().accuracy
	r.Claim(worst < others[0].last().accuracy-0.05,
		"Top-k with 1 % loses much accuracy to FedAvg", "%s after round %d",
		fmt.Sprintf("%.4f (10 %%: %.4f, 5 %%: %.4f) against %.4f", worst,
			others[2].last().accuracy, others[3].last().accuracy, others[0].last().accuracy),
		others[4].last().round)
}
