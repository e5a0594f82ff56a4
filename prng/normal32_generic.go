//go:build 386 || arm || mips || mipsle

package prng

import "math"

// These are the kernels of normals and uniforms for 32-bit processors. These processors have few
// registers, so the kernels run one lane at a time. The kernels compute a lane's next state in a
// separate basic block, after the test that ends the loop. In the same basic block, the compiler
// would compute the next state first, and move the current state from registers to memory.

// normalTable holds c1 and c0, indexed by the top bits of f. normalTable is an array of pairs,
// because two arrays would need two registers for their addresses.
type normalTable [tableLen]struct{ c1, c0 float32 }

var table = new(normalTable)

func (t *normalTable) set(k int, c1, c0 float32) { t[k].c1, t[k].c0 = c1, c0 }

func (t *normalTable) normal(f float32) float32 {
	s := &t[math.Float32bits(f)>>(23-segmentBits)]
	return float32(s.c1*f) + s.c0
}

func fillChunk(dst *[chunkLen]float32, l *lanes) {
	for i := range lanesPerBlock {
		l.setHalves(i, table.fill(dst, 2*i, l.halves(i)))
	}
}

func perturbChunk(dst, x *[chunkLen]float32, a float32, l *lanes) {
	for i := range lanesPerBlock {
		l.setHalves(i, table.perturb(dst, x, a, 2*i, l.halves(i)))
	}
}

func perturbPairChunk(plus, minus, x *[chunkLen]float32, a float32, l *lanes) {
	for i := range lanesPerBlock {
		l.setHalves(i, table.perturbPair(plus, minus, x, a, 2*i, l.halves(i)))
	}
}

func uniformChunk(dst *[chunkLen]float32, l *lanes) {
	for i := range lanesPerBlock {
		l.setHalves(i, uniform(dst, 2*i, l.halves(i)))
	}
}

// A bitwise AND with evens makes an index even and at most chunkLen-2. So the compiler knows that
// the index and the next one are within bounds.
const evens = chunkLen - 2

// fill sets two elements of each row of 16, from element i on, to the next normals of a lane.
func (t *normalTable) fill(dst *[chunkLen]float32, i int, s halves) halves {
	_, _ = t[0], dst[0] // check for nil here rather than in the loop
	for {
		w := s.output() | odd
		d := (*[2]float32)(dst[i&evens:])
		d[0] = t.normal(float32(int32(w)))
		d[1] = t.normal(float32(int32(w >> 32)))
		if i += 16; i >= chunkLen {
			return s.next()
		}
		s.x0, s.y0, s.x1, s.y1 = after32(s.x0, s.y0, s.x0^s.x1, s.y0^s.y1)
	}
}

// perturb sets the elements of a lane to x plus a times the next normals.
func (t *normalTable) perturb(dst, x *[chunkLen]float32, a float32, i int, s halves) halves {
	_, _, _ = t[0], dst[0], x[0] // check for nil here rather than in the loop
	for {
		w := s.output() | odd
		d, x := (*[2]float32)(dst[i&evens:]), (*[2]float32)(x[i&evens:])
		d[0] = x[0] + float32(a*t.normal(float32(int32(w))))
		d[1] = x[1] + float32(a*t.normal(float32(int32(w>>32))))
		if i += 16; i >= chunkLen {
			return s.next()
		}
		s.x0, s.y0, s.x1, s.y1 = after32(s.x0, s.y0, s.x0^s.x1, s.y0^s.y1)
	}
}

// perturbPair sets the elements of a lane to x plus and minus a times the next normals.
func (t *normalTable) perturbPair(
	plus, minus, x *[chunkLen]float32, a float32, i int, s halves,
) halves {
	_, _, _, _ = t[0], plus[0], minus[0], x[0] // check for nil here rather than in the loop
	for {
		w := s.output() | odd
		p, m := (*[2]float32)(plus[i&evens:]), (*[2]float32)(minus[i&evens:])
		x := (*[2]float32)(x[i&evens:])
		v0, x0 := float32(a*t.normal(float32(int32(w)))), x[0]
		p[0], m[0] = x0+v0, x0-v0
		v1, x1 := float32(a*t.normal(float32(int32(w>>32)))), x[1]
		p[1], m[1] = x1+v1, x1-v1
		if i += 16; i >= chunkLen {
			return s.next()
		}
		s.x0, s.y0, s.x1, s.y1 = after32(s.x0, s.y0, s.x0^s.x1, s.y0^s.y1)
	}
}

// uniform sets the elements of a lane to the next uniforms.
func uniform(dst *[chunkLen]float32, i int, s halves) halves {
	_ = dst[0] // check for nil here rather than in the loop
	const scale = 1.0 / (1 << 31)
	for {
		w := s.output()
		d := (*[2]float32)(dst[i&evens:])
		d[0], d[1] = float32(int32(w))*scale, float32(int32(w>>32))*scale
		if i += 16; i >= chunkLen {
			return s.next()
		}
		s.x0, s.y0, s.x1, s.y1 = after32(s.x0, s.y0, s.x0^s.x1, s.y0^s.y1)
	}
}
