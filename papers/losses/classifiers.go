package losses

import "math"

// clusters are points around centers, which a linear model classifies. x has the weights of each
// class, and then all biases, in the order of a layer.
type clusters struct {
	classes int
	points  [][]float64
	labels  []uint8
}

func clustersOf(seed uint64, classes, inputs, points int) *clusters {
	rng := source(seed)
	centers := normal(rng, classes*inputs)
	c := &clusters{classes: classes}
	for range points {
		k, point := rng.IntN(classes), normal(rng, inputs)
		for j := range point {
			point[j] += 0.6 * centers[k*inputs+j]
		}
		c.points, c.labels = append(c.points, point), append(c.labels, uint8(k))
	}
	return c
}

func (c *clusters) dim() int { return c.classes * (len(c.points[0]) + 1) }

// scores returns the classes' scores of point i.
func (c *clusters) scores(x []float32, i int) []float64 {
	inputs, scores := len(c.points[i]), make([]float64, c.classes)
	for k := range scores {
		scores[k] = float64(x[c.classes*inputs+k])
		for j, v := range c.points[i] {
			scores[k] += float64(x[k*inputs+j]) * v
		}
	}
	return scores
}

// task returns the task with a loss that depends on a point's scores and class. All devices get
// points of the same distribution.
func (c *clusters) task(name, what string, devices int,
	loss func(scores []float64, class int) float64) task {
	return task{name: name, what: what, dim: c.dim(), devices: devices, samples: len(c.points),
		loss: mean(func(x []float32, i int) float64 {
			return loss(c.scores(x, i), int(c.labels[i]))
		})}
}

func classifiers() []task {
	six := clustersOf(11, 6, 20, 2000)
	coarse := six.task("coarse", "softmax of 6 classes, rounded to 1/64, Dirichlet 0.3", 20, entropy)
	exact := coarse.loss
	coarse.labels = six.labels
	coarse.loss = func(x []float32, samples []int) float64 {
		return math.Round(64*exact(x, samples)) / 64
	}
	errors := six.task("errors", "the share of errors, from random weights", 4, wrong)
	errors.layers = "linear:20x6"
	return []task{
		six.task("alone", "softmax of 6 classes, one device", 1, entropy),
		coarse,
		six.task("hinge", "the multiclass hinge", 4, hinge),
		errors,
		clustersOf(12, 100, 20, 4000).task("hundred", "softmax of 100 classes", 5, entropy),
		ranking(clustersOf(13, 2, 20, 2000)),
	}
}

// ranking returns a task with two classes. The loss is a smooth version of the share of pairs of
// points of different classes whose scores have the wrong order.
func ranking(c *clusters) task {
	return task{name: "ranking", what: "a soft share of pairs in the wrong order", dim: c.dim(),
		devices: 5, samples: len(c.points), loss: func(x []float32, samples []int) float64 {
			var margins [2][]float64
			for _, i := range samples[:min(len(samples), 200)] {
				s := c.scores(x, i)
				margins[c.labels[i]] = append(margins[c.labels[i]], s[1]-s[0])
			}
			sum := 0.0
			for _, low := range margins[0] {
				for _, high := range margins[1] {
					sum += 1 / (1 + math.Exp(high-low))
				}
			}
			return sum / float64(max(1, len(margins[0])*len(margins[1])))
		}}
}

// entropy is the cross entropy.
func entropy(scores []float64, class int) float64 {
	most, sum := scores[largest(scores)], 0.0
	for _, s := range scores {
		sum += math.Exp(s - most)
	}
	return math.Log(sum) + most - scores[class]
}

// hinge returns the largest score of a wrong class minus the score of the right class plus 1, or
// 0 if this is negative.
func hinge(scores []float64, class int) float64 {
	most := 0.0
	for k, s := range scores {
		if k != class {
			most = max(most, 1+s-scores[class])
		}
	}
	return most
}

func wrong(scores []float64, class int) float64 {
	if largest(scores) != class {
		return 1
	}
	return 0
}

func largest(v []float64) int {
	best := 0
	for i := range v {
		if v[i] > v[best] {
			best = i
		}
	}
	return best
}
