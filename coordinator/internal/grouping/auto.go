package grouping

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/stepsize"
	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
)

// With groups=auto all devices of a round share directions at first. After three rounds the chooser
// decides whether that stays so, or each device gets directions of its own. Let g_i be the gradient
// of device i on its minibatch, g the mean of the g_i, and M the number of contributors. With P own
// directions the devices' mean estimate has the noise mean|g_i|^2/(M P); with P shared directions
// it has the noise |g|^2/P. The scalars of a shared round show both. v = mean|g_i|^2 - |g|^2
// measures how much devices differ. On average over minibatches and devices that are drawn, c_ip^2
// is |g_i|^2, and the square of mean_i c_ip is |g|^2 + v/M. Let q = (mean_i c_ip)^2 / mean_i
// c_ip^2, with numerator and denominator each summed over p. Then the share of the squared
// gradients that devices have in common is
//
//	s = |g|^2 / mean|g_i|^2 = (M q - 1)/(M - 1)
//
// |g| falls as the model learns, and v does not, so s falls. Devices take own directions if own
// directions have less noise even when |g|^2 is 1/F of its present value, for F = 2 sqrt(M-1): with
// more devices less noise remains, and |g| falls farther. Devices return to shared directions if
// shared directions have less noise. If all devices take part and keep their differences, their
// mean has all of g, and nothing else: then (mean_i c_ip)^2 is |g|^2, and shared directions have
// less noise if q < 1/M. If minibatches or devices are drawn, q is 1/M or more.
//
//	taken     s > 2/(2 + sqrt(M-1))     that is    v < sqrt(M-1) |g|^2 / 2
//	given up  s < 0                     that is    q < 1/M
//
// The choice follows three rounds, before the devices look for a step. If the chooser decides for
// shared directions, the decision is final: a step that was found along shared directions suits own
// directions less. Rounds of own directions do not show s. So at intervals devices share the
// directions of one round, and s becomes the mean of its old value and that round's s. The noise of
// that round is M s times the noise of the other rounds: one such round in ten M s rounds adds a
// tenth.
//
// With weights M is 1/sum_i W_i^2 for the shares W_i of the weights.
//
// One device must not decide for all. So both means are [stepsize.Trimmed], without weights: among
// three devices or more, such means leave out large scalars and scalars of the other sign. With two
// devices, either device can decide. A device that claims many samples can lower M, as far as
// claim_bound lets the claim count.
//
// s is a ratio of scalars of the same round, so the scales of the loss and of the parameters do not
// matter. No record holds the choice, so each coordinator hands it over to the next.
const (
	measured = 3  // shared rounds before the choice
	between  = 10 // rounds, the fewest from a shared one to the next along own directions
)

// A contrast is what a chooser with groups=auto knows about devices' gradients.
type contrast struct {
	chosen bool
	own    bool    // devices have directions of their own
	apart  int     // rounds of own directions before the next shared one
	rounds int     // shared ones
	common float64 // s, averaged over them
}

// size returns how many devices of a round share directions.
func (c *Chooser) size(p *plan.Plan) uint32 {
	switch {
	case p.Groups != wiregroups.Auto:
		return p.GroupSize
	case c.contrast.apart > 0:
		return 1
	}
	return mostDevices
}

// Heed takes the scalars of a round, a row of each contributor, and the contributors' weights, with
// groups=auto. If the round leads to a choice, the first or a later one, Heed returns a text about
// the choice. Otherwise Heed returns "".
func (c *Chooser) Heed(p *plan.Plan, rows [][]float32, weights []uint32) (why string) {
	k := &c.contrast
	if p.Groups != wiregroups.Auto || len(rows) == 0 {
		return ""
	}
	if k.apart > 0 {
		k.apart--
		return ""
	}
	shares := sharesOf(slices.Sorted(slices.Values(weights))) // whatever the order of arrival
	return k.learn(1/dot(shares, shares), agreement(rows))
}

// learn takes q of a round in which m devices shared directions, and returns a text about the
// choice that follows, or "".
func (k *contrast) learn(m, q float64) (why string) {
	if k.chosen && !k.own || !(m > 1) || math.IsNaN(q) {
		return "" // one device alone, or scalars of 0, tell nothing
	}
	k.rounds++
	last := measured
	if k.own {
		last = 2
	}
	k.common += ((m*q-1)/(m-1) - k.common) / float64(min(k.rounds, last))
	switch {
	case k.own && k.common < 0:
		why = "all devices share directions again, as their own have more noise now"
		k.own = false
	case k.own, k.rounds < measured:
	case k.common > 2/(2+math.Sqrt(m-1)):
		why = "each device has directions of its own: " + k.noise(m)
		k.chosen, k.own = true, true
	default:
		why = "all devices share directions: " + k.noise(m)
		k.chosen = true
	}
	if k.own {
		k.apart = int(between*max(m*k.common, 1)) - 1
	}
	return why
}

// noise says how the noise of own directions compares with the noise of shared directions, for m
// devices.
func (k *contrast) noise(m float64) string {
	if !(k.common > 0) {
		return "what their gradients have in common is too little to tell"
	}
	return fmt.Sprintf("the noise of own ones is %.2g of that of shared ones, and grows as the "+
		"model learns", 1/(m*k.common))
}

// agreement returns q of a round in which all devices share directions.
func agreement(rows [][]float32) float64 {
	squares, column := make([]float64, len(rows)), make([]float64, len(rows))
	together := 0.0
	for j := range rows[0] {
		for i, row := range rows {
			c := float64(row[j])
			column[i] = c
			squares[i] += c * c
		}
		mean := stepsize.Trimmed(column)
		together += mean * mean
	}
	return together / stepsize.Trimmed(squares)
}

// sharesOf returns weights divided by their sum.
func sharesOf(weights []uint32) []float64 {
	sum, shares := 0.0, make([]float64, len(weights))
	for _, w := range weights {
		sum += float64(w)
	}
	for i, w := range weights {
		shares[i] = float64(w) / sum
	}
	return shares
}
