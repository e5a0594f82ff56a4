package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// width is the number of float32 in a vector register.
const width = 8

// A pass is a kernel that processes vectors once, element by element. All have the length
// of the first, which is a multiple of width.
type pass struct {
	name, signature string
	vectors         []string // the slices among the parameters
	scalars         []string // the float32 among the parameters
	unroll          int      // vector registers in an iteration of the long loop
	step            func(constants, operands)
}

// pointers has the address of the rest of each vector.
type pointers map[string]reg.Register

// constants has each scalar in all elements of a register.
type constants map[string]reg.Register

// operands has the location of a step's elements in each vector.
type operands map[string]Mem

func (p pass) write() {
	TEXT(p.name+"AVX2", NOSPLIT, p.signature)
	Pragma("noescape")
	Doc(p.name + "AVX2 is " + p.name + "Generic for a length that is a multiple of 8.")
	n := Load(Param(p.vectors[0]).Len(), GP64())
	base := pointers{}
	for _, v := range p.vectors {
		base[v] = Load(Param(v).Base(), GP64())
	}
	c := constants{}
	for _, s := range p.scalars {
		c[s] = broadcast(s)
	}
	p.loop("long", p.unroll, n, base, c)
	p.loop("short", 1, n, base, c)
	VZEROUPPER()
	RET()
}

// loop generates a loop. Each iteration does that many steps, as long as enough of the n elements
// remain.
func (p pass) loop(label string, steps int, n reg.Register, base pointers, c constants) {
	JMP(LabelRef(label + "Test"))
	Label(label)
	for i := range steps {
		at := operands{}
		for _, v := range p.vectors {
			at[v] = Mem{Base: base[v], Disp: 4 * width * i}
		}
		p.step(c, at)
	}
	for _, v := range p.vectors {
		ADDQ(U32(4*width*steps), base[v])
	}
	SUBQ(U32(width*steps), n)
	Label(label + "Test")
	CMPQ(n, U32(width*steps))
	JGE(LabelRef(label))
}

// broadcast loads a float32 parameter into all elements of a register.
func broadcast(param string) reg.Register {
	scalar, err := Param(param).Resolve()
	if err != nil {
		panic(err)
	}
	v := YMM()
	VBROADCASTSS(scalar.Addr, v)
	return v
}

func load(at Mem) reg.VecVirtual {
	v := YMM()
	VMOVUPS(at, v)
	return v
}

// product returns c * v.
func product(c reg.Register, v Op) reg.VecVirtual {
	t := YMM()
	VMULPS(v, c, t)
	return t
}
