package losses

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
)

// simulations returns tasks whose losses come from simulated measurements or counts, not from
// formulas.
func simulations() []task {
	return []task{deadlines(), thermostat(), servers(), decibels()}
}

// A job comes at a time, takes a time, and is due at a time.
type job struct{ at, takes, due float64 }

// deadlines returns the task of a machine that always takes the waiting job with the least score.
// x has the weights in the score: of the time that the job takes, of the time until the job is
// due, and of the time at which the job came.
func deadlines() task {
	const samples, jobs = 100, 60
	rng := source(51)
	lists := make([][]job, samples)
	for i := range lists {
		at := 0.0
		for range jobs {
			at += rng.ExpFloat64()
			takes := 0.3 + 0.8*rng.ExpFloat64()
			lists[i] = append(lists[i], job{at, takes, at + takes + 6*rng.Float64()})
		}
	}
	return task{name: "deadlines", what: "the share of jobs that are late", dim: 3, devices: 5,
		samples: samples, loss: mean(func(x []float32, i int) float64 {
			return late(x, slices.Clone(lists[i])) / jobs
		})}
}

// late returns the number of late jobs if the machine takes jobs by the scores with the weights
// x.
func late(x []float32, jobs []job) (late float64) {
	for now := 0.0; len(jobs) > 0; {
		now = max(now, jobs[0].at)
		next, least := 0, math.Inf(1)
		for k, j := range jobs {
			if j.at > now {
				break
			}
			score := float64(x[0])*j.takes + float64(x[1])*(j.due-now) + float64(x[2])*j.at
			if score < least {
				next, least = k, score
			}
		}
		if now += jobs[next].takes; now > jobs[next].due {
			late++
		}
		jobs = slices.Delete(jobs, next, next+1)
	}
	return late
}

// thermostat returns the task of a heater that is on or off. x has the target temperature above
// 18 degrees, the logarithm of the allowed deviation, and the decrease of the target temperature
// at night.
func thermostat() task {
	const samples, minutes = 50, 480
	rng := source(52)
	outside := make([][minutes]float64, samples)
	for i := range outside {
		degrees := 5 + 5*rng.NormFloat64()
		for m := range outside[i] {
			degrees += 0.1 * rng.NormFloat64()
			outside[i][m] = degrees
		}
	}
	return task{name: "thermostat", what: "a heater's switching, its heat, and discomfort", dim: 3,
		devices: 5, samples: samples, loss: mean(func(x []float32, i int) float64 {
			inside, heats, cost, miss := 15.0, false, 0.0, exp(x[1])
			for m, out := range outside[i] {
				hold, want := 18+float64(x[0]), 21.0
				if m >= minutes/2 {
					hold, want = hold+float64(x[2]), 17
				}
				if heats != (inside < hold-miss || heats && inside <= hold+miss) {
					heats = !heats
					cost += 0.2
				}
				if heats {
					inside += 0.2
					cost += 0.02
				}
				inside += 0.008 * (out - inside)
				cost += 0.05 * math.Abs(inside-want)
			}
			return cost / 10
		})}
}

// servers returns the task of four servers in a row that share a capacity. x has the logarithms
// of the servers' shares.
func servers() task {
	const samples, jobs = 60, 100
	return task{name: "servers", what: "the time through four servers that share a capacity", dim: 4,
		devices: 4, samples: samples, loss: mean(func(x []float32, i int) float64 {
			rng := source(uint64(530 + i))
			total := exp(x[0]) + exp(x[1]) + exp(x[2]) + exp(x[3])
			var free [4]float64 // when each server is
			at, sum := 0.0, 0.0
			for range jobs {
				at += 2.2 * rng.ExpFloat64()
				done := at
				for k, load := range [4]float64{1, 0.3, 2, 0.6} {
					done = max(done, free[k]) + load*rng.ExpFloat64()*total/exp(x[k])/2.5
					free[k] = done
				}
				sum += done - at
			}
			return sum / jobs
		})}
}

// decibels returns the task of a power that a device measures with a noise of half a decibel. The
// noise depends on the model's bits, so that a repeated measurement gives the same value.
func decibels() task {
	const dim = 8
	return task{name: "decibels", what: "a power in decibels, measured with a noise of 0.5", dim: dim,
		devices: 3, samples: 300, loss: func(x []float32, samples []int) float64 {
			power, sum := 0.01, fnv.New64a()
			for j, v := range x {
				bits := math.Float32bits(v)
				sum.Write([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
				power += square(float64(v), float64(j%3+1)) / float64(j+1)
			}
			rng := rand.New(rand.NewPCG(sum.Sum64(), uint64(samples[0])))
			return -40 + 10*math.Log10(power) + 0.5*rng.NormFloat64()
		}}
}
