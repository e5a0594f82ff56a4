package scenario

import "math"

// Values that the devices of a survey find. The loss along a move is a parabola with its minimum at
// 1.
const (
	FoundMu           = 1
	FoundStep float32 = 0.8
)

// ProbeMu is the distance at which devices probe in rounds.
func (s *Scenario) ProbeMu() float64 {
	if s.Plan.MuAuto > 0 {
		return FoundMu
	}
	return Mu
}

// Scale is a factor that makes the scalars of one contribution different from each other. With
// noise there is one scalar, and it must stay large beside the noise.
func (s *Scenario) Scale(n uint64, k, p int) float64 {
	if s.Plan.DPClip > 0 {
		return 1
	}
	return float64(uint64(1) << ((n + uint64(k+p)) % 3))
}

// Slope is the slope of a device's loss along a direction, before the factor [Scale].
func (s *Scenario) Slope(device int) float64 { return math.Pow(s.Radix, float64(device)) }

// Solve finds count devices whose slopes have the weighted mean mean.
func (s *Scenario) Solve(mean float64, count int) ([]int, bool) {
	total := 0
	for _, w := range s.Weights {
		total += int(w)
	}
	for weight := count; weight <= total; weight++ {
		sum := math.Round(mean * float64(weight))
		if math.Abs(sum/float64(weight)-mean) > 1e-7*mean {
			continue
		}
		if found, ok := s.Digits(sum, weight, count); ok {
			return found, true
		}
	}
	return nil, false
}

// Near finds count devices, without weights, whose slopes have about the mean mean: a masked sum
// has a small error, and noise if the plan adds some. off is how far the sum is from these slopes.
func (s *Scenario) Near(mean float64, count int) (found []int, off float64, ok bool) {
	sum := math.Round(mean * float64(count))
	off = mean*float64(count) - sum
	if s.Plan.DPClip == 0 && math.Abs(off) > 0.05 {
		return nil, off, false
	}
	found, ok = s.Digits(sum, count, count)
	return found, off, ok
}

// Digits finds count devices with the given total weight. Each device has its weight as its digit
// of sum.
func (s *Scenario) Digits(sum float64, weight, count int) (found []int, ok bool) {
	found, ok = s.digits(sum)
	for _, i := range found {
		weight -= int(s.Weights[i])
	}
	return found, ok && weight == 0 && len(found) == count
}

// AnyDigits finds the devices whose weighted slopes add up to sum, where sum is rounded.
func (s *Scenario) AnyDigits(sum float64) (found []int, ok bool) {
	whole := math.Round(sum)
	if math.Abs(whole-sum) > 1e-6*max(whole, 1) {
		return nil, false
	}
	return s.digits(whole)
}

// digits finds the devices that have their weights as their digits of sum.
func (s *Scenario) digits(sum float64) (found []int, ok bool) {
	for i, w := range s.Weights {
		digit := int(math.Mod(sum, s.Radix))
		sum = math.Floor(sum / s.Radix)
		switch digit {
		case 0:
		case int(w):
			found = append(found, i)
		default:
			return nil, false
		}
	}
	return found, sum == 0
}

// AnyMean finds the devices of which v is the mean slope.
func (s *Scenario) AnyMean(v float64) ([]int, bool) {
	for n := 1; n <= s.Devices; n++ {
		if found, ok := s.Solve(v, n); ok {
			return found, true
		}
	}
	return nil, false
}

// Part finds the devices whose slopes add up to v times count, in a run without weights.
func (s *Scenario) Part(v float64, count int) ([]int, bool) {
	sum := math.Round(v * float64(count))
	for n := 1; n <= count; n++ {
		if found, ok := s.Digits(sum, n, n); ok {
			return found, true
		}
	}
	return nil, false
}
