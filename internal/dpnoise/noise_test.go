package dpnoise

import (
	"crypto/rand"
	"math"
	mathrand "math/rand/v2"
	"testing"
)

// chacha is a source that is the same each time.
func chacha() *mathrand.ChaCha8 { return mathrand.NewChaCha8([32]byte{7}) }

// TestGauss compares frequencies with the probabilities that the definition gives, by a chi-square
// test that fails by accident once in 10^9 keys.
func TestGauss(t *testing.T) {
	const draws = 100_000
	for _, variance := range []uint64{1, 2, 9, 100} {
		s, seen := source{random: chacha()}, map[int64]float64{}
		for range draws {
			seen[s.gauss(variance)]++
		}
		total, bound := 0.0, int64(12*math.Sqrt(float64(variance)))
		weight := func(k int64) float64 {
			return math.Exp(-float64(k*k) / (2 * float64(variance)))
		}
		for k := -bound; k <= bound; k++ {
			total += weight(k)
		}
		square, degrees := 0.0, 0.0
		for k := -bound; k <= bound; k++ {
			if want := draws * weight(k) / total; want > 10 {
				square += (seen[k] - want) * (seen[k] - want) / want
				degrees++
			}
		}
		if limit := degrees + 6*math.Sqrt(2*degrees) + 12; square > limit {
			t.Errorf("variance %d: chi-square %.1f of %v classes, want at most %.1f",
				variance, square, degrees, limit)
		}
	}
}

// TestNoiseMoments: the noise has the standard deviation sigma*C, and is on the grid.
func TestNoiseMoments(t *testing.T) {
	for _, c := range []struct{ clip, sigma float32 }{{1, 1}, {0.37, 5}, {1e6, 0.01}, {3e-9, 1000}} {
		m, dst := New(c.clip, c.sigma), make([]float32, 20_000)
		m.Noise(dst, chacha())
		sum, fourth, want := 0.0, 0.0, float64(c.clip)*float64(c.sigma)
		for _, v := range dst {
			if k := float64(v) / m.Grid(); k != math.Trunc(k) {
				t.Fatalf("clip %v, noise %v: %v is off the grid %v", c.clip, c.sigma, v, m.Grid())
			}
			sum += float64(v) * float64(v) / (want * want)
			fourth += math.Pow(float64(v)/want, 4)
		}
		n := float64(len(dst))
		if math.Abs(sum/n-1) > 0.06 || math.Abs(fourth/n-3) > 0.5 {
			t.Errorf("clip %v, noise %v: second moment %v, fourth %v", c.clip, c.sigma, sum/n, fourth/n)
		}
	}
}

// TestClip: the norm on the grid is at most C exactly, short vectors stay within a step of the
// grid, and long ones keep their direction.
func TestClip(t *testing.T) {
	random := mathrand.New(chacha())
	for range 2000 {
		clip := float32(math.Exp(random.NormFloat64() * 5))
		m := New(clip, float32(random.Float64()*20))
		values := make([]float32, 1+random.IntN(50))
		scale := float64(clip) * math.Exp(random.NormFloat64()*3)
		norm := 0.0
		for i := range values {
			values[i] = float32(random.NormFloat64() * scale)
			norm += float64(values[i]) * float64(values[i])
		}
		factor := min(1, float64(clip)/math.Sqrt(norm))
		got := append([]float32(nil), values...)
		m.Clip(got)
		exact := uint64(0)
		for i, v := range got {
			k := float64(v) / m.Grid()
			if k != math.Trunc(k) {
				t.Fatalf("%v is off the grid %v", v, m.Grid())
			}
			exact += uint64(k * k)
			want := factor * float64(values[i])
			if math.Abs(float64(v)-want) > m.Grid()+1e-6*math.Abs(want) {
				t.Fatalf("%v became %v, want %v with a grid of %v", values[i], v, want, m.Grid())
			}
		}
		if length := float64(clip) / m.Grid(); exact > uint64(length*length) {
			t.Fatalf("norm %v above %v", math.Sqrt(float64(exact))*m.Grid(), clip)
		}
	}
}

// TestClipExtremes: values of any finite size, and none, are cut without harm.
func TestClipExtremes(t *testing.T) {
	m := New(2, 1)
	for _, values := range [][]float32{
		{}, {0, 0}, {math.MaxFloat32, -math.MaxFloat32}, {math.SmallestNonzeroFloat32}, {2}, {-2, 0},
	} {
		m.Clip(values)
		sum := 0.0
		for _, v := range values {
			sum += float64(v) * float64(v)
		}
		if !(sum <= 4) {
			t.Errorf("norm %v of %v", math.Sqrt(sum), values)
		}
	}
}

// TestAdd: what is sent is what was clipped and noise, and never twice the same.
func TestAdd(t *testing.T) {
	m := New(1, 2)
	a, b := make([]float32, 100), make([]float32, 100)
	m.Add(a, rand.Reader)
	m.Add(b, rand.Reader)
	same := 0
	for i := range a {
		if a[i] == b[i] {
			same++
		}
	}
	if same > 5 {
		t.Errorf("%d of 100 scalars have the same noise twice", same)
	}
	none := []float32{0.25, -0.5}
	if New(1, 0).Add(none, rand.Reader); none[0] != 0.25 || none[1] != -0.5 {
		t.Errorf("without noise got %v", none)
	}
}

// TestShare: the shares of a quorum have at least the noise of one mechanism, and hardly more.
func TestShare(t *testing.T) {
	for _, devices := range []uint32{0, 1, 3, 7, 4096} {
		m := New(2, 0.5)
		n := uint64(max(devices, 1))
		if share := m.Share(devices); n*share.variance < m.variance ||
			n*share.variance >= m.variance+n || share.Grid() != m.Grid() {
			t.Errorf("%d shares of %d steps, want %d in sum", n, share.variance, m.variance)
		}
	}
	for of, want := range map[uint8]float64{OfDevice: 6, OfSum: 2} {
		if got := Multiplier(6, of, 9); got != want {
			t.Errorf("of %d: a device's noise is %v, want %v", of, got, want)
		}
	}
}

func BenchmarkNoise(b *testing.B) {
	m, dst := New(1, 1), make([]float32, 1000)
	for b.Loop() {
		m.Noise(dst, rand.Reader)
	}
}
