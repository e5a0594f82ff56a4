package mathx

import "math"

// An operation has its vectors and coefficients in the order of its function's parameters. An
// operation only reads its last vector.
type operation struct {
	name       string
	vectors    int
	fast, slow func(v [][]float32, c []float32)
}

const coefficients = 4 // at most

var operations = []operation{
	{"Axpy", 2, func(v [][]float32, c []float32) { Axpy(v[0], c[0], v[1]) }, naiveAxpy},
	{"Descend", 2, func(v [][]float32, c []float32) { Descend(v[0], c[0], v[1]) }, naiveDescend},
	{"Momentum", 2, func(v [][]float32, c []float32) {
		Momentum(v[0], c[0], c[1], v[1])
	}, naiveMomentum},
	{"MomentumStep", 3, func(v [][]float32, c []float32) {
		MomentumStep(v[0], v[1], c[0], c[1], c[2], v[2])
	}, naiveMomentumStep},
	{"AdaptiveStep", 5, func(v [][]float32, c []float32) {
		AdaptiveStep(v[0], v[1], v[2], v[3], Adaptive{c[0], c[1], c[2], c[3]}, v[4])
	}, naiveAdaptiveStep},
	{"AdamStep", 4, func(v [][]float32, c []float32) {
		AdamStep(v[0], v[1], v[2], Adaptive{c[0], c[1], c[2], c[3]}, v[3])
	}, naiveAdamStep},
	{"YogiStep", 4, func(v [][]float32, c []float32) {
		YogiStep(v[0], v[1], v[2], Adaptive{c[0], c[1], c[2], c[3]}, v[3])
	}, naiveYogiStep},
	{"AdaGradStep", 4, func(v [][]float32, c []float32) {
		AdaGradStep(v[0], v[1], v[2], Adaptive{c[0], c[1], c[2], c[3]}, v[3])
	}, naiveAdaGradStep},
	{"SignStep", 2, func(v [][]float32, c []float32) { SignStep(v[0], c[0], v[1]) }, naiveSignStep},
	{"Scale", 2, func(v [][]float32, c []float32) { Scale(v[0], c[0], v[1]) }, naiveScale},
	{"Sub", 3, func(v [][]float32, c []float32) { Sub(v[0], v[1], v[2]) }, naiveSub},
}

// inputs returns n elements for each vector of the operation, and coefficients; second
// moments are not negative.
func (o operation) inputs(g *lcg, n int) (vectors [][]float32, c []float32) {
	for j := range o.vectors {
		v := g.vector(n, 120)
		if o.vectors >= 4 && j >= 2 && j < o.vectors-1 {
			absolute(v)
		}
		vectors = append(vectors, v)
	}
	return vectors, []float32{g.float32(110), g.fraction(), g.fraction(), g.fraction()}
}

// want returns the naive version's results for the vectors.
func (o operation) want(vectors [][]float32, c []float32) [][]float32 {
	v := make([][]float32, o.vectors)
	for j := range v {
		v[j] = append([]float32(nil), vectors[j]...)
	}
	o.slow(v, c)
	return v
}

// The naive versions compute in float64, where a product of two float32 is exact, and where
// a sum, a quotient and a root round to the same float32. So the compiler has nothing to
// fuse.

func product(a, b float32) float32 { return float32(float64(a) * float64(b)) }

func sum(a, b float32) float32 { return float32(float64(a) + float64(b)) }

func naiveAxpy(v [][]float32, c []float32) {
	for i := range v[0] {
		v[0][i] = sum(v[0][i], product(c[0], v[1][i]))
	}
}

func naiveDescend(v [][]float32, c []float32) {
	naiveAxpy(v, []float32{-c[0]})
}

func naiveMomentum(v [][]float32, c []float32) {
	for i := range v[0] {
		v[0][i] = sum(product(c[0], v[0][i]), product(c[1], v[1][i]))
	}
}

func naiveMomentumStep(v [][]float32, c []float32) {
	for i := range v[0] {
		v[1][i] = sum(product(c[0], v[1][i]), product(c[1], v[2][i]))
		v[0][i] = sum(v[0][i], -product(c[2], v[1][i]))
	}
}

func naiveAdaptiveStep(vectors [][]float32, c []float32) {
	x, m, v, vhat, delta := vectors[0], vectors[1], vectors[2], vectors[3], vectors[4]
	for i, d := range delta {
		m[i] = sum(product(c[1], m[i]), product(sum(1, -c[1]), d))
		v[i] = sum(product(c[2], v[i]), product(sum(1, -c[2]), product(d, d)))
		if v[i] > vhat[i] {
			vhat[i] = v[i]
		}
		root := float32(math.Sqrt(float64(sum(vhat[i], c[3]))))
		x[i] = sum(x[i], product(c[0], float32(float64(m[i])/float64(root))))
	}
}

func naiveAdamStep(vectors [][]float32, c []float32) {
	x, m, v, delta := vectors[0], vectors[1], vectors[2], vectors[3]
	for i, d := range delta {
		m[i] = sum(product(c[1], m[i]), product(sum(1, -c[1]), d))
		v[i] = sum(product(c[2], v[i]), product(sum(1, -c[2]), product(d, d)))
		root := float32(math.Sqrt(float64(sum(v[i], c[3]))))
		x[i] = sum(x[i], product(c[0], float32(float64(m[i])/float64(root))))
	}
}

func naiveYogiStep(vectors [][]float32, c []float32) {
	x, m, v, delta := vectors[0], vectors[1], vectors[2], vectors[3]
	for i, d := range delta {
		m[i] = sum(product(c[1], m[i]), product(sum(1, -c[1]), d))
		square := product(d, d)
		change := product(sum(1, -c[2]), square)
		switch sign := float64(v[i]) - float64(square); {
		case sign > 0:
			v[i] = sum(v[i], -change)
		case sign < 0:
			v[i] = sum(v[i], change)
		}
		root := float32(math.Sqrt(float64(sum(v[i], c[3]))))
		x[i] = sum(x[i], product(c[0], float32(float64(m[i])/float64(root))))
	}
}

func naiveAdaGradStep(vectors [][]float32, c []float32) {
	x, m, v, delta := vectors[0], vectors[1], vectors[2], vectors[3]
	for i, d := range delta {
		m[i] = sum(product(c[1], m[i]), product(sum(1, -c[1]), d))
		v[i] = sum(v[i], product(d, d))
		root := float32(math.Sqrt(float64(sum(v[i], c[3]))))
		x[i] = sum(x[i], product(c[0], float32(float64(m[i])/float64(root))))
	}
}

func naiveSignStep(v [][]float32, c []float32) {
	for i, d := range v[1] {
		switch {
		case d > 0:
			v[0][i] = sum(v[0][i], c[0])
		case d < 0:
			v[0][i] = sum(v[0][i], -c[0])
		case d != d:
			v[0][i] = d
		}
	}
}

func naiveScale(v [][]float32, c []float32) {
	for i := range v[0] {
		v[0][i] = product(c[0], v[1][i])
	}
}

func naiveSub(v [][]float32, _ []float32) {
	for i := range v[0] {
		v[0][i] = sum(v[1][i], -v[2][i])
	}
}
