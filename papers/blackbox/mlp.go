package blackbox

import (
	"math"
	"strconv"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/tables"
	"github.com/zofl/zofl/plan"
)

// widths are the units of the MLP by layer: features, hidden, hidden, classes.
var widths = [...]int{54, 30, 14, 7}

// mlpDim is the number of parameters: of each layer the weights [out][in], then the
// biases.
const mlpDim = 30*(54+1) + 14*(30+1) + 7*(14+1) // 2,189

// mlpChunk is the number of rows that the layers process at a time: enough for long vector
// operations, and few enough for the values of all units to fit a core's cache.
const mlpChunk = 256

// An activation holds the layers' results for some rows, [unit][row]. Rows are the innermost
// index, so that forward multiplies a weight by all rows of a unit as one contiguous vector.
type activation struct {
	rows   int
	layers [len(widths)][]float32 // the first is the input
}

// newActivation returns an activation for at most this many rows.
func newActivation(rows int) *activation {
	a := &activation{rows: rows}
	for l, n := range widths {
		a.layers[l] = make([]float32, n*rows)
	}
	return a
}

// shrink reduces the number of rows.
func (a *activation) shrink(rows int) {
	a.rows = rows
	for l, n := range widths {
		a.layers[l] = a.layers[l][:n*rows]
	}
}

// unit returns the values of unit i of a layer for each row.
func (a *activation) unit(layer, i int) []float32 {
	return a.layers[layer][i*a.rows : (i+1)*a.rows]
}

// forward computes all layers from input, with rectifiers except after the last. forward keeps
// input as the first layer.
func (a *activation) forward(params, input []float32) (logits []float32) {
	a.layers[0] = input
	for l := 1; l < len(widths); l++ {
		weights, bias, rest := layerOf(params, l)
		for o, b := range bias {
			dst := a.unit(l, o)
			fill(dst, b)
			for i, w := range weights[o*widths[l-1]:][:widths[l-1]] {
				mathx.Axpy(dst, w, a.unit(l-1, i))
			}
			if l+1 < len(widths) {
				rectify(dst)
			}
		}
		params = rest
	}
	return a.layers[len(widths)-1]
}

// layerOf splits parameters that begin with layer l.
func layerOf(params []float32, l int) (weights, bias, rest []float32) {
	n := widths[l] * widths[l-1]
	return params[:n], params[n : n+widths[l]], params[n+widths[l]:]
}

// rectify computes x[i] = max(x[i], 0). rectify compares the bits as integers, without branches,
// because the signs are random.
func rectify(x []float32) {
	for i, v := range x {
		x[i] = math.Float32frombits(uint32(max(positive(v), 0)))
	}
}

// An mlp is the mean cross-entropy of the MLP over rows of a table, for training.
type mlp struct{ *models.Net }

func newMLP(t *tables.Table) mlp {
	return mlp{models.NewNet(t, widths[1:len(widths)-1]...)}
}

// Segments returns the layers, uniform in +-1/sqrt(fan_in). Each layer's weights and biases are
// one segment, as in the cached trained models.
func (mlp) Segments() (s []plan.Segment) {
	for l := 1; l < len(widths); l++ {
		in, out := widths[l-1], widths[l]
		s = append(s, plan.Segment{Name: "fc" + strconv.Itoa(l), Len: uint64(out * (in + 1)),
			Fill: plan.UniformFill, Scale: float32(1 / math.Sqrt(float64(in)))})
	}
	return s
}

var _ models.Differentiable = mlp{}
