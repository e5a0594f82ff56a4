package grouping

import (
	"fmt"
	"math"

	"github.com/zofl/zofl/coordinator/internal/steer"
	"github.com/zofl/zofl/wire"
	wiregroups "github.com/zofl/zofl/wire/grouping"
)

// With groups=auto all devices of a round share directions for the first rounds, and then either
// that stays so, or each has its own. g_i is the gradient of device i on its minibatch, g their
// mean, M the number of contributors. Along P directions of their own the devices' mean estimate
// has the noise mean|g_i|^2/(M P), along P shared ones |g|^2/P. The scalars of a shared round tell
// both, with v = mean|g_i|^2 - |g|^2 for what makes devices differ. c_ip^2 is |g_i|^2 on average,
// and the square of mean_i c_ip is |g|^2 + v/M, of minibatches and of devices that are drawn:
//
//	v     = M/(M-1) (mean_i c_ip^2 - (mean_i c_ip)^2)
//	|g|^2 = mean_i c_ip^2 - v
//
// Of devices that all take part and differ for good v is too large by M/(M-1).
//
// What is measured is the beginning, before the devices look for a step: one that they find along
// shared directions is less right for their own. |g| falls as the model learns, and v does not.
// Once |g|^2 is 1/F of what it was, own directions have the noise (|g|^2/F + v)/(M P), and less
// than the |g|^2/(F P) of shared ones while F < (M-1)|g|^2/v. How far |g|^2 falls in a run the
// coordinator cannot know; the more devices, the less noise, and the farther it falls. So own
// directions are taken where they have less noise until F = 2 sqrt(M-1):
//
//	v < sqrt(M-1) |g|^2 / 2
//
// With weights M is 1/sum_i W_i^2 for the shares W_i of the weights.
//
// One device must not choose for all. So both means are [steer.Trimmed], without weights: among
// three devices or more, large scalars and contrary ones are left out. Of two devices each can
// choose. A claim of samples can lower M, as far as claim_bound lets it count.
//
// Both are ratios of scalars of the same round, so neither the loss's scale nor the parameters' do
// matter. The coordinator remembers its choice, and nothing in a record says it: one that takes
// over has devices share directions again for so many rounds.
const measured = 3

// A contrast is what a chooser of groups=auto knows of devices' gradients.
type contrast struct {
	rounds      int
	contributed float64 // M, the sum of all of them
	each, mean  float64 // sums of mean_i c_ip^2 and of (mean_i c_ip)^2
	own         bool    // devices have directions of their own
}

// size returns how many devices of a round share directions.
func (c *Chooser) size(p *wire.Plan) uint32 {
	switch {
	case p.Groups != wiregroups.Auto:
		return p.GroupSize
	case c.contrast.own:
		return 1
	}
	return mostDevices
}

// Heed takes the scalars of a round, a row of each contributor, and the contributors' weights, with
// groups=auto. After the last round that it needs it says what it came to, else nothing.
func (c *Chooser) Heed(p *wire.Plan, rows [][]float32, weights []uint32) (why string) {
	k := &c.contrast
	if p.Groups != wiregroups.Auto || k.rounds == measured || len(rows) == 0 {
		return ""
	}
	k.rounds++
	k.add(rows)
	shares := sharesOf(weights)
	k.contributed += 1 / dot(shares, shares)
	if k.rounds < measured {
		return ""
	}
	m := k.contributed / measured
	v := m / (m - 1) * (k.each - k.mean) // of a single contributor it is no number
	square := k.each - v
	switch noise := k.each / (m * square); {
	case 2*v < math.Sqrt(m-1)*square:
		k.own = true
		return fmt.Sprintf("each device has directions of its own: their noise is %.2g of that of "+
			"shared ones", noise)
	case m > 1 && square <= 0:
		return "all devices share directions: what their gradients have in common is too little to " +
			"tell"
	case m > 1:
		return fmt.Sprintf("all devices share directions: the noise of their own is %.2g of that, "+
			"and grows as the model learns", noise)
	}
	return "all devices share directions: one alone contributes"
}

// add adds the scalars of a round, the mean over its directions.
func (k *contrast) add(rows [][]float32) {
	directions := float64(len(rows[0]))
	squares, column := make([]float64, len(rows)), make([]float64, len(rows))
	for j := range rows[0] {
		for i, row := range rows {
			c := float64(row[j])
			column[i] = c
			squares[i] += c * c / directions
		}
		mean := steer.Trimmed(column)
		k.mean += mean * mean / directions
	}
	k.each += steer.Trimmed(squares)
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
