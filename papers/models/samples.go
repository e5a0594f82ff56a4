package models

import (
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/tables"
)

// Samples are the data of the models with two classes: rows of numbers, dense or sparse, each of
// class +1 or -1. Samples do not change, so several models and goroutines may share one Samples.
type Samples struct {
	features int
	dense    []float32      // row after row; nil if sparse
	sparse   *tables.Sparse // nil if dense
	sign     []float64      // one a sample, +1 or -1
}

// ImageSamples returns images of two classes, normalized to (ink - mean) / std with ink from 0 to
// 1; see [data.Images.Halves]. Label 1 is +1, label 0 is -1. ImageSamples allocates 4 bytes a
// pixel. The function panics if there are not two classes or std is not positive.
func ImageSamples(im *data.Images, mean, std float64) *Samples {
	s := &Samples{features: im.Rows * im.Cols, dense: make([]float32, len(im.Pixels)),
		sign: signs(im.Labels, im.Classes)}
	ink := softmax.Ink(mean, std)
	for i, p := range im.Pixels {
		s.dense[i] = ink[p]
	}
	return s
}

// TableSamples returns the rows of a table of two classes. The result keeps t. Label 1 is +1,
// label 0 is -1. TableSamples panics if t does not have two classes.
func TableSamples(t *tables.Table) *Samples {
	return &Samples{features: t.Features, dense: t.Values, sign: signs(t.Labels, t.Classes)}
}

// SparseSamples returns the sparse samples s as Samples, which keep s.
func SparseSamples(s *tables.Sparse) *Samples {
	return &Samples{features: s.Features, sparse: s, sign: signs(s.Labels, 2)}
}

// signs returns +1 for label 1 and -1 for label 0.
func signs(labels []uint8, classes int) []float64 {
	if classes != 2 {
		panic("models: a model of two classes needs samples of two classes: Relabel them")
	}
	out := make([]float64, len(labels))
	for i, l := range labels {
		out[i] = 2*float64(l) - 1
	}
	return out
}

// Len returns the number of samples.
func (s *Samples) Len() int { return len(s.sign) }

// Features returns the length of a sample.
func (s *Samples) Features() int { return s.features }

// row returns a dense sample.
func (s *Samples) row(i int) []float32 {
	return s.dense[i*s.features : (i+1)*s.features]
}

// dot returns the inner product of sample i and w, which is Features long, summed in float64,
// because finite differences of losses need that precision.
func (s *Samples) dot(i int, w []float32) float64 {
	if s.sparse == nil {
		return gonum.Implementation{}.Dsdot(s.features, s.row(i), 1, w, 1)
	}
	index, value := s.sparse.At(i)
	var sum float64
	for k, at := range index {
		sum += float64(value[k]) * float64(w[at])
	}
	return sum
}
