package stats

import (
	"fmt"
	"math"
	"math/big"

	"github.com/zofl/zofl/plan"
)

// With secure=sum a device sends whole numbers that devices add under masks, in limbs of 20 bits: a
// sum over the 4,096 devices of a round then fits 32 bits. The sums are exact, so the order of
// devices does not matter.
//
// For each column these are the number of values, of missing values, the sum of the values in units
// of 2^-52, and the sum of their squares in units of 2^-64.
const (
	limb     = 20
	counts   = 2 // limbs of a number of values
	sums     = 6
	squares  = 8
	perSum   = 2*counts + sums + squares
	sumUnit  = 52
	squUnit  = 64
	room     = 13  // bits of a sum that one device leaves for the others, and for the sign
	accuracy = 400 // bits of the numbers from which sums come
)

func wordsOf(columns int) int { return perSum * columns }

// AppendWords appends a device's numbers, for a plan with secure=sum.
func AppendWords(words []uint32, columns []plan.Column) ([]uint32, error) {
	for i := range columns {
		c := &columns[i]
		n, mean := float(float64(c.Count)), float(c.Mean)
		square := product(n, product(mean, mean))
		square.Add(square, product(n, product(float(c.Std), float(c.Std))))
		for _, part := range []struct {
			value *big.Float
			unit  int
			limbs int
		}{
			{n, 0, counts}, {float(float64(c.Missing)), 0, counts},
			{product(n, mean), sumUnit, sums}, {square, squUnit, squares},
		} {
			v := rounded(part.value, part.unit)
			if v.BitLen() > limb*part.limbs-room {
				return nil, fmt.Errorf("column %d has %d values near %.3g, which is too much for a sum "+
					"under masks: measure it in another unit", i, c.Count, math.Abs(c.Mean)+c.Std)
			}
			words = appendLimbs(words, v, part.limbs)
		}
	}
	return words, nil
}

func float(v float64) *big.Float { return new(big.Float).SetPrec(accuracy).SetFloat64(v) }

func product(a, b *big.Float) *big.Float {
	return new(big.Float).SetPrec(accuracy).Mul(a, b)
}

// rounded returns v in units of 2^-unit, rounded to the nearest whole number.
func rounded(v *big.Float, unit int) *big.Int {
	scaled := new(big.Float).SetPrec(accuracy).SetMantExp(v, unit)
	half := big.NewFloat(math.Copysign(0.5, float64(scaled.Sign())))
	n, _ := scaled.Add(scaled, half).Int(nil)
	return n
}

// appendLimbs appends the lowest limbs of v, a number below 0 as its complement, low limbs first.
func appendLimbs(words []uint32, v *big.Int, limbs int) []uint32 {
	if v.Sign() < 0 {
		v = new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), uint(limb*limbs)))
	}
	mask := big.NewInt(1<<limb - 1)
	for i := range limbs {
		low := new(big.Int).Rsh(v, uint(limb*i))
		words = append(words, uint32(low.And(low, mask).Uint64()))
	}
	return words
}

// ReadWords returns the statistics that sums of words stand for. A sum has no smallest and largest
// values. ok is false if the sums cannot be of honest devices.
func ReadWords(words []uint32) (columns []plan.Column, ok bool) {
	for ; len(words) >= perSum; words = words[perSum:] {
		count, missing := number(words[:counts]), number(words[counts:2*counts])
		sum := number(words[2*counts : 2*counts+sums])
		whole := new(big.Int).Lsh(big.NewInt(1), limb*sums)
		if sum.Mod(sum, whole); sum.Bit(limb*sums-1) > 0 {
			sum.Sub(sum, whole)
		}
		c, ok := column(count, missing, sum, number(words[2*counts+sums:perSum]))
		if !ok {
			return nil, false
		}
		columns = append(columns, c)
	}
	return columns, len(words) == 0
}

// number returns the number that limbs stand for. A limb of a sum may have more than 20 bits.
func number(words []uint32) *big.Int {
	v := new(big.Int)
	for i, w := range words {
		v.Add(v, new(big.Int).Lsh(new(big.Int).SetUint64(uint64(w)), uint(limb*i)))
	}
	return v
}

// column returns the column with a number of values and their exact sums.
func column(count, missing, sum, square *big.Int) (c plan.Column, ok bool) {
	if !count.IsUint64() || !missing.IsUint64() ||
		max(count.Uint64(), missing.Uint64()) > plan.MaxRows {
		return c, false
	}
	if c.Count, c.Missing = count.Uint64(), missing.Uint64(); c.Count == 0 {
		return c, sum.Sign() == 0 && square.Sign() == 0
	}
	n := float(float64(c.Count))
	mean := new(big.Float).SetPrec(accuracy).SetInt(sum)
	mean.Quo(mean.SetMantExp(mean, -sumUnit), n)
	variance := new(big.Float).SetPrec(accuracy).SetInt(square)
	variance.Quo(variance.SetMantExp(variance, -squUnit), n)
	variance.Sub(variance, product(mean, mean))
	c.Mean, _ = mean.Float64()
	v, _ := variance.Float64()
	// Where all values are equal, their sums are rounded, and the variance is near 0.
	rounding := math.Ldexp(1+2*math.Abs(c.Mean), 1-sumUnit)
	if v > rounding {
		c.Std = math.Sqrt(v)
	}
	return c, v >= -rounding
}
