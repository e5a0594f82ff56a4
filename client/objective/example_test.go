package objective_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/zofl/zofl/client/objective"
)

// A thermometer fits a line to its readings: y = x[0] + x[1]*t.
type thermometer struct {
	times, readings []float32
	battery         int // percent
}

func (t *thermometer) Dim() int { return 2 }

// Loss is the mean square error on the minibatch that b names: the same seed draws the same
// minibatch.
func (t *thermometer) Loss(_ context.Context, x []float32, b objective.Batch) (float64, error) {
	random := rand.New(rand.NewPCG(b.Seed, 0))
	samples := random.Perm(len(t.times))
	if b.Size > 0 {
		samples = samples[:b.Size]
	}
	sum := 0.0
	for _, i := range samples {
		e := float64(x[0] + x[1]*t.times[i] - t.readings[i])
		sum += e * e
	}
	return sum / float64(len(samples)), nil
}

// Samples makes a thermometer an [objective.Sampler]: no minibatch has more samples.
func (t *thermometer) Samples() int { return len(t.times) }

// MayWork makes a thermometer an [objective.Policy]: the device declines rounds while its battery
// is low.
func (t *thermometer) MayWork(objective.Work) bool { return t.battery > 20 }

// This objective has a loss on a device's own data, a sample count and a policy.
func Example() {
	var device objective.Flat = &thermometer{
		times: []float32{0, 1, 2, 3}, readings: []float32{20, 21, 22, 23}, battery: 15}
	loss, err := device.Loss(context.Background(), []float32{19, 1}, objective.Batch{Size: 2, Seed: 7})
	fmt.Println("loss", loss, err)
	if policy, ok := device.(objective.Policy); ok {
		fmt.Println("works now:", policy.MayWork(objective.Work{Queries: 11}))
	}
	// Output:
	// loss 1 <nil>
	// works now: false
}

// This loss reads a block of the model at a time, and the runtime never copies the model.
func ExampleStream() {
	device := objective.Stream(10_000, func(_ context.Context, x *objective.Point,
		_ objective.Batch) (float64, error) {
		block, sum := make([]float32, 4096), 0.0
		for off := 0; off < x.Dim(); off += len(block) {
			piece := block[:min(len(block), x.Dim()-off)]
			if err := x.Read(piece, off); err != nil {
				return 0, err
			}
			for _, v := range piece {
				sum += float64(v) * float64(v)
			}
		}
		return sum / float64(x.Dim()), nil
	})
	model := make([]float32, device.Dim())
	for i := range model {
		model[i] = 2
	}
	fmt.Println(device.LossAt(context.Background(), objective.NewPoint(model), objective.Batch{}))
	// Output: 4 <nil>
}
