package blackbox

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// A classSet has bit c for class c.
type classSet uint32

func (s classSet) has(class uint8) bool { return s>>class&1 == 1 }

// list returns the classes in order.
func (s classSet) list() (classes []int) {
	for ; s != 0; s &= s - 1 {
		classes = append(classes, bits.TrailingZeros32(uint32(s)))
	}
	return classes
}

// portion returns p times the number of classes, rounded down.
func portion(p float64, classes int) (int, error) {
	// Without the 1e-9, 0.7*10 could round to a little less than 7.
	n := int(p*float64(classes) + 1e-9)
	if !(p <= 1) || n < 1 {
		return 0, fmt.Errorf("blackbox: Portion is %v, which is none of %d classes, or more "+
			"than all: take %.2g to 1",
			p, classes, 1/float64(classes))
	}
	return n, nil
}

// drawSet draws n different classes.
func drawSet(rng *rand.Rand, n, classes int) (s classSet) {
	for bits.OnesCount32(uint32(s)) < n {
		s |= 1 << rng.IntN(classes)
	}
	return s
}

// maxDraws is the largest number of draws that drawSharing makes: for 2 of 10 classes and 10
// clients, drawSharing makes a million draws on average.
const maxDraws = 1 << 24

// drawSharing draws n of the classes for each client, repeatedly, until some class is in
// all draws.
func drawSharing(rng *rand.Rand, n, classes int, sets []classSet) error {
	for range maxDraws {
		all := ^classSet(0)
		for i := range sets {
			sets[i] = drawSet(rng, n, classes)
			if all &= sets[i]; all == 0 {
				break
			}
		}
		if all != 0 {
			return nil
		}
	}
	return fmt.Errorf("blackbox: Portion is %v: %d draws of %d classes for each of %d clients "+
		"had none in common: take a larger one",
		float64(n)/float64(classes), maxDraws, n, len(sets))
}
