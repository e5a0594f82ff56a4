// Package leak is an attack on privacy: from the scalars that devices send, it estimates which
// labels the devices have, and which devices have similar data. Experiments use the attack to
// measure which settings protect the devices.
//
// # Labels
//
// A device's scalar is approximately the slope of the device's loss along a direction, and the
// loss is a mean over the device's samples. With h[c] the share of the device's samples that have
// label c,
//
//	scalar = sum over c of h[c] * slope[c]
//
// Here slope[c] is the slope of the samples with label c. An attacker who knows the model and the
// directions can compute slope[c] from any samples of that label, such as images that the
// attacker owns. Then h is the solution of linear equations, one for each scalar: see
// [Histograms].
//
// # Whose data are alike
//
// An attacker who does not know the model or the directions can still compare devices: if two
// devices use the same directions and have similar data, their scalars are similar. See [Alike].
package leak

import (
	"math"
	"slices"
)

// An Observation holds the scalars of a round, each the mean over some devices.
type Observation struct {
	Devices []int
	// Slopes holds, for each scalar and each label, the scalar that a device with samples of only
	// this label would send.
	Slopes  [][]float64
	Scalars []float64
	// Clip is the largest L2 norm of a device's scalars: a device with a larger norm scaled its
	// scalars down before the mean; 0: no limit.
	Clip float64
}

// refits is the number of estimates that Histograms makes where devices scaled their scalars
// down. Each estimate uses the previous estimate to compute by how much the devices scaled.
const refits = 20

// steps is the number of iterations of an estimate, in all its refits together.
const steps = 4000

// Histograms returns an estimate of each device's histogram of labels. The histograms have
// elements of at least 0 and the sum 1, and minimize the sum of the squared differences from the
// scalars. If the scalars reveal nothing about a label, its share stays near uniform.
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

// factor returns the factor by which a device of the observation scales its scalars down to the
// norm Clip.
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

// A problem is the minimization of h'Qh/2 - b'h, where h holds the histograms one after the
// other.
type problem struct {
	labels int
	q      [][]float64
	b      []float64
	joint  bool // an observation has several devices
}

// newProblem returns the problem of minimizing the sum of squares over all observations. The
// estimate h says by how much devices scaled their scalars down.
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

// times returns row i of q times v. If no observation has several devices, the row is 0 except
// for the elements of the device itself.
func (p *problem) times(i int, v []float64) float64 {
	if p.joint {
		return dot(p.q[i], v)
	}
	from := i - i%p.labels
	return dot(p.q[i][from:from+p.labels], v[from:])
}

// solve minimizes by projected gradient steps with Nesterov's momentum, starting from h.
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

// project replaces v by the nearest vector whose elements are at least 0 and have the sum 1.
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
