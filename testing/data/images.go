package data

import "math"

// Images is a set of labeled grayscale images of one size.
//
// Invariants:
//  1. len(Pixels) == len(Labels) * Rows * Cols
//  2. every label is below Classes
//
// It is read-only after it was made, so any number of goroutines may share it.
type Images struct {
	Rows, Cols int     // of one image
	Classes    int     // number of different labels
	Pixels     []uint8 // image after image, row by row; 0 is paper, 255 is ink
	Labels     []uint8 // one an image
}

// Len returns the number of images.
func (im *Images) Len() int { return len(im.Labels) }

// At returns the Rows*Cols pixels of image i, which the caller must not change.
func (im *Images) At(i int) []uint8 {
	size := im.Rows * im.Cols
	return im.Pixels[i*size : (i+1)*size : (i+1)*size]
}

// Relabel returns the same pixels under other labels: class[l] replaces l.
// The binary tasks of ZOFedHT section IV are
// Relabel([]uint8{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}). It panics if class is not
// as long as Classes.
func (im *Images) Relabel(class []uint8) *Images {
	if len(class) != im.Classes {
		panic("data: Relabel needs one new label for each class")
	}
	out := *im
	out.Classes = 0
	for _, c := range class {
		out.Classes = max(out.Classes, int(c)+1)
	}
	out.Labels = make([]uint8, len(im.Labels))
	for i, l := range im.Labels {
		out.Labels[i] = class[l]
	}
	return &out
}

// Moments returns mean and standard deviation of the pixels on the scale where
// ink is 1: what a model subtracts and divides by.
func (im *Images) Moments() (mean, std float64) {
	var sum, squares uint64
	for _, p := range im.Pixels {
		sum += uint64(p)
		squares += uint64(p) * uint64(p)
	}
	n := float64(len(im.Pixels))
	mean = float64(sum) / (255 * n)
	variance := float64(squares)/(255*255*n) - float64(mean*mean)
	return mean, math.Sqrt(max(variance, 0))
}
