package plan

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/prng/lowrank"
)

// replay says how long every replica works on the record of a round.
func (b *brief) replay() string {
	text := fmt.Sprintf("%s a round on one core like this, for %s", replayTime(b.Plan,
		b.cost.Directions), terminal.Count(b.cost.Directions, "direction"))
	if c := sharedCost(b.Plan, b.in); c != nil && c.Directions != b.cost.Directions {
		text += fmt.Sprintf(" (%d if all share)", c.Directions)
	}
	return text
}

// The measurement of [replayTime] takes a vector of at most measuredDim elements, at most
// measuredDirections directions, and some measuredFor.
const (
	measuredDim        = 1 << 16
	measuredDirections = 64
	measuredFor        = 4 * time.Millisecond
)

// replayTime measures how long this core takes to add a plan's directions to a vector, and returns
// the time of this many directions. A model that does not fit the caches takes longer.
func replayTime(p *plan.Plan, directions uint64) string {
	if p.Distribution == plan.LowRank {
		return inMilliseconds(float64(directions) * lowRankTime(p, directions))
	}
	dist := prng.Normal
	if p.Distribution == plan.Rademacher {
		dist = prng.Rademacher
	}
	x := make([]float32, min(p.Dim, measuredDim))
	terms := make([]prng.Term, min(directions, measuredDirections))
	for i := range terms {
		terms[i] = prng.Term{A: 1e-3, Z: prng.Direction{Key: 1, Source: prng.Slot(uint32(i)),
			Dist: dist}}
	}
	least := quickest(func() { prng.Sum(x, terms, 0) })
	whole := float64(p.Dim) / float64(len(x)) * float64(directions) / float64(max(len(terms), 1))
	return inMilliseconds(least*whole + float64(evolutionProducts(p))*productTime(p))
}

// lowRankTime measures, in nanoseconds, how long this core takes to make the signs of one of so
// many directions of rank 1, and to add it to a vector.
func lowRankTime(p *plan.Plan, directions uint64) float64 {
	z := make([]prng.Direction, max(1, min(directions, measuredDirections)))
	for i := range z {
		z[i] = prng.Direction{Key: 1, Source: prng.Slot(uint32(i))}
	}
	var signs lowrank.Signs
	var sums lowrank.Sums
	block := lowrank.New([]lowrank.Shape{{Columns: prng.BlockLen}})
	sign := quickest(func() { block.Load(&signs, z) }) / prng.BlockLen
	const side = 256
	matrix := lowrank.New([]lowrank.Shape{{Rows: side, Columns: side}})
	matrix.Load(&signs, z)
	a := make([]float32, len(z))
	for i := range a {
		a[i] = 1e-3 // sums of zeros alone take another way
	}
	sums.Set(a)
	x := make([]float32, side*side)
	element := quickest(func() { matrix.Sum(x, 0, &signs, &sums) }) / (side * side)
	return (sign*float64(signsOf(p)) + element*float64(p.Dim)) / float64(len(z))
}

// quickest runs f for some [measuredFor], and returns the shortest time in nanoseconds.
func quickest(f func()) float64 {
	least := time.Duration(math.MaxInt64)
	for began := time.Now(); time.Since(began) < measuredFor; {
		at := time.Now()
		f()
		least = min(least, time.Since(at))
	}
	return float64(least)
}

// evolutionProducts returns the products by which a replica shapes the candidates of a record of
// server_rule=cma and learns from them; 0 with other rules. With a limited covariance it shapes the
// better half alone.
func evolutionProducts(p *plan.Plan) uint64 {
	if p.ServerRule != plan.ServerCMA {
		return 0
	}
	return p.Dim * uint64(p.CovarianceRows()) * uint64(p.Perturbations) *
		map[plan.Covariance]uint64{plan.FullCovariance: 2, plan.LimitedCovariance: 1}[p.Covariance]
}

// productTime measures, in nanoseconds, how long this core takes to add a product to a sum.
func productTime(p *plan.Plan) float64 {
	sums, row := make([]float64, min(p.Dim, 1000)), make([]float32, min(p.Dim, 1000))
	const passes = 1000
	least := quickest(func() {
		for range passes {
			for i, e := range row {
				sums[i] += 1.5 * float64(e)
			}
		}
	})
	return least / float64(passes*len(row))
}

// inMilliseconds returns a number of nanoseconds as text with two digits.
func inMilliseconds(ns float64) string {
	if !(ns > 0) {
		return "0 ms"
	}
	unit := math.Pow(10, math.Floor(math.Log10(ns))-1)
	ms := math.Round(ns/unit) * (unit / 1e6)
	return strconv.FormatFloat(ms, 'f', max(0, 7-int(math.Floor(math.Log10(ns)))), 64) + " ms"
}
