package decomfl

import (
	"fmt"
	"strings"
	"time"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
)

// help adds the claims that more perturbations and more local steps give a higher accuracy. help
// trains softmax regression, because many runs of it are cheap.
func (x *trial) help() error {
	if err := x.axis("more perturbations help", "P", []uint32{10, 20, 40},
		func(d *setting, v uint32) { d.p = v }); err != nil {
		return err
	}
	return x.axis("more local steps help", "K", []uint32{1, 4, 10},
		func(d *setting, v uint32) { d.k = v })
}

// axis adds the claim that the largest value of a setting gives more accuracy than the smallest.
func (x *trial) axis(claim, letter string, values []uint32,
	set func(*setting, uint32)) error {
	rounds := uint64(100)
	if x.Env.Short {
		rounds = 50
	}
	var texts []string
	var means []float64
	for _, v := range values {
		d := softmaxSetting
		d.rounds, d.measure = rounds, rounds/2
		set(&d, v)
		d.name = fmt.Sprintf("softmax-k%d-p%d", d.k, d.p)
		results, err := x.train(d, x.Env.SeedsOr(3))
		if err != nil {
			return err
		}
		ours := results.At(run.Accuracy, rounds)
		means = append(means, lab.Mean(ours))
		text := fmt.Sprintf("%s=%d %s", letter, v, lab.Spread(ours))
		if len(ours) < len(results) {
			text += fmt.Sprintf(" (%d of %d ended before: %s)",
				len(results)-len(ours), len(results), whyEarly(results, rounds))
		}
		texts = append(texts, text)
	}
	x.Report.Claim(means[len(means)-1] > means[0], fmt.Sprintf("%v: %s", &softmaxSetting, claim),
		"test accuracy after round %d: %s", rounds, strings.Join(texts, ", "))
	return nil
}

// whyEarly says why the first run that did not reach the last round ended.
func whyEarly(results lab.Results, rounds uint64) string {
	for _, r := range results {
		if c := r.Curve; c.Last() < rounds {
			return fmt.Sprintf("%s at round %d", c.Ended, c.Last())
		}
	}
	return ""
}

// bytes adds the claim that scalars take fewer bytes than gradients: FedAvg sends d floats each
// way for each client in a round.
func (x *trial) bytes() error {
	d := x.shorter(cnnSetting, 100)
	results, err := x.train(d, x.Env.SeedsOr(3))
	if err != nil {
		return err
	}
	x.fewerBytes(&d, results)
	return nil
}

func (x *trial) fewerBytes(d *setting, results lab.Results) {
	last := results[0].Curve.Points[len(results[0].Curve.Points)-1]
	ours := float64(last.Bytes) / float64(last.Round)
	fedavg := float64(asked * 2 * 4 * len(results[0].Params))
	x.Report.Claim(ours < fedavg,
		fmt.Sprintf("%v: fewer bytes a round than FedAvg's 2d floats for each client that takes part", d),
		"%.0f B for all %d clients, announcements included, FedAvg %.0f B for its %d: %.3g times as much",
		ours, clients, fedavg, asked, fedavg/ours)
}

// time adds the claims that a round takes no longer than a round of the official code, and that
// everything except the forward passes takes no longer either. time measures the second with a
// loss that takes no time.
func (x *trial) time() error {
	for _, s := range []struct {
		setting
		official officialTime
	}{
		{x.shorter(softmaxSetting, 200), officialSoftmaxTime},
		{x.shorter(cnnSetting, 100), officialCNNTime},
		{bigSetting, officialBigTime},
	} {
		rest, err := x.Env.Train(x.Ctx, x.Report.ID, s.null(x.set, 40), 1)
		if err != nil {
			return err
		}
		x.quicker(&s.setting, x.curves[s.name].RoundTime(), rest.RoundTime(), s.official)
	}
	return nil
}

// quicker makes the claims for which there are figures; total is 0 if nothing was trained.
func (x *trial) quicker(d *setting, total, rest time.Duration, official officialTime) {
	if total > 0 {
		x.Report.Claim(total.Seconds() <= official.round,
			fmt.Sprintf("%v: a round takes no longer than the official code's", d),
			"median %.3f s, of which %.3f s is the forward pass; official %.3f s",
			total.Seconds(), (total - rest).Seconds(), official.round)
	}
	if official.rest > 0 {
		x.Report.Claim(rest.Seconds() <= official.rest,
			fmt.Sprintf("%v: everything but the forward pass takes no longer than the official code's", d),
			"median %.3f s of rounds whose loss is free; official %.2f s", rest.Seconds(), official.rest)
	}
}
