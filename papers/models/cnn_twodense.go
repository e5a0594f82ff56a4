package models

import (
	"github.com/zofl/zofl/coordinator/zofl/data"
)

// NewCNNTwoDense returns a CNN with the layers of FZooS's CNN, two convolutions followed by two
// dense layers, but small enough to be evaluated millions of times: 26,698 parameters for 28x28
// pixels and 10 classes:
//
//	conv 3x3 1 -> 8, pad 1; relu; pool 2
//	conv 3x3 8 -> 16, pad 1; relu; pool 2
//	linear 784 -> 32; relu
//	linear 32 -> 10
//
// Images are normalized as in [NewCNNMNIST]. NewCNNTwoDense panics if std is not positive or the
// images are smaller than 4x4.
func NewCNNTwoDense(im *data.Images, mean, std float64) *CNN {
	one := convolution{in: 1, out: 8, kernel: 3, pad: 1, pool: true}
	two := convolution{in: 8, out: 16, kernel: 3, pad: 1, pool: true}
	return newCNN(im, mean, std, one, two, 32, im.Classes)
}
