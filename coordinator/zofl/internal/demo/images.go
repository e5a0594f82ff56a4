package demo

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/objective"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
)

// Images have side rows and side columns, and labels of classes classes.
const side, classes = 28, 10

// classifierDim returns the number of parameters of a classifier of images that were shrunk by a
// factor: weights and a bias for each class.
func classifierDim(shrink int) uint64 {
	rows := side / shrink
	return uint64(classes * (rows*rows + 1))
}

// trainDigits and testDigits are the numbers of drawn digits in the two sets, if Data names no
// MNIST files.
const (
	trainDigits = 20_000
	testDigits  = 4_000
	// The seed of the test set is the demo's seed plus testSeed. People choose small seeds, so the
	// test set has other digits than the training set.
	testSeed = 1 << 40
)

// images are classifiers over the training and the test set, and the shares of the devices.
type images struct {
	train, test *softmax.Classifier
	shares      [][]int // entry i: indices of the training images of device i
}

// loss returns the loss of a device with a share of the training images.
func (im *images) loss(share []int) *objective.Images {
	return objective.OfImages(im.train, im.test, share)
}

// load draws or reads the images, and shrinks them to 1/shrink of the rows and columns. It splits
// the training set among the devices.
func load(cfg Config, shrink int) (*images, error) {
	var train, test *data.Images
	mean, std := data.MNISTMean, data.MNISTStd
	if cfg.Data == "" {
		train, test = data.Digits(trainDigits, cfg.Seed), data.Digits(testDigits, cfg.Seed+testSeed)
		mean, std = train.Moments()
	} else {
		var err error
		if train, test, err = data.MNIST(cfg.Data); err != nil {
			return nil, cli.Usage(fmt.Errorf("--%w", err)) // the error begins with the flag's name
		}
	}
	for _, set := range []**data.Images{&train, &test} {
		if (*set).Rows != side || (*set).Cols != side || (*set).Classes != classes {
			return nil, cli.Usage(fmt.Errorf("--data %s: give files with images of 28x28 pixels "+
				"in 10 classes", cfg.Data))
		}
		*set = (*set).Shrink(shrink)
	}
	if shrink > 1 {
		mean, std = train.Moments()
	}
	shares, err := deal(cfg, train)
	if err != nil {
		return nil, err
	}
	return &images{
		train:  softmax.New(train, mean, std),
		test:   softmax.New(test, mean, std),
		shares: shares,
	}, nil
}

func deal(cfg Config, train *data.Images) ([][]int, error) {
	switch cfg.Split {
	case "iid":
		return data.IID(len(train.Labels), cfg.Clients, cfg.Seed)
	case "shards":
		return data.Shards(train.Labels, cfg.Clients, 2, cfg.Seed)
	case "dirichlet":
		return data.Dirichlet(train.Labels, cfg.Clients, 0.5, cfg.Seed)
	}
	return nil, checkSplit(cfg.Split)
}

func checkSplit(split string) error {
	switch split {
	case "iid", "shards", "dirichlet":
		return nil
	}
	return cli.Usage(fmt.Errorf("--split %s: choose iid, shards or dirichlet", split))
}
