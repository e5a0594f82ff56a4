package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Philox4x32-10, section 2 of the specification of prng.
const (
	philoxRounds = 10
	philoxM0     = 0xD2511F53
	philoxM1     = 0xCD9E8D57
	philoxW0     = 0x9E3779B9
	philoxW1     = 0xBB67AE85
)

// addressParams are the parameters of a block's address; first is 8*block.
const addressParams = "key uint64, first, position, source, domain uint32"

func seed(m machine) {
	begin("seed"+m.name(), "l "+lanesType+", "+addressParams,
		"sets l to the states at the start of a block.")
	s := m.seed()
	storeState(m, s, Load(Param("l"), GP64()))
	VZEROUPPER()
	RET()
}

// A philox is the generator on vectors of 64-bit elements, of which it uses the low
// halves. The high halves of products never affect low halves.
type philox struct {
	m0, m1, w0, w1 reg.VecVirtual
	k0, k1         reg.VecVirtual
	xor            func(ops ...Op)
	c              [][4]reg.VecVirtual // counters, a set for each vector of lanes
}

func (p *philox) rounds(m machine) {
	for round := range philoxRounds {
		if round > 0 {
			VPADDQ(p.w0, p.k0, p.k0)
			VPADDQ(p.w1, p.k1, p.k1)
		}
		for i := range p.c {
			c := &p.c[i]
			low, high := m.vector(), m.vector()
			VPMULUDQ(p.m0, c[0], low)
			VPMULUDQ(p.m1, c[2], high)
			c0, c2 := m.vector(), m.vector()
			VPSRLQ(Imm(32), high, c0)
			VPSRLQ(Imm(32), low, c2)
			p.xor(c[1], c0, c0)
			p.xor(p.k0, c0, c0)
			p.xor(c[3], c2, c2)
			p.xor(p.k1, c2, c2)
			*c = [4]reg.VecVirtual{c0, high, c2, low}
		}
	}
}

// newPhilox sets the registers of a generator. The first words of the counters are the first words
// of the lanes' counters.
func newPhilox(m machine, xor func(ops ...Op)) *philox {
	p := &philox{xor: xor}
	p.m0, p.m1 = constant(m, philoxM0), constant(m, philoxM1)
	p.w0, p.w1 = constant(m, philoxW0), constant(m, philoxW1)
	key := Load(Param("key"), GP64())
	p.k0 = spread(m, key)
	SHRQ(Imm(32), key)
	p.k1 = spread(m, key)
	first := parameter(m, "first")
	c1, c2, c3 := parameter(m, "position"), parameter(m, "source"), parameter(m, "domain")
	lanes := laneNumbers()
	for i := range vectors(m) {
		c0 := m.vector()
		VPADDQ(lanes.Offset(i*m.width()), first, c0)
		p.c = append(p.c, [4]reg.VecVirtual{c0, c1, c2, c3})
	}
	return p
}

func constant(m machine, c uint32) reg.VecVirtual {
	r := GP32()
	MOVL(U32(c), r)
	return spread(m, r.As64())
}

func parameter(m machine, name string) reg.VecVirtual {
	return spread(m, Load(Param(name), GP32()).(reg.GP).As64())
}

// spread returns r in all 64-bit elements of a vector.
func spread(m machine, r reg.Register) reg.VecVirtual {
	v := m.vector()
	if m.width() == 64 {
		VPBROADCASTQ(r, v)
		return v
	}
	x := XMM()
	VMOVQ(r, x)
	VPBROADCASTQ(x, v)
	return v
}

var laneNumbersData *Mem

// laneNumbers is 0 to 7.
func laneNumbers() Mem {
	return once(&laneNumbersData, "laneNumbers", 8, func(i int) Constant { return U64(i) })
}

func (m *avx2) seed() *state {
	p := newPhilox(m, func(ops ...Op) { VPXOR(ops[0], ops[1], ops[2]) })
	p.rounds(m)
	var s state
	for _, c := range p.c {
		s.s0 = append(s.s0, joined(c[0], c[1]))
		s.s1 = append(s.s1, joined(c[2], c[3]))
	}
	return &s
}

// joined returns low | high<<32.
func joined(low, high reg.VecVirtual) reg.VecVirtual {
	VPSLLQ(Imm(32), high, high)
	VPBLENDD(Imm(0b10101010), high, low, low)
	return low
}

func (m *avx512) seed() *state {
	p := newPhilox(m, func(ops ...Op) { VPXORQ(ops...) })
	p.rounds(m)
	highs := K()
	r := GP32()
	MOVL(U32(0xaaaa), r)
	KMOVW(r, highs)
	c := p.c[0]
	var s state
	for i := 0; i < 4; i += 2 {
		VPSLLQ(Imm(32), c[i+1], c[i+1])
		VMOVDQA32(c[i+1], highs, c[i])
	}
	s.s0, s.s1 = []reg.VecVirtual{c[0]}, []reg.VecVirtual{c[2]}
	return &s
}
