package data

import (
	"math"
	"slices"
)

// Images is a set of labeled grayscale images of one size.
//
// Invariants:
//  1. len(Pixels) == len(Labels) * Rows * Cols
//  2. every label is below Classes
//
// Nothing changes an Images after it was made, so any number of goroutines may share it.
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

// Shrink returns smaller images: each new pixel is the mean of a square of by times by pixels,
// rounded down. Shrink drops the rows and columns that do not fill a square. Shrink returns im if
// by is 1, and panics if by is below 1.
func (im *Images) Shrink(by int) *Images {
	if by == 1 {
		return im
	}
	out := *im
	out.Rows, out.Cols = im.Rows/by, im.Cols/by
	out.Pixels = make([]uint8, 0, im.Len()*out.Rows*out.Cols)
	for i := range im.Len() {
		pixels := im.At(i)
		for row := range out.Rows {
			for col := range out.Cols {
				sum := 0
				for r := row * by; r < (row+1)*by; r++ {
					for _, p := range pixels[r*im.Cols+col*by:][:by] {
						sum += int(p)
					}
				}
				out.Pixels = append(out.Pixels, uint8(sum/(by*by)))
			}
		}
	}
	return &out
}

// Relabel returns the same pixels with other labels: class[l] replaces label l. Relabel panics if
// class does not have Classes elements. See also [Images.Halves].
func (im *Images) Relabel(class []uint8) *Images {
	if len(class) != im.Classes {
		panic("data: Relabel needs one new label for each class")
	}
	out := *im
	out.Labels, out.Classes = make([]uint8, len(im.Labels)), int(slices.Max(class))+1
	for i, l := range im.Labels {
		out.Labels[i] = class[l]
	}
	return &out
}

// Halves returns the same pixels in two classes: the lower half of the labels becomes 0, the upper
// half 1. For ten digits this is the binary task of ZOFedHT section IV, 0 to 4 against 5 to 9.
func (im *Images) Halves() *Images {
	class := make([]uint8, im.Classes)
	for l := im.Classes / 2; l < im.Classes; l++ {
		class[l] = 1
	}
	return im.Relabel(class)
}

// Moments returns the mean and standard deviation of the pixels, on the scale where ink is 1. A
// model subtracts the mean and divides by the deviation.
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
