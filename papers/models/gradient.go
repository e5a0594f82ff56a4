package models

import (
	"gonum.org/v1/gonum/blas"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
)

// A backward holds the gradients of the loss with respect to the content of a [workspace] of the
// same call.
type backward struct {
	dense   [][]float32 // by the input of each dense layer and by the logits
	wide2   []float32   // [image of a group][position][channel]
	patches []float32   // [image of a group][position][fan]
	packed  []float32   // by the weights of the second layer, packed
	frame   []float32   // of one image
	wide1   []float32   // of one image
}

func (m *CNN) newGradient() *workspace { return m.gradientWith(m.newFused(true)) }

func (m *CNN) gradientWith(fused *fused) *workspace {
	ws := m.newWorkspace(chunk, fused)
	ws.back = &backward{
		wide2:   make([]float32, group*m.two.out*m.two.area()),
		patches: make([]float32, len(ws.patches)),
		packed:  make([]float32, len(ws.packed)),
		frame:   make([]float32, m.two.frame()),
		wide1:   make([]float32, m.one.out*m.one.area()),
		dense:   m.dense.values(),
	}
	return ws
}

// Gradient returns the mean cross-entropy over the images named by batch, and adds its gradient
// to grad, which is Dim long. The mean equals the result of Loss up to a ten-millionth. Like
// Loss, Gradient allocates nothing after the first calls, and panics where Loss panics.
func (m *CNN) Gradient(grad, params []float32, batch []int) (loss float64) {
	softmax.Check(m, params, batch)
	softmax.Check(m, grad, batch)
	ws := m.gradients.Take(m.newGradient)
	defer m.gradients.Put(ws)
	m.pack(ws, params)
	clear(ws.back.packed)
	part := 1 / float64(len(batch))
	for rest := batch; len(rest) > 0; {
		n := min(len(rest), chunk)
		m.load(ws, rest[:n])
		logits := m.run(ws, params, n)
		for i, at := range rest[:n] {
			label, row := m.images.Labels[at], i*m.Outputs()
			l, _ := crossEntropy(ws.logits, logits[row:], label)
			loss += l
			backLogits(ws.back.dense[len(m.dense)][row:], ws.logits, label, part)
		}
		m.dense.backward(ws.back.dense, ws.dense, grad, params, n)
		m.backConvolutions(ws, grad, n)
		rest = rest[n:]
	}
	m.two.unpack(grad, ws.back.packed)
	if ws.fused != nil {
		ws.fused.unpack(m, grad)
	}
	return loss * part
}

// backConvolutions propagates the gradient of n images from the input of the dense layers back to
// the parameters of the convolutions.
func (m *CNN) backConvolutions(ws *workspace, grad []float32, n int) {
	if ws.fused != nil {
		ws.fused.backward(m, ws, grad, n)
		return
	}
	for from := 0; from < n; from += group {
		m.backSecond(ws, grad, from, min(from+group, n))
	}
}

// backSecond propagates the gradient of the images from..to from the flat input of the dense
// layers back through the second convolution to the first.
func (m *CNN) backSecond(ws *workspace, grad []float32, from, to int) {
	c, b := &m.two, ws.back
	rows, cols := c.after()
	_, wideCols := c.wide()
	n, size := to-from, c.area()*c.out
	clear(b.wide2[:n*size])
	for i := from; i < to; i++ {
		c.patches(ws.patches[(i-from)*c.area()*c.fan():], ws.at(ws.frames, i))
		wide, d := ws.at(ws.wide2, i), b.wide2[(i-from)*size:]
		dFlat := b.dense[0][i*m.dense[0].in:]
		for o := range c.out {
			c.deactivate(d[o:], wide[o:], c.out, wideCols*c.out, dFlat[o*rows*cols:], 1, cols)
		}
	}
	addRows(grad[c.bias():][:c.out], b.wide2[:n*size])
	sgemm(blas.Trans, blas.NoTrans, c.out, c.fan(), n*c.area(),
		b.wide2, c.out, ws.patches, c.fan(), 1, b.packed, c.fan())
	sgemm(blas.NoTrans, blas.NoTrans, n*c.area(), c.fan(), c.out,
		b.wide2, c.out, ws.packed, c.fan(), 0, b.patches, c.fan())
	for i := from; i < to; i++ {
		c.gather(b.frame, b.patches[(i-from)*c.area()*c.fan():])
		m.backFirst(ws, grad, i)
	}
}

// backFirst propagates the gradient of image i from the framed input of the second convolution
// back to the parameters of the first.
func (m *CNN) backFirst(ws *workspace, grad []float32, i int) {
	c, b := &m.one, ws.back
	_, cols := c.wide()
	line := m.two.cols + 2*m.two.pad
	inside := b.frame[(m.two.pad*line+m.two.pad)*m.two.in:]
	wide := ws.at(ws.wide1, i)
	clear(b.wide1)
	area := c.area()
	for o := range c.out {
		d := b.wide1[o*area : (o+1)*area]
		c.deactivate(d, wide[o*area:], 1, cols, inside[o:], m.two.in, line*m.two.in)
		var sum float32
		for _, v := range d {
			sum += v
		}
		grad[c.bias()+o] += sum
	}
	size := m.images.Rows * m.images.Cols
	c.columns(ws.columns, ws.images[i*size:(i+1)*size])
	sgemm(blas.NoTrans, blas.Trans, c.out, c.fan(), area,
		b.wide1, area, ws.columns, area, 1, grad[c.weight:], c.fan())
}

// deactivate is the backward pass of [workspace.activate] for one channel. For each output that
// equals one of its inputs, deactivate adds the gradient with respect to the output to the
// gradient with respect to that input. In dst and src, neighboring pixels are from elements apart
// and neighboring rows fromRow; in out, to and toRow.
func (c *convolution) deactivate(dst, src []float32, from, fromRow int,
	out []float32, to, toRow int) {
	rows, cols := c.after()
	for y := range rows {
		for x := range cols {
			d := out[y*toRow+x*to]
			if !c.pool {
				if at := y*fromRow + x*from; src[at] > 0 {
					dst[at] += d
				}
				continue
			}
			first := 2*y*fromRow + 2*x*from
			top := first
			for _, at := range [3]int{first + from, first + fromRow, first + fromRow + from} {
				if src[at] > src[top] {
					top = at
				}
			}
			if src[top] > 0 {
				dst[top] += d
			}
		}
	}
}

// gather is the backward pass of [convolution.patches]. gather sets each element of frame to the
// sum of the elements of patches that patches copied from it.
func (c *convolution) gather(frame, patches []float32) {
	clear(frame)
	rows, cols := c.wide()
	run, line := c.kernel*c.in, (c.cols+2*c.pad)*c.in
	for y := range rows {
		for x := range cols {
			from := y*line + x*c.in
			for range c.kernel {
				add(frame[from:from+run], patches[:run])
				patches, from = patches[run:], from+line
			}
		}
	}
}

// unpack adds packed, which has the order of [convolution.pack], to the elements of grad that
// belong to the weights.
func (c *convolution) unpack(grad, packed []float32) {
	taps := c.kernel * c.kernel
	for o := range c.out {
		weights := grad[c.weight+o*c.fan():][:c.fan()]
		row := packed[o*c.fan():][:c.fan()]
		for i := range c.in {
			for t := range taps {
				weights[i*taps+t] += row[t*c.in+i]
			}
		}
	}
}

// addRows adds every row of rows to dst.
func addRows(dst, rows []float32) {
	for len(rows) > 0 {
		add(dst, rows[:len(dst)])
		rows = rows[len(dst):]
	}
}

// add computes dst[i] += src[i].
func add(dst, src []float32) {
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] += v
	}
}
