package models

import (
	"fmt"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/tables"
)

// One minibatch of ZOFedHT's experiments.
func BenchmarkBinary(b *testing.B) {
	for _, samples := range []struct {
		name string
		s    *Samples
	}{
		{"images", ImageSamples(data.Digits(1000, 1).Halves(), data.MNISTMean, data.MNISTStd)},
		{"sparse", SparseSamples(tables.Planted(1000, 1))},
	} {
		for _, m := range []struct {
			name  string
			model Model
		}{
			{"logistic", NewLogistic(samples.s, true)},
			{"svm", NewSVM(samples.s, true)},
			{"mlp", NewMLP(samples.s, 50)},
		} {
			b.Run(samples.name+"/"+m.name, func(b *testing.B) {
				params := random(m.model.Dim(), 1)
				batch := data.NewBatcher(sequence(1000)).Pick(64, 1)
				for b.Loop() {
					m.model.Loss(params, batch)
				}
				b.ReportMetric(float64(b.N)*64/b.Elapsed().Seconds(), "samples/s")
			})
		}
	}
	b.Log(BLAS())
}

// What the papers' experiments spend their time with: one minibatch at a time,
// on one goroutine. Run it also with -tags openblas.
func BenchmarkModels(b *testing.B) {
	im := data.Digits(1000, 1)
	for _, m := range []struct {
		name  string
		model Differentiable
	}{
		{"softmax", softmax.New(im, data.MNISTMean, data.MNISTStd)},
		{"small", NewCNNSmall(im, data.MNISTMean, data.MNISTStd)},
		{"mnist", NewCNNMNIST(im, data.MNISTMean, data.MNISTStd)},
		{"fashion", NewCNNFashion(im, data.MNISTMean, data.MNISTStd)},
	} {
		params, grad := Initial(m.model, 1), make([]float32, m.model.Dim())
		for _, size := range []int{32, 256} {
			batch := data.NewBatcher(sequence(im.Len())).Pick(size, 1)
			rate := func(b *testing.B) {
				b.ReportMetric(float64(b.N)*float64(size)/b.Elapsed().Seconds(), "images/s")
			}
			b.Run(fmt.Sprintf("loss/%s/%d", m.name, size), func(b *testing.B) {
				for b.Loop() {
					m.model.Loss(params, batch)
				}
				rate(b)
			})
			b.Run(fmt.Sprintf("gradient/%s/%d", m.name, size), func(b *testing.B) {
				for b.Loop() {
					m.model.Gradient(grad, params, batch)
				}
				rate(b)
			})
		}
	}
	b.Log(BLAS())
}
