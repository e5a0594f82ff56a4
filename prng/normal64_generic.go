//go:build !(386 || arm || mips || mipsle)

package prng

import "math"

// These are the kernels of normals and uniforms for 64-bit processors. The kernels run two lanes in
// parallel, because one lane alone would wait for its own results. A function with a loop takes and
// returns its state by value, so that the state stays in registers. A kernel also takes the
// addresses of the table by value, because Go would load the address of a global variable at every
// use.

// normalTable points to the coefficients, indexed by the top bits of f. normalTable has two arrays
// rather than one array of pairs, because Go can then compute the element's address within the load
// instruction.
type normalTable struct{ c1, c0 *[tableLen]float32 }

var table = normalTable{&arrays.c1, &arrays.c0}

// The gap puts c1 and c0 of one segment into different sets of a cache with 4 KiB ways.
var arrays struct {
	c1 [tableLen]float32
	_  [512]float32
	c0 [tableLen]float32
}

func (t normalTable) set(k int, c1, c0 float32) { t.c1[k], t.c0[k] = c1, c0 }

func (t normalTable) normal(f float32) float32 {
	k := uint(math.Float32bits(f) >> (23 - segmentBits))
	return float32(t.c1[k]*f) + t.c0[k]
}

// fours is the part of a chunk from the first to the last element that two lanes generate. The
// lanes generate four elements of each row of 16.
type fours [chunkLen - 12]float32

func fillChunk(dst *[chunkLen]float32, l *lanes) {
	for i := 0; i < lanesPerBlock-1; i += 2 {
		l.setTwo(i, table.fill((*fours)(dst[2*i:]), l.two(i)))
	}
}

func perturbChunk(dst, x *[chunkLen]float32, a float32, l *lanes) {
	for i := 0; i < lanesPerBlock-1; i += 2 {
		l.setTwo(i, table.perturb((*fours)(dst[2*i:]), (*fours)(x[2*i:]), a, l.two(i)))
	}
}

func perturbPairChunk(plus, minus, x *[chunkLen]float32, a float32, l *lanes) {
	for i := 0; i < lanesPerBlock-1; i += 2 {
		p, m, x := (*fours)(plus[2*i:]), (*fours)(minus[2*i:]), (*fours)(x[2*i:])
		l.setTwo(i, table.perturbPair(p, m, x, a, l.two(i)))
	}
}

func uniformChunk(dst *[chunkLen]float32, l *lanes) {
	for i := 0; i < lanesPerBlock-1; i += 2 {
		l.setTwo(i, uniform((*fours)(dst[2*i:]), l.two(i)))
	}
}

// fill sets the elements of two lanes to the next normals.
func (t normalTable) fill(dst *fours, l twoLanes) twoLanes {
	_, _, _ = t.c1[0], t.c0[0], dst[0] // check for nil here rather than in the loop
	for i := 0; i < len(dst); i += 16 {
		v := output(l.s0, l.s1) | odd
		w := output(l.u0, l.u1) | odd
		z0 := t.normal(float32(int32(v)))
		z1 := t.normal(float32(int32(v >> 32)))
		z2 := t.normal(float32(int32(w)))
		z3 := t.normal(float32(int32(w >> 32)))
		d := (*[4]float32)(dst[i:])
		d[0], d[1], d[2], d[3] = z0, z1, z2, z3
		l.s0, l.s1 = after(l.s0, l.s0^l.s1)
		l.u0, l.u1 = after(l.u0, l.u0^l.u1)
	}
	return l
}

// perturb sets the elements of two lanes to x plus a times the next normals.
func (t normalTable) perturb(dst, x *fours, a float32, l twoLanes) twoLanes {
	_, _, _, _ = t.c1[0], t.c0[0], dst[0], x[0] // check for nil here rather than in the loop
	for i := 0; i < len(dst); i += 16 {
		v := output(l.s0, l.s1) | odd
		w := output(l.u0, l.u1) | odd
		d, x := (*[4]float32)(dst[i:]), (*[4]float32)(x[i:])
		x0, x1, x2, x3 := x[0], x[1], x[2], x[3] // early, so that they are loaded in pairs
		x0 += float32(a * t.normal(float32(int32(v))))
		x1 += float32(a * t.normal(float32(int32(v>>32))))
		x2 += float32(a * t.normal(float32(int32(w))))
		x3 += float32(a * t.normal(float32(int32(w>>32))))
		d[0], d[1], d[2], d[3] = x0, x1, x2, x3
		l.s0, l.s1 = after(l.s0, l.s0^l.s1)
		l.u0, l.u1 = after(l.u0, l.u0^l.u1)
	}
	return l
}

// perturbPair sets the elements of two lanes to x plus and minus a times the next normals.
func (t normalTable) perturbPair(plus, minus, x *fours, a float32, l twoLanes) twoLanes {
	_, _, _, _, _ = t.c1[0], t.c0[0], plus[0], minus[0], x[0]
	for i := 0; i < len(x); i += 16 {
		v := output(l.s0, l.s1) | odd
		w := output(l.u0, l.u1) | odd
		p, m, x := (*[4]float32)(plus[i:]), (*[4]float32)(minus[i:]), (*[4]float32)(x[i:])
		x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
		v0 := float32(a * t.normal(float32(int32(v))))
		v1 := float32(a * t.normal(float32(int32(v>>32))))
		v2 := float32(a * t.normal(float32(int32(w))))
		v3 := float32(a * t.normal(float32(int32(w>>32))))
		p[0], p[1], p[2], p[3] = x0+v0, x1+v1, x2+v2, x3+v3
		m[0], m[1], m[2], m[3] = x0-v0, x1-v1, x2-v2, x3-v3
		l.s0, l.s1 = after(l.s0, l.s0^l.s1)
		l.u0, l.u1 = after(l.u0, l.u0^l.u1)
	}
	return l
}

// uniform sets the elements of two lanes to the next uniforms.
func uniform(dst *fours, l twoLanes) twoLanes {
	_ = dst[0]
	const scale = 1.0 / (1 << 31)
	for i := 0; i < len(dst); i += 16 {
		v := output(l.s0, l.s1)
		w := output(l.u0, l.u1)
		d := (*[4]float32)(dst[i:])
		d[0], d[1] = float32(int32(v))*scale, float32(int32(v>>32))*scale
		d[2], d[3] = float32(int32(w))*scale, float32(int32(w>>32))*scale
		l.s0, l.s1 = after(l.s0, l.s0^l.s1)
		l.u0, l.u1 = after(l.u0, l.u0^l.u1)
	}
	return l
}
