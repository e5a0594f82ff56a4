package main

import (
	"math"

	"github.com/zofl/zofl/examples/sensor/internal/config"
	"github.com/zofl/zofl/plan"
)

// A shape describes the model. All devices of a run must have the same shape.
//
// For each channel the network sees the last reading, the differences of the lags-1 readings
// before it, and the change that followed at this time yesterday and a week ago; also the time of
// day. The network forecasts how much the reading will change within ahead periods:
//
//	change = Skip u + Out tanh(Hidden u + Bias) + OutBias
//
// Skip, Out and OutBias are 0 at first, so an untrained network forecasts no change.
type shape struct {
	channels, lags, hidden int
}

// shapeOf returns the shape of a configuration's model.
func shapeOf(c *config.Config) shape { return shape{len(c.Channels), c.Lags, c.Hidden} }

// sights returns the number of inputs from one channel.
func (s shape) sights() int { return s.lags + len(habitDays) }

// inputs returns the length of u.
func (s shape) inputs() int { return s.channels*s.sights() + 2 }

// dim returns the number of parameters.
func (s shape) dim() int {
	return s.channels*s.inputs() + s.hidden*(s.inputs()+1) + s.channels*(s.hidden+1)
}

// segments returns the layers in the order of the parameters, for the plan.
func (s shape) segments() []plan.Segment {
	in, hidden, out := uint64(s.inputs()), uint64(s.hidden), uint64(s.channels)
	return []plan.Segment{
		{Name: "skip", Len: out * in},
		{Name: "hidden", Len: hidden * in, Fill: plan.UniformFill,
			Scale: float32(1 / math.Sqrt(float64(in)))},
		{Name: "bias", Len: hidden},
		{Name: "out", Len: out * hidden},
		{Name: "outbias", Len: out},
	}
}

// A network evaluates models of a shape. Only one goroutine at a time may use it.
type network struct {
	shape
	units []float64 // of the hidden layer
}

func newNetwork(s shape) *network { return &network{s, make([]float64, s.hidden)} }

// forward sets change[c] to the forecast of parameters x for inputs u:
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

// dot returns the sum of a[i] b[i]. The last bits of dot may differ between devices, because each
// device computes only its own losses.
func dot(a, b []float32) float64 {
	var sum float32
	for i, v := range a {
		sum += v * b[i]
	}
	return float64(sum)
}
