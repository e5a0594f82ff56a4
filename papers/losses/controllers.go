package losses

import "math"

func controllers() []task {
	rng := source(21)
	plants := make([]plant, 200)
	for i := range plants {
		plants[i] = plant{lag: 0.5 + rng.Float64(), gain: 0.5 + rng.Float64(),
			target: 2*rng.Float64() - 1}
	}
	starts := make([][4]float64, 200)
	for i := range starts {
		for j := range starts[i] {
			starts[i][j] = 0.4*rng.Float64() - 0.2
		}
	}
	return []task{
		{name: "pid", what: "a PID controller of slow plants", dim: 3, devices: 5, samples: len(plants),
			loss: mean(func(x []float32, i int) float64 { return plants[i].run(x) })},
		{name: "pole", what: "a linear controller of a pole on a cart", dim: 4, devices: 4,
			samples: len(starts),
			loss:    mean(func(x []float32, i int) float64 { return balance(x, starts[i]) })},
		stock(),
	}
}

// stock returns the task of a shop with five goods, in whole numbers. For each good, x has the
// stock below which the shop orders, and the number that the shop orders, both in tens above 20.
// An order has a fixed cost and takes three days.
func stock() task {
	const goods, days, samples = 5, 60, 100
	rng := source(22)
	demands := make([][days][goods]int, samples)
	for i := range demands {
		for day := range days {
			for g := range goods {
				demands[i][day][g] = rng.IntN(4 * (g + 2))
			}
		}
	}
	return task{name: "stock", what: "when a shop orders, and how much, in whole numbers",
		dim: 2 * goods, devices: 5, samples: samples, loss: mean(func(x []float32, i int) float64 {
			cost := 0.0
			for g := range goods {
				held, coming := 20, [3]int{}
				below, amount := int(20+10*x[2*g]), max(0, int(20+10*x[2*g+1]))
				for day, demand := range demands[i] {
					held += coming[day%3]
					coming[day%3] = 0
					sold := min(held, demand[g])
					held -= sold
					cost += 0.1*float64(held) + 2*float64(demand[g]-sold)
					if held+coming[0]+coming[1]+coming[2] < below && amount > 0 {
						cost += 10
						coming[day%3] = amount
					}
				}
			}
			return cost / days
		})}
}

// A plant follows its input with two lags of a time and a gain.
type plant struct{ lag, gain, target float64 }

// run returns the mean square of the plant's error, plus a hundredth of the mean square of its
// input. x has the logarithms of the three gains.
func (p *plant) run(x []float32) float64 {
	const steps, dt = 120, 0.1
	var inner, outer, sum, before, loss float64
	before = p.target
	for range steps {
		miss := p.target - outer
		sum += miss * dt
		in := exp(x[0])*miss + exp(x[1])*sum + exp(x[2])*(miss-before)/dt
		in = min(max(in, -100), 100)
		before = miss
		inner += dt / p.lag * (p.gain*in - inner)
		outer += dt / p.lag * (inner - outer)
		loss += (miss*miss + 0.01*in*in) / steps
	}
	return min(loss, 1e6)
}

func exp(v float32) float64 { return math.Exp(float64(v)) }

// balance returns the share of the time for which a pole has fallen, and a tenth of the mean
// square of its angle until then. start has place, speed, angle and turn. The cart, its pole and
// the limits are those of Barto, Sutton and Anderson (1983), but any force up to 10 N is allowed.
func balance(x []float32, start [4]float64) float64 {
	const steps, dt, gravity, pole, length, total = 300, 0.02, 9.8, 0.1, 0.5, 1.1
	s, squares := start, 0.0
	for n := range steps {
		if math.Abs(s[0]) > 2.4 || math.Abs(s[2]) > 0.21 {
			return 1 - float64(n)/steps + squares/steps
		}
		force := 0.0
		for j, v := range s {
			force += float64(x[j]) * v
		}
		force = min(max(force, -10), 10)
		sin, cos := math.Sincos(s[2])
		push := (force + pole*length*s[3]*s[3]*sin) / total
		turn := (gravity*sin - cos*push) / (length * (4.0/3 - pole*cos*cos/total))
		speed := push - pole*length*turn*cos/total
		squares += 0.1 * s[2] * s[2] / (0.21 * 0.21)
		s[0] += dt * s[1]
		s[1] += dt * speed
		s[2] += dt * s[3]
		s[3] += dt * turn
	}
	return squares / steps
}
