package secagg

import (
	"math"
	"math/big"
	"slices"
	"sort"
	"testing"
)

// lnChoose returns ln(n choose k).
func lnChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}

// chance returns the probability that a draw of k of n devices has lo to hi of the marked devices.
func chance(n, marked, k, lo, hi int) (p float64) {
	for x := max(lo, 0, k-(n-marked)); x <= min(hi, k, marked); x++ {
		p += math.Exp(lnChoose(marked, x) + lnChoose(n-marked, k-x) - lnChoose(n, k))
	}
	return p
}

// exactChance computes chance with fractions of whole numbers.
func exactChance(n, marked, k, lo, hi int) float64 {
	sum := new(big.Int)
	for x := lo; x <= hi; x++ {
		ways := new(big.Int).Binomial(int64(marked), int64(x))
		if k-x <= n-marked && x <= marked {
			sum.Add(sum, ways.Mul(ways, new(big.Int).Binomial(int64(n-marked), int64(k-x))))
		}
	}
	all := new(big.Int).Binomial(int64(n), int64(k))
	f, _ := new(big.Rat).SetFrac(sum, all).Float64()
	return f
}

func TestChance(t *testing.T) {
	for _, c := range [][5]int{{149, 30, 76, 40, 76}, {149, 119, 76, 0, 39},
		{999, 200, 112, 59, 112}} {
		got, want := chance(c[0], c[1], c[2], c[3], c[4]), exactChance(c[0], c[1], c[2], c[3], c[4])
		if math.Abs(got-want) > 1e-9*want {
			t.Errorf("%v: got %v, want %v", c, got, want)
		}
	}
}

// exposed bounds the probability that some device is not hidden: that a device has t corrupt
// neighbors, or that the graph is disconnected without the devices that are corrupt or left. To
// disconnect the graph, k/2 such devices must be consecutive on the ring. short bounds the
// probability that a device has fewer than t neighbors that stay.
func exposed(n, k, t int, gamma, delta float64) float64 {
	return float64(n)*chance(n-1, int(gamma*float64(n)), k, t, k) +
		float64(n)*math.Pow(gamma+delta, float64(k/2))
}

func short(n, k, t int, delta float64) float64 {
	return float64(n) * chance(n-1, n-1-int(delta*float64(n)), k, 0, t-1)
}

const sigma, eta = 1.0 / (1 << 40), 1.0 / (1 << 30)

// least returns the smallest degree of Bell et al., and its least threshold.
func least(n int, gamma, delta float64) (degree, threshold int) {
	for k := 2; k < n; k += 2 {
		t := sort.Search(k+1, func(t int) bool { return exposed(n, k, t, gamma, delta) <= sigma })
		if t <= k && short(n, k, t, delta) <= eta {
			return k, t
		}
	}
	return 0, 0
}

// Bell et al. 2020 with sigma = 40 and eta = 30. With a third of the devices corrupt and a third
// leaving, neighborhoods would need more than the 255 shares of a byte. A round of a billion
// devices costs each device as much as a round of a thousand devices that are all neighbors:
// section 1.
func TestDegrees(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  []int
	}{
		{0.05, []int{34, 38, 40, 44}},
		{0.2, []int{112, 134, 146, 158}},
		{1. / 3, []int{318, 492, 556, 598}},
	} {
		for i, n := range []int{1e3, 1e4, 1e5, 1e6} {
			if k, _ := least(n, c.share, c.share); k != c.want[i] {
				t.Errorf("%d devices, %v: degree %d, want %d", n, c.share, k, c.want[i])
			}
		}
	}
	if k, _ := least(1e9, 0.2, 0.2); k == 0 || k >= 999 {
		t.Errorf("a billion devices have degree %d, want less than 999", k)
	}
}

// Rounds of every size satisfy the bounds of their row, and for the row's largest round no smaller
// degree does.
func TestGraph(t *testing.T) {
	for n := 2; n <= mostComplete; n++ {
		if k, threshold := Graph(n); k != n-1 || 2*threshold <= n || 2*threshold > n+2 {
			t.Errorf("%d devices: degree %d, threshold %d", n, k, threshold)
		}
	}
	first := mostComplete + 1
	for _, row := range sparse {
		for n := first; n <= row.n; n += max(1, (row.n-first)/40) {
			k, threshold := Graph(n)
			switch {
			case k != row.degree || threshold != row.threshold:
				t.Fatalf("%d devices: degree %d, threshold %d, want %v", n, k, threshold, row)
			case 2*threshold <= k+1 || k+1 > 255 || k%2 != 0:
				t.Errorf("%d devices: degree %d, threshold %d", n, k, threshold)
			case exposed(n, k, threshold, 0.2, 0.2) > sigma:
				t.Errorf("%d devices: exposed with %v", n, exposed(n, k, threshold, 0.2, 0.2))
			case short(n, k, threshold, 0.2) > eta:
				t.Errorf("%d devices: short with %v", n, short(n, k, threshold, 0.2))
			}
		}
		if k, _ := least(row.n, 0.2, 0.2); k != row.degree {
			t.Errorf("%d devices: degree %d, want %d", row.n, row.degree, k)
		}
		first = row.n + 1
	}
}

// The relation of neighbors is symmetric, all devices have the same number of neighbors, and in
// another round devices have other neighbors.
func TestHoods(t *testing.T) {
	hoods := func(context string) [][]int32 {
		r := Round{Context: []byte(context), Words: 1}
		for i := range uint32(150) {
			r.Members = append(r.Members, i)
		}
		s, err := r.check()
		if err != nil {
			t.Fatal(err)
		}
		ring, all := s.ring(), [][]int32(nil)
		for i := range r.Members {
			all = append(all, s.hood(ring, i))
		}
		return all
	}
	first, second := hoods("first"), hoods("second")
	same := 0
	for i, hood := range first {
		if len(hood) != 77 || !slices.IsSorted(hood) || !slices.Contains(hood, int32(i)) {
			t.Fatalf("%d has neighbors %v", i, hood)
		}
		for j, other := range hood {
			if j > 0 && hood[j-1] == other || !slices.Contains(first[other], int32(i)) {
				t.Fatalf("%d has neighbor %d, not the other way, or twice", i, other)
			}
		}
		if slices.Equal(hood, second[i]) {
			same++
		}
	}
	if same > 1 {
		t.Errorf("%d of 150 have the same neighbors in two rounds", same)
	}
}

// The random numbers for the ring are uniform: each of 0..n-1 comes equally often.
func TestBelow(t *testing.T) {
	s, seen := newStream(make([]byte, 32)), [6]int{}
	for range 60000 {
		seen[s.below(6)]++
	}
	for v, count := range seen {
		if math.Abs(float64(count)-10000) > 5*math.Sqrt(10000*5./6) {
			t.Errorf("%d came %d times of 60000, want 10000", v, count)
		}
	}
	for _, n := range []uint32{1, 2, 3 << 30, math.MaxUint32} {
		for range 100 {
			if v := s.below(n); v >= n {
				t.Errorf("got %d, want below %d", v, n)
			}
		}
	}
}
