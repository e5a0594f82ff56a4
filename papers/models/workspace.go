package models

import "math"

const (
	// chunk is the number of images that the dense layers process at a time, large so that the
	// processor reads the weights from memory seldom.
	chunk = 64
	// group is the number of images that the second convolution processes at a time, small enough
	// for their patches to fit a core's own cache.
	group = 4
)

// A workspace holds the intermediate results of one pass of a [CNN]. The padding of columns and
// frames is 0 from the start, and no pass writes the padding.
type workspace struct {
	images  []float32 // chunk of them
	columns []float32 // of one image
	wide1   []float32 // [slot][channel][position]: first layer before pooling
	frames  []float32 // [slot]: input of the second layer, framed
	patches []float32 // [image of a group][position][fan]
	wide2   []float32 // [slot][position][channel]: second layer before pooling
	packed  []float32 // weights of the second layer
	// dense holds the input of each dense layer and the logits, [image][].
	dense  [][]float32
	logits []float64
	most   uint32 // as rectify returns it

	fused *fused // computes the convolutions, and then most of the above is nil; nil: nobody does
	slots int    // images of which the convolutions are kept: group or chunk
	back  *backward
}

func (m *CNN) newForward() *workspace { return m.newWorkspace(group, m.newFused(false)) }

// newWorkspace returns a workspace for a number of images whose convolutions are kept, and that
// fused computes unless it is nil.
func (m *CNN) newWorkspace(slots int, fused *fused) *workspace {
	ws := &workspace{
		images: make([]float32, chunk*m.images.Rows*m.images.Cols),
		packed: make([]float32, m.two.out*m.two.fan()),
		logits: make([]float64, m.Outputs()),
		fused:  fused,
		slots:  slots,
		dense:  m.dense.values(),
	}
	if ws.fused == nil {
		ws.columns = make([]float32, m.one.fan()*m.one.area())
		ws.wide1 = make([]float32, slots*m.one.out*m.one.area())
		ws.frames = make([]float32, slots*m.two.frame())
		ws.patches = make([]float32, group*m.two.area()*m.two.fan())
		ws.wide2 = make([]float32, slots*m.two.out*m.two.area())
	}
	return ws
}

// at returns the part of array that belongs to image i; array holds ws.slots such parts of equal
// length.
func (ws *workspace) at(array []float32, i int) []float32 {
	size := len(array) / ws.slots
	i %= ws.slots
	return array[i*size : (i+1)*size]
}

// load normalizes the images of a batch of at most chunk.
func (m *CNN) load(ws *workspace, batch []int) {
	size := m.images.Rows * m.images.Cols
	for i, at := range batch {
		to := ws.images[i*size : (i+1)*size]
		for k, p := range m.images.At(at) {
			to[k] = m.ink[p]
		}
	}
}

// run computes the outputs of the n images in ws, at most chunk, for params that
// ws has packed.
func (m *CNN) run(ws *workspace, params []float32, n int) (logits []float32) {
	ws.most = 0
	m.runConvolutions(ws, params, n)
	logits = m.dense.forward(ws.dense, params, n, func(x []float32) {
		ws.most = max(ws.most, rectify(x, 1, x, 1, len(x)))
	})
	if ws.most > negativeInf {
		fill(logits, float32(math.NaN()))
	}
	return logits
}

// pack puts the weights of the convolutions in the order that ws needs.
func (m *CNN) pack(ws *workspace, params []float32) {
	m.two.pack(ws.packed, params)
	if ws.fused != nil {
		ws.fused.pack(m, ws.packed, params)
	}
}

// runConvolutions computes the input of the dense layers from the n images in ws.
func (m *CNN) runConvolutions(ws *workspace, params []float32, n int) {
	if ws.fused != nil {
		if ws.fused.forward(m, ws, params, n) {
			ws.most = math.MaxUint32
		}
		return
	}
	for from := 0; from < n; from += group {
		to := min(from+group, n)
		for i := from; i < to; i++ {
			m.runFirst(ws, params, i)
		}
		m.runSecond(ws, params, from, to)
	}
}

// runFirst computes the first convolution of image i, and writes the result to the image's frame.
func (m *CNN) runFirst(ws *workspace, params []float32, i int) {
	size := m.images.Rows * m.images.Cols
	m.one.columns(ws.columns, ws.images[i*size:(i+1)*size])
	wide := ws.at(ws.wide1, i)
	m.one.first(wide, ws.columns, params)
	_, cols := m.one.wide()
	line := m.two.cols + 2*m.two.pad
	inside := ws.at(ws.frames, i)[(m.two.pad*line+m.two.pad)*m.two.in:]
	for c := range m.one.out {
		ws.activate(&m.one, inside[c:], m.two.in, line*m.two.in, wide[c*m.one.area():], 1, cols)
	}
}

// runSecond computes the second convolution of the group of images from..to.
func (m *CNN) runSecond(ws *workspace, params []float32, from, to int) {
	size := m.two.area() * m.two.fan()
	for i := from; i < to; i++ {
		m.two.patches(ws.patches[(i-from)*size:], ws.at(ws.frames, i))
	}
	// Slots of a group follow each other.
	wide := ws.wide2[from%ws.slots*m.two.area()*m.two.out:]
	m.two.second(wide, ws.patches, ws.packed, params[m.two.bias():][:m.two.out], to-from)
	_, cols := m.two.wide()
	rowsOut, colsOut := m.two.after()
	for i := from; i < to; i++ {
		wide := ws.at(ws.wide2, i)
		flat := ws.dense[0][i*m.dense[0].in:][:m.dense[0].in]
		for c := range m.two.out {
			ws.activate(&m.two, flat[c*rowsOut*colsOut:], 1, colsOut, wide[c:], m.two.out, cols*m.two.out)
		}
	}
}

// activate applies rectifier and pooling of a layer to one channel. In dst, neighboring pixels
// are to elements apart and neighboring rows toRow; in src, from and fromRow.
func (ws *workspace) activate(c *convolution, dst []float32, to, toRow int,
	src []float32, from, fromRow int) {
	rows, cols := c.after()
	for y := range rows {
		var most uint32
		if d := dst[y*toRow:]; c.pool {
			above, below := src[2*y*fromRow:], src[(2*y+1)*fromRow:]
			most = pool2(d, to, above, below, from, cols)
		} else {
			most = rectify(d, to, src[y*fromRow:], from, cols)
		}
		ws.most = max(ws.most, most)
	}
}
