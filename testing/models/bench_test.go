package models

import (
	"fmt"
	"testing"

	"github.com/zofl/zofl/testing/data"
)

// The hot use: one minibatch of 32 images, another parameter vector each time.
func BenchmarkLoss(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"1", 1}, {"32", 32}, {"256", 256}} {
		b.Run(size.name, func(b *testing.B) {
			im := data.Digits(1000, 1)
			s := NewSoftmax(im, data.MNISTMean, data.MNISTStd)
			batch := NewBatcher(sequence(im.Len())).Pick(size.n, 1)
			params := make([][]float32, 20)
			for i := range params {
				params[i] = random(s.Dim(), uint64(i))
			}
			i := 0
			for b.Loop() {
				s.Loss(params[i%len(params)], batch)
				i++
			}
			rate := float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(rate, "evals/s")
			b.ReportMetric(rate*2*float64(size.n)*float64(s.Dim())/1e9, "GFLOP/s")
		})
	}
}

// One minibatch of ZOFedHT's experiments.
func BenchmarkBinary(b *testing.B) {
	for _, samples := range []struct {
		name string
		s    *Samples
	}{
		{"images", ImageSamples(data.Digits(1000, 1).Halves(), data.MNISTMean, data.MNISTStd)},
		{"sparse", SparseSamples(data.Planted(1000, 1))},
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
				batch := NewBatcher(sequence(1000)).Pick(64, 1)
				for b.Loop() {
					m.model.Loss(params, batch)
				}
				b.ReportMetric(float64(b.N)*64/b.Elapsed().Seconds(), "samples/s")
			})
		}
	}
	b.Log(BLAS())
}

func BenchmarkPick(b *testing.B) {
	batcher := NewBatcher(sequence(600))
	var seed uint64
	for b.Loop() {
		batcher.Pick(32, seed)
		seed++
	}
}

// What the papers' experiments spend their time with: one minibatch at a time,
// on one goroutine. Run it also with -tags openblas.
func BenchmarkModels(b *testing.B) {
	im := data.Digits(1000, 1)
	for _, m := range []struct {
		name  string
		model Differentiable
	}{
		{"softmax", NewSoftmax(im, data.MNISTMean, data.MNISTStd)},
		{"small", NewCNNSmall(im, data.MNISTMean, data.MNISTStd)},
		{"mnist", NewCNNMNIST(im, data.MNISTMean, data.MNISTStd)},
		{"fashion", NewCNNFashion(im, data.MNISTMean, data.MNISTStd)},
	} {
		params, grad := Initial(m.model, 1), make([]float32, m.model.Dim())
		for _, size := range []int{32, 256} {
			batch := NewBatcher(sequence(im.Len())).Pick(size, 1)
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
