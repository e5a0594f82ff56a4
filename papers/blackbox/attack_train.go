package blackbox

import (
	"context"
	"fmt"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/models/train"
)

// train trains a model for each client's classes. Clients with the same classes share a model:
// with P = 1 all clients share one model.
func (a *Attack) train(ctx context.Context, im *data.Images, c AttackConfig) error {
	t := trainer{dir: c.Cache, logf: c.Logf}
	from := fingerprint(im.Pixels, im.Labels)
	known := map[classSet]*net{}
	for i, s := range a.sets {
		if known[s] == nil {
			t.say("model %d of %d: classes %v", i+1, len(a.sets), s.list())
			some := only(im, s)
			if some.Len() == 0 {
				return fmt.Errorf("blackbox: no training image is of the classes %v of client "+
					"%d: take more images", s.list(), i)
			}
			m := models.NewCNNTwoDense(some, data.MNISTMean, data.MNISTStd)
			params, err := t.train(ctx, fmt.Sprintf("cnn-%s-%03x-epochs-%d", from, s, c.Epochs), m,
				train.Config{Epochs: c.Epochs, Seed: 1, Goroutines: c.Goroutines})
			if err != nil {
				return err
			}
			known[s] = newNet(params)
		}
		a.nets = append(a.nets, known[s])
	}
	return nil
}

// only returns the images of im whose class is in s.
func only(im *data.Images, s classSet) *data.Images {
	out := *im
	out.Pixels, out.Labels = nil, nil
	for i, class := range im.Labels {
		if s.has(class) {
			out.Pixels, out.Labels = append(out.Pixels, im.At(i)...), append(out.Labels, class)
		}
	}
	return &out
}
