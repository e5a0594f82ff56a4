package adafl

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/papers/attack"
	"github.com/zofl/zofl/papers/models/train"
	"github.com/zofl/zofl/papers/run"
)

// A set is a data set with its classifier, and the methods that attacked it.
type set struct {
	name, tag string
	accuracy  float64 // of the classifier, on the test set
	// target holds the images that the clients share, held the images of the test set. The
	// classifier classifies all these images correctly.
	target, held *attack.Target
	curves       map[method]*curve
}

// load draws the images of a data set, and trains the data set's classifier or reads a saved
// classifier.
func (x *trial) load(name string) (*set, error) {
	images, err := x.Env.Images(name)
	if err != nil {
		return nil, err
	}
	net, test := attack.New(images.Train), attack.New(images.Test)
	params, err := x.classifier(name, net, test)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s := &set{name: name, tag: name[:1], curves: map[method]*curve{}}
	_, s.accuracy = softmax.Evaluate(test, params, workers)
	list, held := net.Right(params, class), test.Right(params, class)
	if len(list) == 0 || len(held) == 0 {
		return nil, fmt.Errorf("%s: the classifier is right on %d training and %d test images "+
			"of class %d: train it on more images, or for longer",
			name, len(list), len(held), class)
	}
	rng := rand.New(rand.NewPCG(class, 0))
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = list[:min(imageCount, len(list))]
	s.target = attack.NewTarget(net, params, list, class, balance)
	s.held = attack.NewTarget(test, params, held, class, balance)
	x.Env.Say("%s: %d parameters, accuracy %.4f; %d images to attack, %d of the test set",
		name, net.Dim(), s.accuracy, len(list), len(held))
	return s, nil
}

// workers is the number of goroutines that train, measure and simulate.
const workers = 2

// classifier returns the parameters that an earlier run saved in Env.Dir, or otherwise in the
// directory for temporary files. If there are no saved parameters, classifier trains the network.
func (x *trial) classifier(name string, net, test *attack.Net) ([]float32, error) {
	dir := cmp.Or(x.Env.Dir, filepath.Join(os.TempDir(), "zofl-paper"))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if x.Env.Generated > 0 {
		name += fmt.Sprint("-generated-", x.Env.Generated)
	}
	file := filepath.Join(dir, fmt.Sprintf("classifier-%s-%d-epochs-%d",
		name, x.size.epochs, net.Dim()))
	params, err := train.Load(file, net.Dim())
	if !errors.Is(err, fs.ErrNotExist) {
		return params, err
	}
	params, err = train.Train(x.Ctx, net, train.Config{
		Epochs: x.size.epochs, Seed: 1, Test: test, Goroutines: workers,
		Progress: func(p train.Progress) error {
			x.Env.Say("classifier of %s: step %d of %d, loss %.4f, accuracy %.4f",
				name, p.Step, p.Steps, p.Loss, p.Accuracy)
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	return params, train.Save(file, params)
}

// measure returns the metrics of a perturbation x.
func (s *set) measure(x []float32) []float64 {
	here, held := s.target.Figures(x, whole(s.target)), s.held.Figures(x, whole(s.held))
	return []float64{here.Attack, here.Distortion, here.Success, held.Success}
}

func whole(t *attack.Target) []int {
	list := make([]int, t.Len())
	for i := range list {
		list[i] = i
	}
	return list
}

func (s *set) task() run.Task {
	return run.Task{Dim: s.target.Dim(), Loss: s.target.Loss, Metrics: metrics,
		Measure: s.measure}
}

// shares draws shareSize of the images for each client, without replacement. The shares
// of two clients overlap.
func (s *set) shares(seed uint64) [][]int {
	rng := rand.New(rand.NewPCG(seed, shareSize))
	list := make([][]int, clients)
	for i := range list {
		list[i] = rng.Perm(s.target.Len())[:min(shareSize, s.target.Len())]
	}
	return list
}
