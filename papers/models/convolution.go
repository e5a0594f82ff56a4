package models

import (
	"gonum.org/v1/gonum/blas"
)

// A convolution is a layer of square kernels with stride 1, a rectifier, and, if pool is set, the
// maximum over squares of 2x2: PyTorch's relu(max_pool2d(conv2d(x), 2)). The layer's parameters
// are the weights [out][in][kernel][kernel], then a bias for each output channel.
type convolution struct {
	in, out     int // channels
	kernel, pad int
	rows, cols  int // of the input
	pool        bool
	weight      int // offset of the weights in the parameters
}

// bias returns the offset of the biases in the parameters.
func (c *convolution) bias() int { return c.weight + c.out*c.fan() }

// fan returns the fan-in: the number of inputs that one output depends on.
func (c *convolution) fan() int { return c.in * c.kernel * c.kernel }

// wide returns the rows and columns before pooling.
func (c *convolution) wide() (rows, cols int) {
	return c.rows + 2*c.pad - c.kernel + 1, c.cols + 2*c.pad - c.kernel + 1
}

// area returns the number of positions before pooling.
func (c *convolution) area() int {
	rows, cols := c.wide()
	return rows * cols
}

// after returns the rows and columns of the output.
func (c *convolution) after() (rows, cols int) {
	rows, cols = c.wide()
	if c.pool {
		return rows / 2, cols / 2
	}
	return rows, cols
}

// columns lays out an image of one channel for the product
//
//	weights [out][kernel*kernel] x dst [kernel*kernel][area]
//
// dst[ky*kernel+kx][y*cols+x] = image[y+ky-pad][x+kx-pad], where that pixel is in the image. The
// other elements of dst belong to the padding, the same elements for every image: the caller sets
// them to 0, and columns never writes them.
func (c *convolution) columns(dst, image []float32) {
	rows, cols := c.wide()
	for ky := range c.kernel {
		top, bottom := max(c.pad-ky, 0), min(rows, c.rows+c.pad-ky)
		for kx := range c.kernel {
			left, right := max(c.pad-kx, 0), min(cols, c.cols+c.pad-kx)
			from := (top+ky-c.pad)*c.cols + left + kx - c.pad
			for y := top; y < bottom; y++ {
				copy(dst[y*cols+left:y*cols+right], image[from:])
				from += c.cols
			}
			dst = dst[rows*cols:]
		}
	}
}

// patches lays out an input of several channels for the product
//
//	dst [area][kernel*kernel*in] x (packed weights [out][kernel*kernel*in])^T
//
// from frame, the input with its channels innermost and its padding around it:
// a row of dst is kernel runs of frame.
func (c *convolution) patches(dst, frame []float32) {
	rows, cols := c.wide()
	run, line := c.kernel*c.in, (c.cols+2*c.pad)*c.in
	for y := range rows {
		for x := range cols {
			from := y*line + x*c.in
			for range c.kernel {
				copy(dst[:run], frame[from:from+run])
				dst, from = dst[run:], from+line
			}
		}
	}
}

// frame returns the length of a framed input: see [convolution.patches].
func (c *convolution) frame() int {
	return (c.rows + 2*c.pad) * (c.cols + 2*c.pad) * c.in
}

// pack puts the weights in the order of [convolution.patches]: input channels
// innermost.
func (c *convolution) pack(dst, params []float32) {
	taps := c.kernel * c.kernel
	for o := range c.out {
		weights := params[c.weight+o*c.fan():][:c.fan()]
		packed := dst[o*c.fan():][:c.fan()]
		for i := range c.in {
			for t, w := range weights[i*taps : (i+1)*taps] {
				packed[t*c.in+i] = w
			}
		}
	}
}

// first computes the convolution, without rectifier and pooling, for an image of one channel that
// [convolution.columns] laid out: dst is [out][area].
func (c *convolution) first(dst, columns, params []float32) {
	area := c.area()
	for o, b := range params[c.bias():][:c.out] {
		fill(dst[o*area:(o+1)*area], b)
	}
	sgemm(blas.NoTrans, blas.NoTrans, c.out, area, c.fan(),
		params[c.weight:c.bias()], c.fan(), columns, area, 1, dst, area)
}

// second computes the convolution, without rectifier and pooling, for n inputs that
// [convolution.patches] laid out: dst is [n*area][out].
func (c *convolution) second(dst, patches, packed, bias []float32, n int) {
	repeat(dst[:n*c.area()*c.out], bias)
	sgemm(blas.NoTrans, blas.Trans, n*c.area(), c.out, c.fan(),
		patches, c.fan(), packed, c.fan(), 1, dst, c.out)
}

// fill sets all of dst to v.
func fill(dst []float32, v float32) {
	dst[0] = v
	repeat(dst, dst[:1])
}

// repeat fills dst with copies of pattern.
func repeat(dst, pattern []float32) {
	for n := copy(dst, pattern); n < len(dst); {
		n += copy(dst[n:], dst[:n])
	}
}
