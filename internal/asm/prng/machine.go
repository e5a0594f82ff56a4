package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A machine generates the steps of a kernel for one width of vector registers. A row has
// 16 elements: an output of each of the eight lanes.
type machine interface {
	name() string
	vector() reg.VecVirtual
	width() int // bytes of a vector
	// broadcast loads a float32 parameter into all elements.
	broadcast(param string) reg.VecVirtual
	// constants sets the registers that row and normals need.
	constants()
	// row sets w to the next output of the lanes and advances their states.
	row(s *state) (w []reg.VecVirtual)
	// normals turns a row of words into normals.
	normals(w []reg.VecVirtual, table reg.Register) (z []reg.VecVirtual)
	// signer sets the registers that signs of the parameter a need.
	signer() signer
	// seed returns the states at the start of a block.
	seed() *state
}

// A state has the lanes' s0 and s1, each in as many vectors as needed.
type state struct{ s0, s1 []reg.VecVirtual }

// vectors returns the number of vectors of a row, of s0 and of s1.
func vectors(m machine) int { return 64 / m.width() }

func loadState(m machine, p reg.Register) *state {
	var s state
	for i := range vectors(m) {
		v := m.vector()
		move(m, Mem{Base: p, Disp: i * m.width()}, v)
		s.s0 = append(s.s0, v)
	}
	for i := range vectors(m) {
		v := m.vector()
		move(m, Mem{Base: p, Disp: 64 + i*m.width()}, v)
		s.s1 = append(s.s1, v)
	}
	return &s
}

func storeState(m machine, s *state, p reg.Register) {
	for i, v := range s.s0 {
		move(m, v, Mem{Base: p, Disp: i * m.width()})
	}
	for i, v := range s.s1 {
		move(m, v, Mem{Base: p, Disp: 64 + i*m.width()})
	}
}

// move moves integers, in the encoding that the width has.
func move(m machine, from, to Op) {
	if m.width() == 64 {
		VMOVDQU64(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

// address returns the location of a parameter.
func address(param string) Mem {
	basic, err := Param(param).Resolve()
	if err != nil {
		panic(err)
	}
	return basic.Addr
}

// once declares read-only data of n elements at its first use.
func once(data **Mem, name string, n int, element func(i int) Constant) Mem {
	if *data == nil {
		m := GLOBL(name, attr.RODATA|attr.NOPTR)
		for i, at := 0, 0; i < n; i++ {
			e := element(i)
			DATA(at, e)
			at += e.Bytes()
		}
		*data = &m
	}
	return **data
}

// local returns n bytes of the frame that start at a cache line, since a load waits long
// for a store that spans two lines.
func local(n int) Mem {
	base := GP64()
	LEAQ(AllocLocal(n+64).Offset(63), base)
	ANDQ(I32(-64), base)
	return Mem{Base: base}
}
