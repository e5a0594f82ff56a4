package prng

import "testing"

// plainSquaredNorm is SquaredNorm as docs/prng.md says it.
func plainSquaredNorm(x []float32) float64 {
	var total float64
	for len(x) > 0 {
		n := min(len(x), BlockLen)
		var sum float64
		for _, v := range x[:n] {
			sum += float64(float64(v) * float64(v))
		}
		total += sum
		x = x[n:]
	}
	return total
}

func TestSquaredNormMatchesPlain(t *testing.T) {
	z := testDirection
	z.Dist = Normal
	all := make([]float32, 9*BlockLen+chunkLen+17)
	Fill(all, z, 0)
	lengths := []int{0, 1, 2, 15, 16, 17, 100, 1025, len(all)}
	for border := chunkLen; border < 9*BlockLen; border += chunkLen {
		lengths = append(lengths, border-1, border, border+1, border+513)
	}
	for _, d := range lengths {
		got, want := SquaredNorm(z, uint64(d)), plainSquaredNorm(all[:d])
		if got != want {
			t.Errorf("length %d: got %v, want %v", d, got, want)
		}
	}
}

// The generic kernels must also be right on machines that use assembly instead.
func TestGenericKernelsMatchReference(t *testing.T) {
	const block = 21
	const a = float32(-0.0123)
	z := testDirection
	z.Dist = Normal
	normals, uniforms := refFill(z, block, BlockLen), refUniform(z, block, BlockLen)
	z.Dist = Rademacher
	ones := refFill(z, block, BlockLen)
	z.Dist = Normal
	var s signs
	s.loadGeneric(&z, block)
	for _, n := range lengths() {
		if n > BlockLen {
			break
		}
		x, dst, minus := ramp(n), make([]float32, n), make([]float32, n)
		fillBlockGeneric(dst, &z, block)
		checkSame(t, "fill", dst, normals[:n])
		uniformBlockGeneric(dst, &z, block)
		checkSame(t, "uniform", dst, uniforms[:n])
		plus, below := refPerturb(x, normals, a), refPerturb(x, normals, -a)
		perturbBlockGeneric(dst, x, a, &z, block)
		checkSame(t, "perturb", dst, plus)
		perturbPairBlockGeneric(dst, minus, x, a, &z, block)
		checkSame(t, "perturbPair", dst, plus)
		checkSame(t, "perturbPair, minus", minus, below)
		plus, below = refPerturb(x, ones, a), refPerturb(x, ones, -a)
		s.perturbGeneric(dst, x, a)
		checkSame(t, "signs", dst, plus)
		s.perturbPairGeneric(dst, minus, x, a)
		checkSame(t, "signs of a pair", dst, plus)
		checkSame(t, "signs of a pair, minus", minus, below)
	}
}

func TestGenericGroupMatchesReference(t *testing.T) {
	list := terms("rrrrrrrr")
	var sums groupSums
	sums.setGeneric(list)
	var s [groupLen]signs
	var ones [][]float32
	for j := range s {
		s[j].loadGeneric(&list[j].Z, 4)
		ones = append(ones, refFill(list[j].Z, 4, BlockLen))
	}
	for _, n := range []int{0, 1, 63, 64, 65, 127, 128, 1000, BlockLen - 1, BlockLen} {
		dst := ramp(n)
		sums.addGeneric(dst, &s, 0)
		checkSame(t, "group", dst, refSum(ramp(n), list, ones))
	}
}

func TestGenericSeedIsPhilox(t *testing.T) {
	z := testDirection
	var l lanes
	l.seedGeneric(&z, 1<<29-1)
	for lane := range lanesPerBlock {
		w := Philox([4]uint32{
			8*(1<<29-1) + uint32(lane), uint32(z.Step)<<16 | uint32(z.Perturbation),
			z.Source, uint32(z.Domain),
		}, z.Key)
		want := [2]uint64{uint64(w[0]) | uint64(w[1])<<32, uint64(w[2]) | uint64(w[3])<<32}
		if got := [2]uint64{l[0][lane], l[1][lane]}; got != want {
			t.Errorf("lane %d: got %x, want %x", lane, got, want)
		}
	}
}
