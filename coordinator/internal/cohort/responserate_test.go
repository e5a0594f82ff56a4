package cohort

import (
	"testing"
)

func TestYieldOfRoundsThatCloseEarly(t *testing.T) {
	y := ResponseRate{Population: 40_000}
	for range 20 {
		y.Begin(y.Ask(150, 0))
		y.Answers, y.Early = 100, true // the target; nobody is late
	}
	if y.Population != 40_000 {
		t.Errorf("the estimate is %d, want 40000: nothing spoke against it", y.Population)
	}
}

func TestYieldSettles(t *testing.T) {
	const want, devices = 150, 40_000
	for _, population := range []uint64{1, 1000, 40_000, 5_000_000} {
		y := ResponseRate{Population: population}
		asked := uint64(0)
		for range 60 {
			y.Begin(y.Ask(want, 0))
			asked = y.threshold * devices >> 32
			y.Answers, y.Early = asked, asked > want
		}
		if asked < want*9/10 || asked > want*11/10 {
			t.Errorf("from an estimate of %d: %d of %d devices are asked, want about %d",
				population, asked, devices, want)
		}
	}
}
