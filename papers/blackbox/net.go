package blackbox

import (
	"math"

	"github.com/zofl/zofl/mathx"
)

// Sizes of a [models.NewCNNTwoDense] for 28x28 pixels and 10 classes.
const (
	side     = 28
	pixels   = side * side
	channel1 = 8
	channel2 = 16
	taps     = 9 // 3x3
	flat     = channel2 * pixels / 16
	hidden   = 32
	classes  = 10
)

// A net is a trained CNN whose weights are laid out to evaluate one image at a time. Any number
// of goroutines may use one net.
//
// A convolution processes a whole channel at a time. Each input channel has a border of zeros, so
// that a convolution multiplies the whole channel by one weight of a kernel, as one contiguous
// vector, and adds the product to the output. Two floats in each line of the output, those at the
// border, are not used.
type net struct {
	one, two       []float32 // [out][in][tap]
	bias1, bias2   []float32
	dense1, dense2 []float32 // [in][out]
	fixed1, fixed2 []float32 // biases
}

// newNet makes a net from parameters in the order of the model. newNet copies params.
func newNet(params []float32) *net {
	params = append([]float32(nil), params...)
	next := func(n int) (part []float32) {
		part, params = params[:n:n], params[n:]
		return part
	}
	n := &net{}
	n.one, n.bias1 = next(channel1*taps), next(channel1)
	n.two, n.bias2 = next(channel2*channel1*taps), next(channel2)
	n.dense1, n.fixed1 = transposed(next(hidden*flat), hidden), next(hidden)
	n.dense2, n.fixed2 = transposed(next(classes*hidden), classes), next(classes)
	if len(params) != 0 {
		panic("blackbox: internal error: parameters of another network")
	}
	return n
}

// transposed returns the transpose of a matrix with this many rows.
func transposed(m []float32, rows int) []float32 {
	out := make([]float32, 0, len(m))
	cols := len(m) / rows
	for c := range cols {
		for r := range rows {
			out = append(out, m[r*cols+c])
		}
	}
	return out
}

// A pass holds what a forward pass computes. The borders of the frames are 0, and no pass writes
// the borders.
type pass struct {
	frame1 []float32 // the image, framed
	wide1  []float32 // one channel of the first layer, in lines of the frame
	frame2 []float32 // [channel]: pooled, framed
	wide2  []float32
	flat   []float32
	hidden []float32
	logits []float32
}

func framed(side int) int { return (side + 2) * (side + 2) }

// run returns the length of an output channel, whose lines are as long as the lines of a frame.
// The last two floats of each line are not used. This length is a multiple of 8, which suits
// vector instructions.
func run(side int) int { return side * (side + 2) }

// beyond is the number of floats that convolve reads after the end of the frame, at the last tap.
const beyond = 2

func newPass() *pass {
	return &pass{
		frame1: make([]float32, framed(side)+beyond), wide1: make([]float32, run(side)),
		frame2: make([]float32, channel1*framed(side/2)+beyond), wide2: make([]float32, run(side/2)),
		flat: make([]float32, flat), hidden: make([]float32, hidden), logits: make([]float32, classes),
	}
}

// set writes pixel i of the image, on the normalized scale that the network takes.
func (p *pass) set(i int, v float32) { p.frame1[(i/side+1)*(side+2)+i%side+1] = v }

// forward returns the logits of the image in p.
func (n *net) forward(p *pass) []float32 {
	const side2 = side / 2
	frame2 := framed(side2)
	for o := range channel1 {
		fill(p.wide1, n.bias1[o])
		convolve(p.wide1, p.frame1, n.one[o*taps:], side)
		pool(p.frame2[o*frame2+side2+2+1:], side2+2, p.wide1, side)
	}
	for o := range channel2 {
		fill(p.wide2, n.bias2[o])
		for i := range channel1 {
			convolve(p.wide2, p.frame2[i*frame2:], n.two[(o*channel1+i)*taps:], side2)
		}
		pool(p.flat[o*side2*side2/4:], side2/2, p.wide2, side2)
	}
	dense(p.hidden, n.fixed1, n.dense1, p.flat)
	for i, v := range p.hidden {
		p.hidden[i] = max(v, 0)
	}
	dense(p.logits, n.fixed2, n.dense2, p.hidden)
	return p.logits
}

// convolve adds the convolution of a framed channel with one kernel to dst:
//
//	dst[y*(side+2) + x] += weights[ky*3 + kx] * frame[(y+ky)*(side+2) + x+kx]
func convolve(dst, frame, weights []float32, side int) {
	for tap, w := range weights[:taps] {
		from := tap/3*(side+2) + tap%3
		mathx.Axpy(dst, w, frame[from:from+len(dst)])
	}
}

// pool writes the maximum of each 2x2 square of a channel, or 0 if the maximum is negative, to
// dst, whose lines are line floats apart.
func pool(dst []float32, line int, wide []float32, side int) {
	for y := range side / 2 {
		above := wide[2*y*(side+2):][:side]
		below := wide[(2*y+1)*(side+2):][:side]
		to := dst[y*line:][:side/2]
		for x := range to {
			a, b := positive(above[2*x]), positive(above[2*x+1])
			c, d := positive(below[2*x]), positive(below[2*x+1])
			to[x] = math.Float32frombits(uint32(max(a, b, c, d, 0)))
		}
	}
}

// positive returns the bits of v as an integer, which is negative for a negative float. Integers
// from floats that are not negative have the order of the floats. The processor compares integers
// without branches.
func positive(v float32) int32 { return int32(math.Float32bits(v)) }

// dense computes dst = bias + weights^T x, for weights [in][out]. dense skips the elements of x
// that are 0, which are many.
func dense(dst, bias, weights, x []float32) {
	copy(dst, bias)
	for i, v := range x {
		if v != 0 {
			mathx.Axpy(dst, v, weights[i*len(dst):(i+1)*len(dst)])
		}
	}
}

func fill(dst []float32, v float32) {
	for i := range dst {
		dst[i] = v
	}
}
