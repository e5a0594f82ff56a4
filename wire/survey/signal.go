package survey

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/zofl/zofl/plan"
)

// MostSignal bounds the signal to noise of a difference that the losses of a survey can show: it
// stands for all above it.
const MostSignal = 100

// FewSignal is the signal to noise below which a run is warned: at 3, noise takes a ninth more
// losses.
const FewSignal = 3

// SetSignal sets r.SignalToNoise and r.LossesFactor for differences whose odd part, a slope's, is
// odd, and of which wrong is error. With differences that noise alone makes, odd is noise, too: so
// SignalToNoise is never far below 1, and a true one below may be anywhere.
func (r *Result) SetSignal(odd, wrong float64) {
	r.SignalToNoise = MostSignal
	if ratio := odd / wrong; ratio < MostSignal {
		r.SignalToNoise = ratio
	}
	if r.SignalToNoise > 0 {
		r.LossesFactor = 1 + 1/(r.SignalToNoise*r.SignalToNoise)
	}
	r.Warning = ""
	if r.SignalToNoise > 0 && r.SignalToNoise < FewSignal {
		r.Warning = fmt.Sprintf("of a difference of %.2g, %.2g is error: runs need %s times the "+
			"losses. %s", odd, wrong, inWords(r.LossesFactor, 2), r.remedy())
	}
}

// ErrorAt returns how much of a difference at distance number `at` is error. noise has, for each
// distance, the largest even part of the loss at this or a shorter one. A forward difference has
// the even part in full. A central one has no curvature, so that the even part at the distance
// before, where curvature is a hundredth, tells the noise. It has half the error of a forward one
// if the noise of its two losses is independent.
func ErrorAt(noise []float64, at int, difference plan.Difference) float64 {
	if difference != plan.Central {
		return noise[at]
	}
	return noise[max(at-1, 0)] / 2
}

// Vain says that a difference is mostly error, and that losses of 16 bits are the reason.
func (r *Result) Vain() bool { return r.Bits > 0 && r.SignalToNoise > 0 && r.SignalToNoise < 1 }

func (r *Result) remedy() string {
	if r.Bits > 0 {
		return fmt.Sprintf("The loss moves in steps of about 2^-%d of its size, as if computed in "+
			"16 bits: compute the loss, the residual stream and norms in float32; products of "+
			"matrices may stay in bfloat16", r.Bits)
	}
	return "If the loss is computed in 16 bits, compute it, the residual stream and norms in " +
		"float32 (products of matrices may stay in bfloat16); if it is measured, average more " +
		"samples in a loss, or give a larger mu"
}

// Price says SignalToNoise and LossesFactor in words, or "" if there are none.
func (r *Result) Price() string {
	switch {
	case r.SignalToNoise == 0:
		return ""
	case r.SignalToNoise == MostSignal:
		return fmt.Sprintf("above %d", MostSignal)
	}
	return fmt.Sprintf("%.2g, which takes %s times the losses", r.SignalToNoise,
		inWords(r.LossesFactor, 3))
}

// inWords returns v with so many digits that count, and without an exponent.
func inWords(v float64, digits int) string {
	return strconv.FormatFloat(Rounded(v, digits), 'f', -1, 64)
}

// Rounded returns v with so many digits that count, for people to read.
func Rounded(v float64, digits int) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}

// Reason is Why, and the price of the error at Value if that is known.
func (r *Result) Reason() string {
	if price := r.Price(); price != "" {
		return r.Why + "; signal to noise " + price
	}
	return r.Why
}

// halves are the significant bits of bfloat16 and float16.
var halves = [...]int{8, 11}

// Bits returns the number of significant bits if losses are numbers of 16 bits, or 0. Losses are
// such numbers if each has no more significant bits than the format, one has as many, at least four
// differ, and not all are whole numbers, which count something.
func Bits(losses []float64) int {
	most, whole, distinct := 0, true, map[float64]bool{}
	for _, f := range losses {
		if f-f != 0 || f == 0 {
			continue
		}
		distinct[f], whole = true, whole && f == math.Trunc(f)
		mantissa := math.Float64bits(f)&(1<<52-1) | 1<<52
		most = max(most, 53-bits.TrailingZeros64(mantissa))
	}
	for _, n := range halves {
		if most == n && len(distinct) >= 4 && !whole {
			return n
		}
	}
	return 0
}

// Coarse returns the number of which more than half of some devices' [Bits] are, or 0.
func Coarse(devices []int) int {
	count := map[int]int{}
	for _, n := range devices {
		if count[n]++; n > 0 && 2*count[n] > len(devices) {
			return n
		}
	}
	return 0
}

// LossesOf returns the losses in an answer to a survey of kind [Mu].
func LossesOf(answer []float32) []float64 {
	n, at := len(Distances()), float64(answer[0])
	losses := []float64{at}
	for i := range n {
		odd, even := float64(answer[1+i]), float64(answer[1+n+i])
		losses = append(losses, at+even+odd, at+even-odd)
	}
	return losses
}
