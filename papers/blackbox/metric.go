package blackbox

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/zofl/zofl/papers/models/train"
	"github.com/zofl/zofl/papers/tables"
)

// metricSide is half the side of the box: the largest change of a parameter.
const metricSide = 0.2

// A MetricConfig says which metric is computed, and on which rows.
type MetricConfig struct {
	Score   Score
	Portion float64 // P: part of the classes that a client's rows have; 0 is 1
	Clients int     // N; 0 is 7
	// Rows is the number of rows of a client; 0 means 1,000. NewMetric shuffles the half of the
	// table on which the MLP was not trained, once for all clients. A client gets the first Rows
	// rows of its classes in this order, or all rows of its classes if there are fewer. So with P =
	// 1 all clients have the same function. The paper takes all rows: with P = 1 a client has 46,481
	// rows of Covertype, and a query would take 46 times as long.
	Rows   int
	Seed   uint64 // of the clients' classes and rows
	Epochs int    // of the training, with minibatches of 256; 0 is 100
	// Cache is the directory for the trained MLP; empty: zofl/blackbox in the user's
	// cache directory.
	Cache      string
	Goroutines int                              // goroutines that train; 0 is 1
	Logf       func(format string, args ...any) // called with progress; nil: nobody is told
}

// A Metric is a score of an MLP as a function of the MLP's parameters. With theta the parameters
// trained with the cross-entropy,
//
//	f_i(x) = 1 - score of the MLP theta + x on client i's rows
//
// for x within +-0.2, [tables.Covertype], and 54-30-14-7 units with rectifiers, which have 2,189
// parameters. f_i is piecewise constant. Any number of goroutines may use one Metric.
type Metric struct {
	score   Score
	theta   []float32
	clients []share
}

// A share is a client's rows.
type share struct {
	classes classSet
	labels  []uint8
	chunks  [][]float32 // of mlpChunk rows, the last possibly shorter: [feature][row]
}

// NewMetric trains the MLP on half of the table, or reads it from the cache, and deals the
// rows of the other half to the clients.
func NewMetric(ctx context.Context, t *tables.Table, c MetricConfig) (*Metric, error) {
	c.Portion = cmp.Or(c.Portion, 1)
	c.Clients, c.Rows, c.Epochs = or(c.Clients, 7), or(c.Rows, 1000), or(c.Epochs, 100)
	if c.Clients < 1 || c.Rows < 1 || c.Epochs < 1 {
		return nil, fmt.Errorf("blackbox: Clients %d, Rows %d, Epochs %d: none may be negative",
			c.Clients, c.Rows, c.Epochs)
	}
	if c.Score > Jaccard {
		return nil, fmt.Errorf("blackbox: Score is %v: take one of %v", c.Score, Scores)
	}
	if t.Features != widths[0] || t.Classes != widths[len(widths)-1] || t.Len() < 2 {
		return nil, fmt.Errorf("blackbox: a table of %d rows, %d features and %d classes: take "+
			"tables.Covertype's, with %d features and %d classes",
			t.Len(), t.Features, t.Classes, widths[0], widths[len(widths)-1])
	}
	half, rest := standardized(t)
	m := &Metric{score: c.Score}
	var err error
	tr := trainer{dir: c.Cache, logf: c.Logf}
	name := fmt.Sprintf("mlp-%s-epochs-%d", fingerprint(t.Labels, floatBytes(t.Values)), c.Epochs)
	m.theta, err = tr.train(ctx, name, newMLP(half), train.Config{
		Epochs: c.Epochs, Batch: 256, Step: 0.01, Seed: 1, Goroutines: c.Goroutines})
	if err != nil {
		return nil, err
	}
	return m, m.deal(rest, c)
}

// deal draws each client's classes, and gives the client rows of these classes. All clients take
// rows in the same order, so that clients with the same classes have the same rows.
func (m *Metric) deal(rest *tables.Table, c MetricConfig) error {
	n, err := portion(c.Portion, widths[len(widths)-1])
	if err != nil {
		return err
	}
	draw, order := stream(c.Seed, forClasses), stream(c.Seed, forRows).Perm(rest.Len())
	for i := range c.Clients {
		s := share{classes: drawSet(draw, n, widths[len(widths)-1])}
		var list []int
		for _, at := range order {
			if s.classes.has(rest.Labels[at]) && len(list) < c.Rows {
				list = append(list, at)
			}
		}
		if len(list) == 0 {
			return fmt.Errorf("blackbox: no row is of the classes %v of client %d: take a "+
				"larger table", s.classes.list(), i)
		}
		s.take(rest, list)
		m.clients = append(m.clients, s)
	}
	return nil
}

// take copies the listed rows to s, in chunks.
func (s *share) take(from *tables.Table, list []int) {
	for len(list) > 0 {
		n := min(len(list), mlpChunk)
		chunk := make([]float32, widths[0]*n)
		for i, at := range list[:n] {
			s.labels = append(s.labels, from.Labels[at])
			for f, v := range from.At(at) {
				chunk[f*n+i] = v
			}
		}
		s.chunks = append(s.chunks, chunk)
		list = list[n:]
	}
}

// Dim returns the number of parameters, 2,189.
func (m *Metric) Dim() int { return mlpDim }

// Clients returns N.
func (m *Metric) Clients() int { return len(m.clients) }

// Box returns -0.2 and 0.2.
func (m *Metric) Box() (low, high float32) { return -metricSide, metricSide }

// Start writes zeros to dst: at x = 0 the MLP has its trained parameters.
func (m *Metric) Start(dst []float32, _ uint64) {
	check(m, dst)
	clear(dst)
}

// Classes returns the classes of client i's rows, in order.
func (m *Metric) Classes(i int) []int { return m.clients[i].classes.list() }

// Local returns f_i. f_i(x) is NaN if x has a NaN.
func (m *Metric) Local(i int) func(x []float32) float64 {
	checkClient(m, i)
	s, params := &m.clients[i], make([]float32, mlpDim)
	whole := newActivation(mlpChunk)
	last := *whole
	last.shrink(len(s.labels) - (len(s.chunks)-1)*mlpChunk)
	return func(x []float32) float64 {
		check(m, x)
		for j, v := range x {
			params[j] = m.theta[j] + clamp(v, -metricSide, metricSide)
			if params[j] != params[j] {
				return math.NaN()
			}
		}
		var c confusion
		for k, chunk := range s.chunks {
			a := whole
			if k == len(s.chunks)-1 {
				a = &last
			}
			a.forward(params, chunk)
			a.count(&c, s.labels[k*mlpChunk:])
		}
		return 1 - c.macro(m.score)
	}
}

// count adds the rows of a to the confusion c. Where several classes have the largest logit,
// count takes the lowest of these classes.
func (a *activation) count(c *confusion, labels []uint8) {
	logits := a.layers[len(widths)-1]
	for i, label := range labels[:a.rows] {
		class, most := 0, logits[i]
		for k := 1; k < len(c); k++ {
			if v := logits[k*a.rows+i]; v > most {
				class, most = k, v
			}
		}
		c[label][class]++
	}
}

var _ Problem = (*Metric)(nil)
