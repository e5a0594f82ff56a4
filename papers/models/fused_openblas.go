//go:build openblas && amd64

package models

/*
#cgo CFLAGS: -O3
#include "fused_openblas.h"
*/
import "C"

import (
	"sync"
	"unsafe"
)

// parts is the number of bfloat16 values that represent one float32 in tiles.
const parts = 2

// hasTiles reports whether the processor multiplies tiles of bfloat16, and asks the operating
// system to enable them.
var hasTiles = sync.OnceValue(func() bool { return C.fused_tiles_supported() != 0 })

// hasAVX512 reports whether the processor has the AVX-512 instructions of fused_openblas.c. On a
// processor with AVX2 alone, fused_avx2_openblas.c takes its place.
func hasAVX512() bool { return C.fused_avx512_supported() != 0 }

// canFuse reports whether the C code can fuse the convolutions of this CNN, and whether the
// processor has the instructions.
func (m *CNN) canFuse() bool {
	one, two := m.one, m.two
	return (hasAVX512() || C.fused_avx2_supported() != 0) && one.in == 1 &&
		one.out == 16 && two.out == 32 && one.cols == 28 && one.rows >= 4 && one.pool && two.pool &&
		one.kernel == two.kernel && one.pad == two.pad && one.kernel == 2*one.pad+1
}

// A fused holds the intermediate results of the fused convolutions. The padding of the frames is
// 0 from the start, and no pass writes the padding.
type fused struct {
	short    bool      // by AVX2, although there may be AVX-512
	scratch  []float32 // an image, framed
	weights1 []float32 // [kernel][kernel][out]
	weights2 []float32 // [kernel][kernel][in][out], short: [half of out][kernel][kernel][in][]
	frames   []float32 // input of the second layer, framed: of one image, or of a chunk

	// Only on processors with tiles: the frame and weights of the second layer in bfloat16.
	planes, tiles []uint16

	// Only for gradients: which elements of the images of a chunk pooling chose, and gradients.
	tops1, tops2      []uint8
	dFrame, dWeights1 []float32
}

// newFused allocates the memory of a fused pass, or returns nil if the C code cannot fuse the
// pass.
func (m *CNN) newFused(gradients bool) *fused {
	if !m.canFuse() {
		return nil
	}
	f := &fused{
		short:    !hasAVX512(),
		scratch:  make([]float32, (m.one.rows+2*m.one.pad)*(m.one.cols+2*m.one.pad)),
		weights1: make([]float32, m.one.out*m.one.fan()),
		weights2: make([]float32, m.two.out*m.two.fan()),
		frames:   make([]float32, m.two.frame()),
	}
	if hasTiles() {
		f.planes = make([]uint16, parts*f.plane(m))
		f.tiles = make([]uint16, m.two.kernel*(m.two.kernel+1)*parts*512)
	}
	if gradients {
		f.frames = make([]float32, chunk*m.two.frame())
		f.tops1 = make([]uint8, chunk*m.two.rows*m.two.cols*m.two.in)
		f.tops2 = make([]uint8, chunk*m.dense[0].in)
		f.dFrame = make([]float32, m.two.frame())
		f.dWeights1 = make([]float32, len(f.weights1))
	}
	return f
}

// plane returns the length of a plane, which is longer than a frame because tiles read beyond the
// frame's end.
func (f *fused) plane(m *CNN) int { return m.two.frame() + 16*m.two.in }

// pack copies the weights in the order that the C code needs. The caller gives the weights of the
// second layer in packed, in the order of [convolution.pack].
func (f *fused) pack(m *CNN, packed, params []float32) {
	transpose(f.weights1, params[m.one.weight:m.one.bias()], m.one.out)
	if f.short {
		half := len(packed) / 2
		transpose(f.weights2[:half], packed[:half], m.two.out/2)
		transpose(f.weights2[half:], packed[half:], m.two.out/2)
	} else {
		transpose(f.weights2, packed, m.two.out)
	}
	clear(f.dWeights1)
	if f.tiles != nil {
		C.fused_tiles_pack(C.int(m.two.kernel), floats(packed), shorts(f.tiles))
	}
}

// transpose makes rows of src the columns of dst.
func transpose(dst, src []float32, rows int) {
	cols := len(src) / rows
	for r := range rows {
		for c, v := range src[r*cols : (r+1)*cols] {
			dst[c*rows+r] = v
		}
	}
}

func (m *CNN) shape() C.struct_fused {
	return C.struct_fused{rows: C.int(m.one.rows), kernel: C.int(m.one.kernel),
		pad: C.int(m.one.pad)}
}

// apart returns the distance in f.frames from an image's frame to the next image's frame.
func (f *fused) apart(m *CNN) C.int {
	if len(f.frames) == m.two.frame() {
		return 0
	}
	return C.int(m.two.frame())
}

// forward computes the input of the dense layers for the first n images of ws, at most chunk
// images, and reports whether an intermediate result was NaN.
func (f *fused) forward(m *CNN, ws *workspace, params []float32, n int) bool {
	if f.short {
		return C.fused_avx2_forward(m.shape(), C.int(n), floats(ws.images), floats(f.weights1),
			floats(params[m.one.bias():]), floats(f.weights2), floats(params[m.two.bias():]),
			floats(f.scratch), floats(f.frames), f.apart(m), floats(ws.dense[0]), octets(f.tops1),
			octets(f.tops2)) != 0
	}
	return C.fused_forward(m.shape(), C.int(n), floats(ws.images), floats(f.weights1),
		floats(params[m.one.bias():]), floats(f.weights2), floats(params[m.two.bias():]),
		floats(f.scratch), floats(f.frames), f.apart(m),
		shorts(f.planes), C.int(f.plane(m)), shorts(f.tiles), floats(ws.dense[0]),
		octets(f.tops1), octets(f.tops2)) != 0
}

// backward adds the gradient of the images that forward just processed, from the gradient at the
// input of the dense layers.
func (f *fused) backward(m *CNN, ws *workspace, grad []float32, n int) {
	if f.short {
		C.fused_avx2_backward(m.shape(), C.int(n), floats(ws.images), floats(ws.packed),
			floats(f.scratch), floats(f.frames), f.apart(m), floats(ws.dense[0]),
			floats(ws.back.dense[0]), octets(f.tops1), octets(f.tops2), floats(f.dFrame),
			floats(f.dWeights1), floats(grad[m.one.bias():]), floats(ws.back.packed),
			floats(grad[m.two.bias():]))
		return
	}
	C.fused_backward(m.shape(), C.int(n), floats(ws.images), floats(ws.packed),
		floats(f.scratch), floats(f.frames), f.apart(m), floats(ws.dense[0]),
		floats(ws.back.dense[0]), octets(f.tops1), octets(f.tops2), floats(f.dFrame),
		floats(f.dWeights1), floats(grad[m.one.bias():]), floats(ws.back.packed),
		floats(grad[m.two.bias():]))
}

// unpack adds the gradient with respect to the weights of the first layer to the elements of grad
// that belong to these weights.
func (f *fused) unpack(m *CNN, grad []float32) {
	weights := grad[m.one.weight:m.one.bias()]
	fan := m.one.fan()
	for i, v := range f.dWeights1 {
		weights[i%m.one.out*fan+i/m.one.out] += v
	}
}

func floats(s []float32) *C.float   { return (*C.float)(unsafe.SliceData(s)) }
func shorts(s []uint16) *C.uint16_t { return (*C.uint16_t)(unsafe.SliceData(s)) }
func octets(s []uint8) *C.uint8_t   { return (*C.uint8_t)(unsafe.SliceData(s)) }
