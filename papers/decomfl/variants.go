package decomfl

import (
	"fmt"

	"github.com/zofl/zofl/papers/lab"
)

// variants returns experiments on the CNN with batch 256 and the other values of K and P for
// which the authors published curves.
func variants() []lab.Experiment {
	var list []lab.Experiment
	for _, k := range []uint32{1, 4, 10} {
		for _, p := range []uint32{10, 20, 40} {
			list = append(list, variant(k, p))
		}
	}
	return list
}

func variant(k, p uint32) lab.Experiment {
	d := variantSetting(k, p)
	return lab.Experiment{
		ID: fmt.Sprintf("decomfl-mnist-k%d-p%d", k, p), Title: d.String(), Paper: paper,
		Long: fmt.Sprintf("some %d hours a seed", max(1, int(k*p)/5)),
		Do:   onMNIST(func(x *trial) error { return x.variant(d) }),
	}
}

// variantSetting returns the setting of a K and a P, with the step size that was published.
func variantSetting(k, p uint32) setting {
	d := setting{
		name: fmt.Sprintf("cnn-k%d-p%d-b256", k, p), cnn: true, k: k, p: p, batch: 256, step: 5e-4,
		rounds: 1000, measure: 20,
	}
	if p == 20 {
		d.step = 1e-3
	}
	return d
}

// shortImages is the number of images that a short experiment may train on.
const shortImages = 250_000

// variant trains a setting, and adds the claim that the training reaches the published curve. A
// short experiment is a few rounds with small minibatches. No published result can be compared
// with it.
func (x *trial) variant(d setting) error {
	official := publishedCNN[[2]uint32{d.k, d.p}]
	if x.Env.Short {
		d.name, d.batch, official = d.name+"-short", 32, nil
		images := uint64(2 * d.k * d.p * d.batch * asked)
		d.rounds = max(shortImages/images, 1)
		d.measure = d.rounds
	}
	results, err := x.train(d, x.Env.SeedsOr(1))
	if err != nil {
		return err
	}
	x.within(&d, results, official, "published")
	// A few rounds leave the loss where the first one was, whether or not the run would blow up.
	x.Report.Needs(d.rounds, guardedRounds, "rounds")
	x.guarded(&d, results, "none published at these settings diverges before round 2000")
	x.Report.Needs(0, 0, "rounds")
	x.fewerBytes(&d, results)
	return nil
}

// guardedRounds are more than after which the official code diverges with too long a step.
const guardedRounds = 200
