package replica

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A naive replica computes in the order of docs/replay.md, on whole vectors and one element at a
// time. It shares no code with the package but prng.Fill.
type naive struct {
	p      *plan.Plan
	runKey []byte

	x0, x, m             []float32
	control              []float32
	moment, second, peak []float32
	basis, trail         [][]float32
	population           uint32
	pendingN             uint64
	pending              []float32
	a, b                 []float64
	products             []float64 // ServerNormalized: V, p1, p2
	cma                  *naiveEvolution
	rounds               uint64
	w                    []float32
	objects              map[[wire.ObjectLen]byte][]byte
}

// naiveReplay returns the naive replica's digest after a golden run.
func naiveReplay(t testing.TB, g golden) []byte {
	t.Helper()
	s := scriptOf(t, g)
	f := newNaive(s)
	for _, b := range s.records[1:] {
		r, err := wire.DecodeRecord(b)
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == wire.KindRound {
			f.round(r.N, r.Round)
		}
	}
	return f.digest()
}

func newNaive(s *script) *naive {
	p := s.plan
	f := &naive{p: p, runKey: p.RunKey, objects: s.objects}
	dense := p.Transport == plan.DenseVectors
	if p.Private() {
		f.runKey = secret
	}
	f.x0 = f.first(s.cfg.Initial)
	f.x = slices.Clone(f.x0)
	vector := func(v float32) []float32 { return slices.Repeat([]float32{v}, int(p.Dim)) }
	if p.Rule != plan.SGD && !dense {
		f.m = vector(0)
	}
	if p.Control == plan.ScaffoldMean || p.Control != plan.NoControl && dense {
		f.control = vector(0)
	}
	if p.Estimator == plan.Surrogate {
		f.w = make([]float32, p.Features)
	}
	switch p.ServerRule {
	case plan.ServerMomentum:
		f.moment = vector(0)
	case plan.ServerNormalized:
		f.moment, f.products = vector(0), []float64{0, 1, 1}
	case plan.ServerAdam, plan.ServerYogi, plan.ServerAdaGrad:
		f.moment, f.second = vector(0), vector(p.ServerV0)
	case plan.ServerAMSGrad:
		f.moment, f.second, f.peak = vector(0), vector(p.ServerV0), vector(p.ServerV0)
	case plan.ServerCMA:
		f.cma = newNaiveEvolution(f)
	}
	for range p.SubspaceMoves {
		f.basis, f.trail = append(f.basis, vector(0)), append(f.trail, vector(0))
	}
	if p.Pool > 0 {
		f.a = make([]float64, p.Pool+1)
		f.a[p.Pool] = 1
		if p.Rule != plan.SGD {
			f.b = make([]float64, p.Pool+1)
		}
	}
	return f
}

// first returns the parameters of record 1.
func (f *naive) first(given []float32) []float32 {
	if f.p.Initial == plan.Given {
		return slices.Clone(given)
	}
	d := prng.Direction{Key: prng.RecordKey(f.runKey, 0), Domain: prng.Initial, Dist: prng.Normal}
	x, z, u := make([]float32, f.p.Dim), make([]float32, f.p.Dim), make([]float32, f.p.Dim)
	prng.Fill(z, d, 0)
	prng.Uniform(u, d, 0)
	i := 0
	for _, s := range f.p.Segments {
		for range s.Len {
			switch s.Fill {
			case plan.UniformFill:
				x[i] = s.Scale * u[i]
			case plan.NormalFill:
				x[i] = s.Scale * z[i]
			}
			i++
		}
	}
	for i := range x {
		x[i] = f.boxed(i, x[i])
	}
	return x
}

// box returns the box of element i.
func (f *naive) box(i int) (plan.Box, bool) {
	if len(f.p.Boxes) < 2 {
		return append(f.p.Boxes, plan.Box{})[0], len(f.p.Boxes) == 1
	}
	for j, s := range f.p.Segments {
		if i < int(s.Len) {
			return f.p.Boxes[j], true
		}
		i -= int(s.Len)
	}
	panic("no box")
}

// boxed returns v clipped to the box of element i.
func (f *naive) boxed(i int, v float32) float32 {
	switch b, ok := f.box(i); {
	case ok && v < b.Low:
		return b.Low
	case ok && v > b.High:
		return b.High
	}
	return v
}

// scale returns the step scale of element i.
func (f *naive) scale(i int) float32 {
	for _, s := range f.p.Segments {
		if i < int(s.Len) {
			if s.StepScale != 0 {
				return s.StepScale
			}
			break
		}
		i -= int(s.Len)
	}
	return 1
}

// A naiveTerm is one direction's part of a sum: along multiplies z, a multiplies span.
type naiveTerm struct {
	z        []float32
	along, a float32
	coefs    []float32
}

// term returns a times the direction of record n, local step k, perturbation q.
func (f *naive) term(a float32, n uint64, k, q int, source uint32) naiveTerm {
	d := prng.Direction{Key: prng.RecordKey(f.runKey, n), Step: uint16(k), Perturbation: uint16(q),
		Source: source, Dist: prng.Normal}
	if f.p.Distribution == plan.Rademacher {
		d.Dist = prng.Rademacher
	}
	if f.p.Pool > 0 {
		d = f.poolDirection(f.index(n, k, q))
	}
	t := naiveTerm{z: make([]float32, f.p.Dim), along: a, a: a}
	prng.Fill(t.z, d, 0)
	switch {
	case f.p.Distribution == plan.LowRank:
		f.multiply(t.z, d)
	case f.p.Distribution == plan.Sphere:
		t.a = a * float32(f.p.Dim)
		t.along = float32(float64(t.a) / math.Sqrt(squares(t.z)))
	case f.hasBasis():
		t.along = a * float32(math.Sqrt(1-float64(f.p.SubspaceShare)))
		d.Domain = prng.Subspace
		t.coefs = make([]float32, len(f.basis))
		prng.Fill(t.coefs, d, 0)
		for j := range t.coefs {
			t.coefs[j] = float32(math.Sqrt(float64(f.p.SubspaceShare))) * t.coefs[j]
		}
	}
	return t
}

func (f *naive) hasBasis() bool { return len(f.basis) > 0 && f.rounds >= uint64(len(f.basis)) }

// index returns which direction of the pool replaces that of record n, step k, perturbation
// q.
func (f *naive) index(n uint64, k, q int) uint32 {
	w := prng.Philox([4]uint32{uint32(k)<<16 + uint32(q), 0, 0, 0x706f6f6c},
		prng.RecordKey(f.runKey, n))[0]
	return uint32(uint64(w) * uint64(f.p.Pool) / (1 << 32))
}

func (f *naive) poolDirection(s uint32) prng.Direction {
	d := prng.Direction{Key: prng.RecordKey(f.runKey, 0), Step: uint16(s / 65536),
		Perturbation: uint16(s % 65536), Domain: 3, Dist: prng.Normal}
	if f.p.Distribution == plan.Rademacher {
		d.Dist = prng.Rademacher
	}
	return d
}

// squares returns the squared norm in float64: ascending within blocks, then over blocks.
func squares(z []float32) float64 { return inner(z, z) }

func inner(a, b []float32) (s float64) {
	for at := 0; at < len(a); at += 4096 {
		var t float64
		for i := at; i < min(at+4096, len(a)); i++ {
			t += float64(float64(a[i]) * float64(b[i]))
		}
		s += t
	}
	return s
}

// sum returns element i of the sum of terms, in order, eight signs together.
func (f *naive) sum(terms []naiveTerm, i int) (v float32) {
	if f.p.Distribution == plan.LowRank {
		return halves(terms, i)
	}
	for j := 0; j < len(terms); {
		group := 1
		if f.p.Distribution == plan.Rademacher && len(terms)-j >= 8 {
			group = 8
		}
		s := float32(terms[j].along * terms[j].z[i])
		for _, t := range terms[j+1 : j+group] {
			s += float32(t.along * t.z[i])
		}
		v += s
		j += group
	}
	if len(terms) == 0 || terms[0].coefs == nil {
		return v
	}
	for c := range f.basis {
		var a float32
		for _, t := range terms {
			a += float32(t.a * t.coefs[c])
		}
		v += float32(a * f.basis[c][i])
	}
	return v
}

// multiply sets z to a direction of rank 1: over a matrix, signs of rows times signs of columns.
func (f *naive) multiply(z []float32, d prng.Direction) {
	d.Domain, d.Dist = 5, prng.Rademacher
	signs := make([]float32, 2*len(z)+len(f.p.Segments))
	prng.Fill(signs, d, 0)
	for _, s := range f.p.Segments {
		a, columns := []float32{1}, int(s.Len)
		if s.Rows > 0 {
			a, columns = signs[:s.Rows], columns/int(s.Rows)
			signs = signs[s.Rows:]
		}
		for i := range int(s.Len) {
			z[i] = a[i/columns] * signs[i%columns]
		}
		z, signs = z[s.Len:], signs[columns:]
	}
}

// halves returns element i of a sum of terms of rank 1: of each eight terms, first the sums of the
// first and of the last four. Terms that the last eight lack are +0.
func halves(terms []naiveTerm, i int) (v float32) {
	for len(terms) > 0 {
		var c [8]float32
		n := min(len(terms), len(c))
		for j, t := range terms[:n] {
			c[j] = t.along * t.z[i]
		}
		v += (c[0] + c[1] + c[2] + c[3]) + (c[4] + c[5] + c[6] + c[7])
		terms = terms[n:]
	}
	return v
}

func (f *naive) digest() []byte {
	vectors := [][]float32{f.x}
	for _, v := range [][]float32{f.m, f.control, f.moment, f.second, f.peak} {
		if v != nil {
			vectors = append(vectors, v)
		}
	}
	vectors = append(append(vectors, f.basis...), f.trail...)
	if f.cma != nil {
		vectors = append(vectors, f.cma.vectors()...)
	}
	root := binary.LittleEndian.AppendUint64([]byte("zofl/1 state\x00"), f.p.Dim)
	root = binary.LittleEndian.AppendUint32(root, uint32(len(vectors)))
	for _, v := range vectors {
		for part := range slices.Chunk(v, 4096) {
			var b []byte
			for _, e := range part {
				bits := math.Float32bits(e)
				if e != e {
					bits = 0x7fc00000
				}
				b = binary.LittleEndian.AppendUint32(b, bits)
			}
			root = append(root, sum(b)...)
		}
	}
	if f.p.Control != plan.NoControl || f.p.Pool > 0 || f.w != nil || f.products != nil ||
		f.cma != nil {
		registers := f.registers()
		root = binary.LittleEndian.AppendUint32(root, uint32(len(registers)))
		for _, v := range registers {
			root = binary.LittleEndian.AppendUint64(root, v)
		}
	}
	digest := sum(root)
	if f.p.Private() {
		h := hmac.New(sha256.New, f.runKey)
		h.Write(append([]byte("zofl/1 digest\x00"), digest...))
		return h.Sum(nil)
	}
	return digest
}

func (f *naive) registers() (list []uint64) {
	switch {
	case f.cma != nil && f.cma.limited:
		list = []uint64{math.Float64bits(f.cma.sigma), f.cma.records}
	case f.cma != nil:
		list = []uint64{math.Float64bits(f.cma.sigma)}
	case f.w != nil:
		list = append(list, f.pendingN)
		for _, v := range f.w {
			list = append(list, uint64(math.Float32bits(v)))
		}
	case f.p.Transport == plan.DenseVectors && f.pendingN > 0:
		list = append(list, f.pendingN)
	case f.p.Transport == plan.DenseVectors:
	case f.p.Control == plan.ScaffoldMean:
		list = append(list, uint64(f.population))
	case f.pendingN > 0:
		list = append(list, f.pendingN)
		for _, v := range f.pending {
			list = append(list, uint64(math.Float32bits(v)))
		}
	}
	for _, v := range slices.Concat(f.a, f.b, f.products) {
		bits := math.Float64bits(v)
		if v != v {
			bits = 0x7ff8000000000000
		}
		list = append(list, bits)
	}
	return list
}
