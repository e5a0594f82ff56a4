package planfile

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/zofl/zofl/plan"
)

// Layers returns the segments of a network of dense layers. text has the inputs and outputs of each
// layer: "relu:784x64,64x10". The name before a colon is the activation of the layer's outputs, and
// of later layers up to the next name. The activation sets the width of the uniform fill of the
// weights, as in Glorot and in He:
//
//	relu                   +-sqrt(6/in)         a variance of 2/in
//	tanh, sigmoid, linear  +-sqrt(6/(in+out))   a variance of 2/(in+out)
//
// Biases start at zero. The parameters lie in the order of PyTorch, layer after layer: first
// the weights as out rows of in elements, so that element o*in + i joins input i to output o,
// then out biases. Layer 1 is segments weight1 and bias1.
//
// The number of inputs of a layer must be a multiple of the outputs of the layer before. So Layers
// can describe convolutions too: in is the number of a filter's weights, out the number of filters.
//
// The error is a [*plan.Error] of the field segments.
func Layers(text string) ([]plan.Segment, error) {
	var segments []plan.Segment
	if strings.HasPrefix(text, "[") {
		return nil, layersFault(text, "layers are inputs x outputs, as in relu:784x64,64x10; a list of "+
			"segments is given by --set segments= and --dim")
	}
	scale, before := widths["linear"], uint64(1)
	for i, layer := range strings.Split(text, ",") {
		name, size, named := strings.Cut(strings.TrimSpace(layer), ":")
		if !named {
			name, size = "", name
		} else if scale = widths[name]; scale == nil {
			return nil, layersFault(text, fmt.Sprintf("no activation is called %q: choose relu, "+
				"tanh, sigmoid or linear", name))
		}
		if i == 0 && !named {
			return nil, layersFault(text, "name the activation first, as in relu:784x64,64x10")
		}
		in, out, err := layerSize(size)
		switch {
		case err != nil:
			return nil, layersFault(text, err.Error())
		case in%before != 0:
			return nil, layersFault(text, fmt.Sprintf("layer %d has %d inputs, which is no multiple "+
				"of the %d outputs before: write each layer as inputs x outputs", i+1, in, before))
		}
		segments = append(segments,
			plan.Segment{Name: fmt.Sprint("weight", i+1), Len: in * out, Fill: plan.UniformFill,
				Scale: float32(scale(float64(in), float64(out)))},
			plan.Segment{Name: fmt.Sprint("bias", i+1), Len: out})
		before = out
	}
	return segments, nil
}

// widths are half the widths of the uniform fills, by the name of the activation.
var widths = map[string]func(in, out float64) float64{
	"relu": func(in, _ float64) float64 { return math.Sqrt(6 / in) },
	"tanh": glorot, "sigmoid": glorot, "linear": glorot,
}

func glorot(in, out float64) float64 { return math.Sqrt(6 / (in + out)) }

// maxSide is the largest number of inputs or outputs of a layer. The product of two such numbers
// fits 64 bits.
const maxSide = math.MaxInt32

// layerSize reads "784x64".
func layerSize(text string) (in, out uint64, err error) {
	a, b, found := strings.Cut(text, "x")
	in, err1 := strconv.ParseUint(a, 10, 64)
	out, err2 := strconv.ParseUint(b, 10, 64)
	large := func(err error) bool { return err == nil || errors.Is(err, strconv.ErrRange) }
	switch {
	case !found || !large(err1) || !large(err2) || in == 0 || out == 0:
		return 0, 0, fmt.Errorf("%q is no layer: write inputs x outputs, as in 784x64", text)
	case in > maxSide:
		return 0, 0, fmt.Errorf("layer %q has too many inputs: give at most %d", text, maxSide)
	case out > maxSide:
		return 0, 0, fmt.Errorf("layer %q has too many outputs: give at most %d", text, maxSide)
	case in*out > plan.MaxDim:
		return 0, 0, fmt.Errorf("layer %q has too many weights, %d: a model has at most %d parameters",
			text, in*out, int64(plan.MaxDim))
	}
	return in, out, nil
}

func layersFault(text, remedy string) error {
	return &plan.Error{Field: "segments", Value: text, Remedy: remedy}
}

// SetLayers gives a plan the segments of [Layers], and sets dim to the number of their parameters
// if the plan has no dim. With distribution=lowrank the weights have [Rows]. If the plan has
// another dim, SetLayers returns a [*plan.Error] and does not change the plan.
func SetLayers(p *plan.Plan, text string) error {
	segments, err := Layers(text)
	if err != nil {
		return err
	}
	dim := uint64(0)
	for _, s := range segments {
		dim += s.Len
	}
	if dim > plan.MaxDim {
		return layersFault(text, fmt.Sprintf("these layers have %d parameters: a model has at most %d",
			dim, int64(plan.MaxDim)))
	}
	if p.Dim != 0 && p.Dim != dim {
		return layersFault(text, fmt.Sprintf("these layers have %d parameters and dim is %d: "+
			"correct one of the two, or leave out dim", dim, p.Dim))
	}
	p.Segments, p.Dim = segments, dim
	if p.Distribution == plan.LowRank {
		for i := 0; i < len(segments); i += 2 {
			outputs := segments[i+1].Len
			segments[i].Rows = Rows(outputs, segments[i].Len/outputs)
		}
	}
	return nil
}

// LeastFactors is the least number of signs of a direction of rank 1 over a matrix. With fewer, two
// directions are alike over the whole matrix too often.
const LeastFactors = 64

// Rows returns the rows that a segment has with distribution=lowrank, given the sides of its
// matrix. Rows returns 0 if the segment should be no matrix, because it has one row or column, or
// too few signs.
func Rows(rows, columns uint64) uint64 {
	if rows < 2 || columns < 2 || rows+columns < LeastFactors {
		return 0
	}
	return rows
}
