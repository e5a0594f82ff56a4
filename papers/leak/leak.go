// Package leak estimates from the scalars that devices send which labels devices have, and whose
// data are alike. It is an attack, to measure what hides them.
//
// # Labels
//
// A device's scalar is about the slope of its loss along a direction, and its loss is the mean over
// its labels: with h[c] the part of its samples that have label c,
//
//	scalar = sum over c of h[c] * slope[c]
//
// Here slope[c] is the slope of the samples with label c. An attacker who knows the model and the
// directions can compute slope[c] from any samples of that label, such as images of his own. Then h
// is the solution of linear equations, one for each scalar: [Histograms].
//
// # Whose data are alike
//
// Without this knowledge an attacker can still compare: if two devices answer along the same
// directions and have similar data, their scalars are similar: [Alike].
package leak

import (
	"math"
	"slices"
)

// An Observation is scalars of a round, each the mean over the devices.
type Observation struct {
	Devices []int
	// Slopes are, for each scalar and each label, what a device with only this label would send.
	Slopes  [][]float64
	Scalars []float64
	// Clip is the L2 norm to which each device's scalars were cut before the mean; 0 means that they
	// were not cut.
	Clip float64
}

// refits is how often the estimate is made where scalars were cut: how much they were follows from
// the estimate before.
const refits = 20

// steps is how many steps an estimate takes, in all its refits together.
const steps = 4000

// Histograms returns an estimate of each device's histogram of labels: numbers of 0 and more with
// the sum 1, that have the least squares of differences from the scalars. If the scalars reveal
// nothing about a label, its share stays near uniform.
func Histograms(devices, labels int, seen []Observation) [][]float64 {
	h := make([][]float64, devices)
	for i := range h {
		h[i] = make([]float64, labels)
		for c := range h[i] {
			h[i][c] = 1 / float64(labels)
		}
	}
	times := 1
	if slices.ContainsFunc(seen, func(o Observation) bool { return o.Clip > 0 }) {
		times = refits
	}
	for range times {
		h = newProblem(h, seen).solve(h, steps/times)
	}
	return h
}

// factor returns by how much an observation's devices multiply their scalars when they cut them.
func (o *Observation) factor(h []float64) float64 {
	if o.Clip == 0 {
		return 1
	}
	sum := 0.0
	for _, slope := range o.Slopes {
		v := dot(slope, h)
		sum += v * v
	}
	return min(1, o.Clip/math.Sqrt(sum))
}

// A problem is to minimize h'Qh/2 - b'h, with the histograms one after the other in h.
type problem struct {
	labels int
	q      [][]float64
	b      []float64
	joint  bool // an observation has several devices
}

// newProblem returns the sum of all observations' squares. The estimate h says how much was cut.
func newProblem(h [][]float64, seen []Observation) *problem {
	labels := len(h[0])
	p := &problem{labels: labels, q: make([][]float64, len(h)*labels),
		b: make([]float64, len(h)*labels)}
	for i := range p.q {
		p.q[i] = make([]float64, len(p.b))
	}
	for i := range seen {
		p.add(h, &seen[i])
	}
	return p
}

func (p *problem) add(h [][]float64, o *Observation) {
	p.joint = p.joint || len(o.Devices) > 1
	gram, right := make([][]float64, p.labels), make([]float64, p.labels)
	for c := range gram {
		gram[c] = make([]float64, p.labels)
	}
	for s, slope := range o.Slopes {
		for c, v := range slope {
			right[c] += v * o.Scalars[s]
			for e, w := range slope {
				gram[c][e] += v * w
			}
		}
	}
	share := make([]float64, len(o.Devices))
	for i, d := range o.Devices {
		share[i] = o.factor(h[d]) / float64(len(o.Devices))
	}
	for i, d := range o.Devices {
		for c, v := range right {
			p.b[d*p.labels+c] += share[i] * v
		}
		for j, e := range o.Devices {
			for c := range gram {
				row := p.q[d*p.labels+c][e*p.labels:]
				for k, v := range gram[c] {
					row[k] += share[i] * share[j] * v
				}
			}
		}
	}
}

// times returns row i of q times v. Where no observation has several devices, the row is 0 but for
// the device's own part.
func (p *problem) times(i int, v []float64) float64 {
	if p.joint {
		return dot(p.q[i], v)
	}
	from := i - i%p.labels
	return dot(p.q[i][from:from+p.labels], v[from:])
}

// solve minimizes by projected gradients with Nesterov's momentum, beginning at h.
func (p *problem) solve(h [][]float64, steps int) [][]float64 {
	rate := 1 / max(p.largest(), 1e-300)
	x := slices.Concat(h...)
	y, older, t := slices.Clone(x), slices.Clone(x), 1.0
	for range steps {
		for i := range x {
			x[i] = y[i] - rate*(p.times(i, y)-p.b[i])
		}
		for i := 0; i < len(x); i += p.labels {
			project(x[i : i+p.labels])
		}
		next := (1 + math.Sqrt(1+4*t*t)) / 2
		for i := range x {
			y[i] = x[i] + (t-1)/next*(x[i]-older[i])
		}
		copy(older, x)
		t = next
	}
	out := make([][]float64, len(h))
	for i := range out {
		out[i] = x[i*p.labels : (i+1)*p.labels]
	}
	return out
}

// largest returns a little more than the largest eigenvalue of q.
func (p *problem) largest() (value float64) {
	v := make([]float64, len(p.b))
	for i := range v {
		v[i] = 1 + float64(i%7)
	}
	for range 100 {
		length := math.Sqrt(dot(v, v))
		if length == 0 {
			return 0
		}
		u := make([]float64, len(v))
		for i := range u {
			u[i] = p.times(i, v) / length
		}
		v, value = u, math.Sqrt(dot(u, u))
	}
	return value * 1.05
}

// project replaces v by the nearest vector of numbers of 0 and more with the sum 1.
func project(v []float64) {
	sorted := slices.Clone(v)
	slices.Sort(sorted)
	sum, shift := 0.0, 0.0
	for i := len(sorted) - 1; i >= 0; i-- {
		sum += sorted[i]
		n := float64(len(sorted) - i)
		if s := (sum - 1) / n; sorted[i] > s {
			shift = s
		}
	}
	for i := range v {
		v[i] = max(0, v[i]-shift)
	}
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}
