package mathx

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// term is one addition to an ExactSum.
type term struct {
	x      float32
	weight uint32
}

func sumOf(terms []term) (s ExactSum) {
	for _, a := range terms {
		s.Add(a.x, a.weight)
	}
	return s
}

// wantMean returns the mean of terms over total, by rational arithmetic.
func wantMean(terms []term, total uint64) float32 {
	sum := new(big.Rat)
	for _, a := range terms {
		w := new(big.Rat).SetUint64(uint64(a.weight))
		sum.Add(sum, w.Mul(w, new(big.Rat).SetFloat64(float64(a.x))))
	}
	sum.Quo(sum, new(big.Rat).SetUint64(total))
	f, _ := sum.Float32()
	return f
}

func checkMean(t *testing.T, terms []term, total uint64) {
	t.Helper()
	s := sumOf(terms)
	got, want := s.Mean(total), wantMean(terms, total)
	if math.Float32bits(got) != math.Float32bits(want) {
		t.Fatalf("mean of %v over %d: got %v (%#x), want %v (%#x)", terms, total,
			got, math.Float32bits(got), want, math.Float32bits(want))
	}
}

// randomFinite draws a finite float32 of any bits, or with an exponent at the edge of a
// range.
func randomFinite(r *rand.Rand) float32 {
	bits := r.Uint32()
	switch r.IntN(4) {
	case 0: // subnormal
		bits &^= 0xff << 23
	case 1: // near the largest
		bits |= 0xf0 << 23
	case 2: // around 1
		bits = bits&^(0xff<<23) | (120+bits>>23&15)<<23
	}
	if bits>>23&0xff == 0xff {
		bits &^= 1 << 23
	}
	return math.Float32frombits(bits)
}

func randomTerms(r *rand.Rand, n int) []term {
	terms := make([]term, n)
	for i := range terms {
		terms[i] = term{randomFinite(r), 1 + r.Uint32N(1<<20)}
		if i > 0 && r.IntN(4) == 0 { // cancel an earlier term
			terms[i] = terms[r.IntN(i)]
			terms[i].x = -terms[i].x
		}
	}
	return terms
}

func totalOf(terms []term) (total uint64) {
	for _, a := range terms {
		total += uint64(a.weight)
	}
	return total
}

func TestExactSumMatchesRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		terms := randomTerms(r, 1+r.IntN(12))
		checkMean(t, terms, totalOf(terms))
		checkMean(t, terms, 1)
		checkMean(t, terms, 1+r.Uint64()>>r.IntN(64))
	}
}

func TestExactSumEdges(t *testing.T) {
	const (
		least  = math.SmallestNonzeroFloat32
		normal = 0x1p-126
		most   = math.MaxFloat32
	)
	tests := []struct {
		name  string
		terms []term
		total uint64
		want  float32
	}{
		{"empty", nil, 1, 0},
		{"weight zero adds nothing", []term{{-1, 0}, {1, 0}}, 1, 0},
		{"negative zero", []term{{float32(math.Copysign(0, -1)), 1}}, 1, 0},
		{"cancels to +0", []term{{most, 7}, {-least, 3}, {-most, 7}, {least, 3}}, 20, 0},
		{"least survives beside most", []term{{most, 7}, {least, 1}, {-most, 7}}, 1, least},
		{"mean of most", []term{{most, 1 << 20}, {most, 1<<20 - 1}}, 1<<21 - 1, most},
		{"mean of -most", []term{{-most, 1 << 20}, {-most, 5}}, 1<<20 + 5, -most},
		{"subnormal tie to even, down", []term{{least, 1}}, 2, 0},
		{"subnormal tie to even, up", []term{{least, 3}}, 2, 2 * least},
		{"below a subnormal tie", []term{{least, 1}}, 3, 0},
		{"above a subnormal tie", []term{{least, 2}}, 3, least},
		{"negative underflow", []term{{-least, 1}}, 3, float32(math.Copysign(0, -1))},
		{"largest subnormal to least normal", []term{{normal, 2}, {-least, 1}}, 2, normal},
		{"tie down to even", []term{{1, 1}, {0x1p-24, 1}}, 1, 1},
		{"tie up to even", []term{{1 + 0x1p-23, 1}, {0x1p-24, 1}}, 1, 1 + 0x1p-22},
		{"tie broken by the least", []term{{1, 1}, {0x1p-24, 1}, {least, 1}}, 1, 1 + 0x1p-23},
		{"tie broken by a remainder", []term{{3, 1}, {0x3p-24, 1}, {least, 1}}, 3, 1 + 0x1p-23},
		{"tie unbroken from below", []term{{1, 1}, {0x1p-24, 1}, {-least, 1}}, 1, 1},
		{"carry into the next binade", []term{{2 - 0x1p-23, 1}, {0x1p-24, 1}}, 1, 2},
		{"rounds to infinity", []term{{most, 1}, {0x1p103, 1}}, 1, float32(math.Inf(1))},
		{"just below infinity", []term{{most, 1}, {0x1p103, 1}, {-least, 1}}, 1, most},
		{"far beyond infinity", []term{{-most, math.MaxUint32}}, 1, float32(math.Inf(-1))},
		{"largest divisor", []term{{most, 1}}, math.MaxUint64, 0x1.fffffep63},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := sumOf(tt.terms)
			got := s.Mean(tt.total)
			if math.Float32bits(got) != math.Float32bits(tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			checkMean(t, tt.terms, tt.total)
		})
	}
}

// The same terms in any order, in any partial sums merged in any order, give the same
// sum.
func TestExactSumOrderAndGrouping(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 50 {
		terms := randomTerms(r, 200)
		want := sumOf(terms)
		r.Shuffle(len(terms), func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
		if got := sumOf(terms); got != want {
			t.Fatalf("shuffled: got %v, want %v", got, want)
		}
		parts := make([]ExactSum, 1+r.IntN(9))
		for _, a := range terms {
			parts[r.IntN(len(parts))].Add(a.x, a.weight)
		}
		var got ExactSum
		for i := range parts {
			kept := parts[i]
			got.Merge(&parts[i])
			if parts[i] != kept {
				t.Fatalf("Merge changed its argument")
			}
		}
		if got != want {
			t.Fatalf("grouped: got %v, want %v", got, want)
		}
	}
}

// The test doubles a sum 60 times, because 2^60 additions would take too long.
func TestExactSumHasRoom(t *testing.T) {
	for _, x := range []float32{math.MaxFloat32, -math.MaxFloat32} {
		var s ExactSum
		s.Add(x, math.MaxUint32)
		for range 70 {
			other := s
			s.Merge(&other)
		}
		one := new(big.Int).Lsh(big.NewInt(1<<24-1), 253)
		want := one.Mul(one, big.NewInt(math.MaxUint32)).Lsh(one, 70)
		if x < 0 {
			want.Neg(want)
		}
		if got := s.integer(); got.Cmp(want) != 0 {
			t.Errorf("2^70 times %v: got %v, want %v", x, got, want)
		}
	}
}

// integer returns the sum in units of 2^-149.
func (s *ExactSum) integer() *big.Int {
	v := new(big.Int)
	for i := len(s.w) - 1; i >= 0; i-- {
		v.Or(v.Lsh(v, 64), new(big.Int).SetUint64(s.w[i]))
	}
	if s.w[len(s.w)-1]>>63 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), 64*uint(len(s.w))))
	}
	return v
}

func TestExactSumReset(t *testing.T) {
	s := sumOf([]term{{3, 4}, {-1, 2}})
	s.Reset()
	if s != (ExactSum{}) {
		t.Errorf("got %v, want an empty sum", s)
	}
}

func TestExactSumPanics(t *testing.T) {
	var s ExactSum
	wantPanic(t, notFinite, func() { s.Add(float32(math.NaN()), 1) })
	wantPanic(t, notFinite, func() { s.Add(float32(math.Inf(1)), 1) })
	wantPanic(t, notFinite, func() { s.Add(float32(math.Inf(-1)), 1) })
	wantPanic(t, zeroWeights, func() { s.Mean(0) })
	if s != (ExactSum{}) {
		t.Errorf("got %v after rejected terms, want an empty sum", s)
	}
}

func TestExactSumAllocates(t *testing.T) {
	sums := make([]ExactSum, 64)
	var mean float32
	got := testing.AllocsPerRun(100, func() {
		for i := range sums {
			sums[i].Add(float32(i)-31.5, 7)
			sums[i].Merge(&sums[0])
			mean += sums[i].Mean(9)
			sums[i].Reset()
		}
	})
	if got != 0 {
		t.Errorf("got %v allocations a run, want 0", got)
	}
}

func FuzzExactSum(f *testing.F) {
	f.Add([]byte{}, uint64(1))
	f.Add([]byte("\x00\x00\x80\x3f\x01\x00\x00\x00\x01\x00\x00\x80\x03\x00\x00\x00"), uint64(3))
	f.Add([]byte("\xff\xff\x7f\x7f\xff\xff\xff\xff\x01\x00\x00\x00\x01\x00\x00\x00"),
		uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, data []byte, total uint64) {
		var terms []term
		for ; len(data) >= 8; data = data[8:] {
			bits := binary.LittleEndian.Uint32(data)
			if bits>>23&0xff == 0xff {
				bits &^= 1 << 30
			}
			terms = append(terms,
				term{math.Float32frombits(bits), binary.LittleEndian.Uint32(data[4:])})
		}
		checkMean(t, terms, max(total, 1))
		var s, half ExactSum
		for i, a := range terms {
			if i%2 == 0 {
				half.Add(a.x, a.weight)
			} else {
				s.Add(a.x, a.weight)
			}
		}
		s.Merge(&half)
		if want := sumOf(terms); s != want {
			t.Fatalf("grouped: got %v, want %v", s, want)
		}
	})
}

// A coordinator adds K*P scalars for each reply. The benchmark adds one reply of 64 scalars.
func BenchmarkExactSumAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	x := make([]float32, 1<<16)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	sums := make([]ExactSum, 64)
	weight, at := uint32(100), 0
	b.SetBytes(int64(4 * len(sums)))
	for b.Loop() {
		for i, v := range x[at : at+len(sums)] {
			sums[i].Add(v, weight)
		}
		at = (at + len(sums)) % len(x)
	}
}

func BenchmarkExactSumMean(b *testing.B) {
	s := sumOf(randomTerms(rand.New(rand.NewPCG(4, 4)), 100))
	for b.Loop() {
		s.Mean(123457)
	}
}

func BenchmarkExactSumMerge(b *testing.B) {
	s := sumOf(randomTerms(rand.New(rand.NewPCG(5, 5)), 100))
	var total ExactSum
	for b.Loop() {
		total.Merge(&s)
	}
}
