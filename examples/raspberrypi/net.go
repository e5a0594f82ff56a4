package main

import (
	"math"

	"github.com/zofl/zofl/wire"
)

// A shape is what every device of a run must have alike: it is the model's.
//
// The network sees, of each channel, the last reading, how far the lags-1 readings
// before it were from it, what came at this time of yesterday and a week ago, and the
// time of day. It says how far from the last reading the one will be that comes ahead periods
// later:
//
//	change = Skip u + Out tanh(Hidden u + Bias) + OutBias
//
// Skip, Out and OutBias are 0 at first: a network that has learned nothing says that
// nothing changes.
type shape struct {
	channels, lags, hidden int
}

// sights is how many inputs a channel has.
func (s shape) sights() int { return s.lags + len(habitDays) }

// inputs is the length of u.
func (s shape) inputs() int { return s.channels*s.sights() + 2 }

// dim is the number of parameters.
func (s shape) dim() int {
	return s.channels*s.inputs() + s.hidden*(s.inputs()+1) + s.channels*(s.hidden+1)
}

// segments are the layers in the order of the parameters, as a plan has them.
func (s shape) segments() []wire.Segment {
	in, hidden, out := uint64(s.inputs()), uint64(s.hidden), uint64(s.channels)
	return []wire.Segment{
		{Name: "skip", Len: out * in},
		{Name: "hidden", Len: hidden * in, Fill: wire.UniformFill, Scale: float32(1 / math.Sqrt(float64(in)))},
		{Name: "bias", Len: hidden},
		{Name: "out", Len: out * hidden},
		{Name: "outbias", Len: out},
	}
}

// A network evaluates models of a shape. It is used by one goroutine at a time.
type network struct {
	shape
	units []float64 // of the hidden layer
}

func newNetwork(s shape) *network { return &network{s, make([]float64, s.hidden)} }

// forward sets change[c] to what parameters x say of inputs u:
//
//	unit[i] = tanh(bias[i] + sum_j hidden[i][j] u[j])
//	change[c] = outbias[c] + sum_j skip[c][j] u[j] + sum_i out[c][i] unit[i]
func (n *network) forward(x, u []float32, change []float64) {
	in := n.inputs()
	skip, x := x[:n.channels*in], x[n.channels*in:]
	weights, x := x[:n.hidden*in], x[n.hidden*in:]
	bias, x := x[:n.hidden], x[n.hidden:]
	out, last := x[:n.channels*n.hidden], x[n.channels*n.hidden:]
	for i := range n.units {
		n.units[i] = math.Tanh(float64(bias[i]) + dot(weights[i*in:(i+1)*in], u))
	}
	for c := range change {
		sum := float64(last[c]) + dot(skip[c*in:(c+1)*in], u)
		for i, v := range n.units {
			sum += float64(out[c*n.hidden+i]) * v
		}
		change[c] = sum
	}
}

// dot returns the sum of a[i] b[i]. No other device has to come to the same bits: a
// loss is a device's own.
func dot(a, b []float32) float64 {
	var sum float32
	for i, v := range a {
		sum += v * b[i]
	}
	return float64(sum)
}
