package softmax

import (
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/data"
)

// The hot use: one minibatch of 32 images, another parameter vector each time.
func BenchmarkLoss(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"1", 1}, {"32", 32}, {"256", 256}} {
		b.Run(size.name, func(b *testing.B) {
			im := data.Digits(1000, 1)
			s := New(im, data.MNISTMean, data.MNISTStd)
			batch := data.NewBatcher(sequence(im.Len())).Pick(size.n, 1)
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
