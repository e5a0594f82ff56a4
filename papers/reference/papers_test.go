package reference

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestByHand compares rounds of each method on a line with results computed by hand.
func TestByHand(t *testing.T) {
	const k, mu, eta = 3, 1e-3, 0.1
	all, start := []int{0, 1}, []float64{5}
	is := func(name string, got []float64, want float64) {
		t.Helper()
		compare(t, name, got, []float64{want}, exact)
	}

	zo := FedZO{line(1, 3), k, 2, mu, eta}
	is("fedzo", zo.Round(start, 2, all), 5-3*0.1*2)

	ada := ZOAdaFL{zo, 0.5, 0.9, 0.99, 1e-8}
	s := NewMoments(1, 1e-5)
	x := ada.Round(start, s, 2, all)
	m, v := 0.1*-0.6, 0.99e-5+0.01*0.36
	is("zo-adafl", x, 5+0.5*m/math.Sqrt(v+1e-8))
	s.VHat[0] = 9 // the largest so far is kept
	is("zo-adafl, second round", ada.Round(x, s, 3, all), x[0]+0.5*(0.9*m-0.06)/math.Sqrt(9+1e-8))

	prox := FedProx{line(1, 3), k, 2, mu, eta, 0.5}
	is("fedprox", prox.Round(start, 2, all), 5-2*(1-math.Pow(1-0.1*0.5, 3))/0.5)

	one := Scaffold1{line(1, 3, 8), k, 2, mu, eta}
	// c = 4.5; no client drifts
	is("scaffold-1", one.Round(start, 2, []int{0, 2}, []int{0, 1}), 5-3*0.1*4.5)

	// Minibatches have a slope one above that of all data, at both points of a difference.
	reduced := ZOSVRG{line(1, 3, 8), k, 2, mu, eta}
	exactly := reduced.Loss
	reduced.Loss = func(client int, at At, x []float64) float64 {
		if at == (At{}) {
			return exactly(client, at, x)
		}
		return exactly(client, at, x) + x[0]
	}
	is("zo-svrg", reduced.Round(start, 2, []int{0, 2}, []int{0, 1}), 5-3*0.1*4.5)
	// With curvature 2 instead, a step multiplies the distance to where c + 2 (x-5) = 0 by 1-eta 2.
	reduced.Loss = func(client int, at At, x []float64) float64 {
		if at == (At{}) {
			return exactly(client, at, x)
		}
		return (x[0] - 5) * (x[0] - 5)
	}
	reduced.Mu = 1e-9 // a parabola has a bias by mu
	compare(t, "zo-svrg, curved", reduced.Round(start, 2, []int{0, 2}, []int{0, 1}),
		[]float64{5 - 4.5/2*(1-math.Pow(1-0.1*2, 3))}, 1e-5)

	two := Scaffold2{line(1, 3), k, 2, mu, eta, [][]float64{{0}, {0}}}
	x = two.Round(start, 2, []int{0})
	is("scaffold-2, nobody before", x, 5-3*0.1)
	x = two.Round(x, 3, []int{1}) // c = 1/2, c_1 = 0
	is("scaffold-2, c_1 is 0", x, 4.7-3*0.1*3.5)
	is("scaffold-2, all", two.Round(x, 4, all), 3.65-3*0.1*2)

	is("mezo", (&MeZO{line(2), mu, eta}).Round(start, 2), 5-0.1*2)

	ht := ZOFedHT{Problem: line(1, 3), K: k, P: 2, Mu: mu, Eta: eta, Tau: 2}
	track := &Trajectory{X: clone(start)}
	ht.Round(track, 0, 2, all)
	is("zofedht", track.X, 5-0.6)
	ht.Round(track, 1, 3, all)
	is("zofedht, second round", track.X, 4.4-0.6/math.Sqrt2)
	if len(track.Moves) != 2 || math.Abs(track.Moves[1][0]+0.6) > exact {
		t.Errorf("moves %v, want the last first", track.Moves)
	}
}

// TestServerRules takes two steps of each rule by hand, along 2 and then -3.
func TestServerRules(t *testing.T) {
	for _, c := range []struct {
		rule Server
		want [2]float64
	}{
		{Server{Rule: Mean}, [2]float64{2, -1}},
		{Server{Rule: SGD, Alpha: 3}, [2]float64{6, -3}},
		{Server{Rule: Momentum, Alpha: 3, Beta1: 0.5}, [2]float64{6, 0}},
		{Server{Rule: Sign, Alpha: 3}, [2]float64{3, 0}},
		{Server{Rule: Adam, Alpha: 3, Beta1: 0.5, Beta2: 0.75, V0: 1},
			[2]float64{3 / math.Sqrt(1.75), 3/math.Sqrt(1.75) - 3/math.Sqrt(3.5625)}},
		{Server{Rule: AMSGrad, Alpha: 3, Beta1: 0.5, Beta2: 0.75, V0: 9}, [2]float64{1, 0}},
		{Server{Rule: Yogi, Alpha: 3, Beta1: 0.5, Beta2: 0.75, V0: 5, Epsilon: 1},
			[2]float64{3 / math.Sqrt(5), 3/math.Sqrt(5) - 3/math.Sqrt(7.25)}},
		{Server{Rule: AdaGrad, Alpha: 3, Beta1: 0.5, V0: 4, Epsilon: 1}, // v = 8, then 17
			[2]float64{1, 1 - 3/math.Sqrt(18)}},
	} {
		s := NewMoments(1, c.rule.V0)
		first := c.rule.Step([]float64{0}, s, []float64{2})
		second := c.rule.Step(first, s, []float64{-3})
		compare(t, "first step", first, c.want[:1], exact)
		compare(t, "second step", second, c.want[1:], exact)
	}
}

// TestNormalizedByHand takes two steps of the rule, of one element whose scale is 2.
func TestNormalizedByHand(t *testing.T) {
	r := Normalized{Beta1: 0.5, Beta2: 0.75, Decay: 0.1}
	first := r.Step([]float64{10}, []float64{4}, 16, 0.5, []float64{2})
	compare(t, "first step", first, []float64{10 - 0.1*10 - 1}, exact) // m^ = 4, V^ = 16
	second := r.Step(first, []float64{-2}, 2, 0.25, []float64{2})
	// m = 2/2 - 1 = 0; V = 0.75*4 + 0.5 = 3.5
	compare(t, "second step", second, []float64{8 - 0.05*8}, exact)
	// m = -3, m^ = -3/(7/8); V = 2.625 + 1.6875, V^ = V/(37/64)
	third := r.Step(second, []float64{-6}, 6.75, 1, nil)
	want := 7.6 - 0.76 + 3/(7./8)/math.Sqrt(4.3125*64/37)
	compare(t, "third step", third, []float64{want}, exact)
}

func TestAggregates(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"odd median", Median([]float64{9, 1, 4}), 4},
		{"even median", Median([]float64{9, 1, 4, 5}), 4.5},
		{"trimmed mean", TrimmedMean([]float64{100, 1, 2, 6, -100}, 0.25), 3},
		{"nothing to trim", TrimmedMean([]float64{1, 2, 6}, 0.25), 3},
		{"clipped", length(shorten([][]float64{{3}, {4}}, 2)), 2},
		{"short enough", length(shorten([][]float64{{3}, {4}}, 6)), 5},
	} {
		compare(t, c.name, []float64{c.got}, []float64{c.want}, exact)
	}
}

// TestQR compares with LAPACK's QR, with adjusted signs, and checks dependent columns.
func TestQR(t *testing.T) {
	const d, tau = 20, 4
	columns, a := make([][]float64, tau), mat.NewDense(d, tau, nil)
	for j := range columns {
		columns[j] = normals(d, 0, At{}, j, 7)
		a.SetCol(j, columns[j])
	}
	var qr mat.QR
	qr.Factorize(a)
	var q, r mat.Dense
	qr.QTo(&q)
	qr.RTo(&r)
	for j, got := range QR(columns) {
		want := mat.Col(nil, j, &q)
		if r.At(j, j) < 0 {
			want = along(make([]float64, d), -1, want)
		}
		compare(t, "column", got, want, exact)
	}

	// The second column is dropped; the last one is just far enough from the span.
	got := DroppingQR([][]float64{{3, 4, 0}, {3, 4, 4e-5}, {0, 5, 0}, {3, 4, 6e-5}})
	for j, want := range [][]float64{{0.6, 0.8, 0}, {0, 0, 0}, {-0.8, 0.6, 0}, {0, 0, 1}} {
		compare(t, "dependent column", got[j], want, exact)
	}
}
