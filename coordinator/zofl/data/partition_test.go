package data

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// balanced returns n labels, 0 to 9 in turn.
func balanced(n int) []uint8 {
	out := make([]uint8, n)
	for i := range out {
		out[i] = uint8(i % 10)
	}
	return out
}

// split returns a partition after checking that each client has the same number of samples and that
// no sample occurs twice.
func split(t *testing.T, n, clients, size int, shares [][]int, err error) [][]int {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if len(shares) != clients {
		t.Fatalf("got %d shares, want %d", len(shares), clients)
	}
	used := make([]bool, n)
	for c, share := range shares {
		if len(share) != size {
			t.Errorf("client %d has %d samples, want %d", c, len(share), size)
		}
		for _, i := range share {
			if used[i] {
				t.Fatalf("sample %d is dealt twice", i)
			}
			used[i] = true
		}
	}
	return shares
}

// proportions returns the fraction of each label in a share.
func proportions(labels []uint8, share []int) (p [10]float64) {
	for _, i := range share {
		p[labels[i]] += 1 / float64(len(share))
	}
	return p
}

// concentration is the mean over clients of sum p^2: 0.1 if all labels are
// equally frequent, 1 if a client has one label.
func concentration(labels []uint8, shares [][]int) float64 {
	var sum float64
	for _, share := range shares {
		for _, p := range proportions(labels, share) {
			sum += float64(p * p)
		}
	}
	return sum / float64(len(shares))
}

func TestIID(t *testing.T) {
	labels := balanced(10007)
	shares, err := IID(10007, 100, 1)
	split(t, 10007, 100, 100, shares, err)
	// 100 draws of 10 labels: E sum p^2 = 0.1 + 0.9/100.
	if c := concentration(labels, shares); c < 0.105 || c > 0.113 {
		t.Errorf("concentration %.4f, want 0.109", c)
	}
}

func TestShards(t *testing.T) {
	labels := balanced(10000)
	for _, s := range []int{1, 2, 5} {
		shares, err := Shards(labels, 100, s, 1)
		split(t, 10000, 100, 100, shares, err)
		seen := map[uint8]bool{}
		for c, share := range shares {
			n := 0
			for l, p := range proportions(labels, share) {
				if p > 0 {
					n++
					seen[uint8(l)] = true
				}
			}
			if n < 1 || n > s { // the classes divide evenly into shards here
				t.Errorf("%d shards a client: client %d has %d labels", s, c, n)
			}
		}
		if len(seen) != 10 {
			t.Errorf("%d shards a client: %d labels dealt", s, len(seen))
		}
	}
	// 10,003 samples in 300 shards of 33: 103 are left over.
	shares, err := Shards(balanced(10003), 100, 3, 1)
	split(t, 10003, 100, 99, shares, err)
}

// For p ~ Dir(alpha) over C labels, E sum p^2 = (1+alpha)/(1+C*alpha); n draws from p make it 1/n +
// (1-1/n) of that. The formula holds for the first clients. For the last clients it does not,
// because some labels have run out.
func TestDirichlet(t *testing.T) {
	labels := balanced(60000)
	const clients, size = 100, 600
	for _, tt := range []struct{ alpha, tolerance float64 }{
		{0.01, 0.25}, {0.1, 0.12}, {1, 0.04}, {100, 0.003},
	} {
		shares, err := Dirichlet(labels, clients, tt.alpha, 1)
		split(t, 60000, clients, size, shares, err)
		want := (1 + tt.alpha) / (1 + 10*tt.alpha)
		want = 1.0/size + (1-1.0/size)*want
		if got := concentration(labels, shares); math.Abs(got-want) > tt.tolerance {
			t.Errorf("alpha %v: concentration %.4f, want %.4f +- %v", tt.alpha, got, want,
				tt.tolerance)
		}
		if got := concentration(labels, shares[:20]); math.Abs(got-want) > tt.tolerance {
			t.Errorf("alpha %v: concentration of the first 20 %.4f, want %.4f +- %v",
				tt.alpha, got, want, tt.tolerance)
		}
	}
}

// Check the mean and the variance of one component of the variates.
func TestDirichletVariates(t *testing.T) {
	for _, alpha := range []float64{1e-4, 0.05, 0.5, 1, 3} {
		rng := rand.New(rand.NewPCG(1, 1))
		const n, c = 20000, 10
		var sum, squares float64
		for range n {
			p := dirichlet(rng, c, alpha)
			sum += p[0]
			squares += p[0] * p[0]
		}
		mean, second := sum/n, squares/n
		wantSecond := (1 + alpha) / (1 + c*alpha) / c
		if math.Abs(mean-0.1) > 0.01 || math.Abs(second-wantSecond) > 0.01 {
			t.Errorf("alpha %v: moments %.4f and %.4f, want 0.1 and %.4f", alpha, mean, second,
				wantSecond)
		}
	}
}

func TestPartitionsAreFunctionsOfTheirSeed(t *testing.T) {
	labels := balanced(1000)
	for name, f := range map[string]func(seed uint64) ([][]int, error){
		"IID":       func(seed uint64) ([][]int, error) { return IID(1000, 10, seed) },
		"Shards":    func(seed uint64) ([][]int, error) { return Shards(labels, 10, 2, seed) },
		"Dirichlet": func(seed uint64) ([][]int, error) { return Dirichlet(labels, 10, 0.5, seed) },
	} {
		a, _ := f(1)
		again, _ := f(1)
		b, _ := f(2)
		if !reflect.DeepEqual(a, again) {
			t.Errorf("%s: the same seed gives another split", name)
		}
		if reflect.DeepEqual(a, b) {
			t.Errorf("%s: another seed gives the same split", name)
		}
	}
}

func TestPartitionsRefuse(t *testing.T) {
	labels := balanced(10)
	for name, f := range map[string]func() ([][]int, error){
		"IID, no client":       func() ([][]int, error) { return IID(10, 0, 1) },
		"IID, too few samples": func() ([][]int, error) { return IID(10, 11, 1) },
		"Shards, no client":    func() ([][]int, error) { return Shards(labels, 0, 1, 1) },
		"Shards, no shard":     func() ([][]int, error) { return Shards(labels, 1, 0, 1) },
		"Shards, too many":     func() ([][]int, error) { return Shards(labels, 4, 3, 1) },
		"Dirichlet, no client": func() ([][]int, error) { return Dirichlet(labels, 0, 1, 1) },
		"Dirichlet, too few":   func() ([][]int, error) { return Dirichlet(labels, 11, 1, 1) },
		"Dirichlet, alpha 0":   func() ([][]int, error) { return Dirichlet(labels, 2, 0, 1) },
		"Dirichlet, alpha NaN": func() ([][]int, error) {
			return Dirichlet(labels, 2, math.NaN(), 1)
		},
		"Dirichlet, alpha endless": func() ([][]int, error) {
			return Dirichlet(labels, 2, math.Inf(1), 1)
		},
	} {
		if _, err := f(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
