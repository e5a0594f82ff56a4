package byzantine

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// TestByzantine runs the short form of the experiment, which is too short for a meaningful claim.
func TestByzantine(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	r := labtest.Run(t, Experiment(), &lab.Env{Short: true, Generated: 600, Screen: true})
	if len(r.Claims) != 1 || len(r.Summary.Rows) != 3 {
		t.Fatalf("%d claims and %d rows, want 1 and 3", len(r.Claims), len(r.Summary.Rows))
	}
	labtest.Untold(t, r, 1)
	for i, cell := range r.Summary.Rows[0] {
		if cell == "" || r.Summary.Rows[1][i] == "" || i > 2 && r.Summary.Rows[2][i] != "" {
			t.Errorf("column %d: %q, %q with a root, and %q of honest devices alone", i, cell,
				r.Summary.Rows[1][i], r.Summary.Rows[2][i])
		}
	}
}

// TestShields checks that the plan of every shield can run, with every preset.
func TestShields(t *testing.T) {
	for _, method := range methods {
		for _, s := range shieldsOf(fleet{5, 1}) {
			p, err := preset.Unbound(method, "shield", 100)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(s.set(p), valid.Plan(p)); err != nil {
				t.Errorf("%s, %s: %v", method, s.name, err)
			}
			if guarded := p.ClaimBound > 0; guarded != (s.name == "default") {
				t.Errorf("%s, %s: claim_bound is %v", method, s.name, p.ClaimBound)
			}
		}
	}
}

// TestFleet runs one liar of three with a new shield, and checks what is refused.
func TestFleet(t *testing.T) {
	e := &lab.Env{Rounds: 4, Generated: 300, Screen: true, Devices: 3,
		Presets: []string{"zofl-shared"}, Tasks: []string{"m"}, Lies: []string{"honest", "scaled"},
		Arms: []string{"default", "long default bound=9", "alone"}}
	r := labtest.Run(t, Experiment(), e)
	title := func(row int) string { return r.Summary.Rows[row][0] + ": " + r.Summary.Rows[row][1] }
	if len(r.Summary.Rows) != 3 || len(r.Claims) != 1 ||
		title(0) != "zofl-shared, Dirichlet 0.3: the default" ||
		!strings.HasSuffix(title(1), "the default bound=9") ||
		!strings.HasSuffix(title(2), "no liars: the 2 honest devices") {
		t.Errorf("rows %q, claims %v", r.Summary.Rows, r.Claims)
	}
	for _, e := range []*lab.Env{{Devices: 3, Liars: 3}, {Liars: 20}, {Devices: -1}, {Liars: -1},
		{Presets: []string{"mezo"}}, {Tasks: []string{"s"}}, {Lies: []string{"none"}},
		{Arms: []string{"none"}}, {Arms: []string{"new none bound=2"}}, {Arms: []string{""}},
		{Arms: []string{"new mean bound"}}, {Arms: []string{"new mean bound=x"}}} {
		e.Generated = 300
		if _, err := Experiment().Run(t.Context(), e); err == nil ||
			!strings.HasPrefix(err.Error(), "--") {
			t.Errorf("%+v: %v", e, err)
		}
	}
}

// TestLies compares a liar's losses along one direction and the liar's gradient with the expected
// values. The loss is sum(x) times the number of a sample.
func TestLies(t *testing.T) {
	honest := run.Task{
		Loss: func(x []float32, batch []int) float64 {
			sum := 0.0
			for _, v := range x {
				sum += float64(v) * float64(batch[0]+1)
			}
			return sum
		},
		Gradient: func(grad, x []float32, batch []int) float64 {
			for i := range grad {
				grad[i] += float32(batch[0] + 1)
			}
			return 0
		},
	}
	wrong := run.Task{
		Loss: func(x []float32, _ []int) float64 { return 7 * float64(x[0]) },
		Gradient: func(grad, _ []float32, _ []int) float64 {
			for i := range grad {
				grad[i] += 7
			}
			return 0
		},
	}
	shares := [][]int{{0}, {1}, {2}, {3}, {9}, {9}}
	x, y := make([]float32, 12), make([]float32, 12)
	y[0] = 1
	for _, l := range lies[1:] {
		task := l.task(honest, wrong, shares, 4, 10)
		for client, want := range map[int]float64{4: 10, 1: map[string]float64{"random": 0, "noise": 0,
			"partly": 0, "flipped": -2, "scaled": -20, "league": -100, "half": -5, "labels": 7,
			"steady": -100, "turns": -100}[l.name]} {
			batch, grad := shares[client], make([]float32, 12)
			task.Gradient(grad, x, batch)
			if l.turns && client == 1 && dice(x, 1).IntN(3) > 0 {
				want = 10
			}
			slope := task.Loss(y, batch) - task.Loss(x, batch)
			if l.random && client == 1 {
				other := make([]float32, 12)
				task.Gradient(other, x, shares[3])
				same := math.Abs(float64(grad[0]*other[1]/(grad[1]*other[0])-1)) < 1e-3
				if same != (l.shared == 1) {
					t.Errorf("%s: two liars say %v and %v", l.name, grad, other)
				}
				if grad[0] == grad[1] || math.Abs(float64(grad[0])) > 2000 {
					t.Errorf("%s: a gradient of %v", l.name, grad)
				}
				continue
			}
			if slope != want || float64(grad[3]) != want {
				t.Errorf("%s: client %d has a slope of %v and a gradient of %v, want %v", l.name,
					client, slope, grad[3], want)
			}
		}
	}
}

// TestSharedNoise checks that the cosine of two liars' noise is the share that is the same for
// all liars, and that the norm of the noise is the gradient's norm times the liar's factor.
func TestSharedNoise(t *testing.T) {
	honest := run.Task{Gradient: func(grad, _ []float32, _ []int) float64 {
		for i := range grad {
			grad[i]++
		}
		return 0
	}}
	shares, x := [][]int{{0}, {1}, {2}, {3}, {9}}, make([]float32, 20_000)
	for _, l := range lies {
		if !l.random {
			continue
		}
		task := l.task(honest, honest, shares, 4, 10)
		a, b := make([]float32, len(x)), make([]float32, len(x))
		task.Gradient(a, x, shares[1])
		task.Gradient(b, x, shares[2])
		var product, square float64
		for i, v := range a {
			product += float64(v) * float64(b[i])
			square += float64(v) * float64(v)
		}
		n := float64(len(x))
		if math.Abs(square/n/1e4-1) > 0.05 || math.Abs(product/n/1e4-l.shared) > 0.05 {
			t.Errorf("%s: a mean square of %v, a mean product of %v", l.name, square/n, product/n)
		}
	}
}

// TestLeagueSamples checks that all liars in league take the same honest devices' samples at a
// point. Steady liars take the same samples at every point, so that a difference of two losses is
// the difference of one function.
func TestLeagueSamples(t *testing.T) {
	shares := make([][]int, 20)
	for i := range 2000 {
		shares[i%20] = append(shares[i%20], i)
	}
	for _, l := range lies {
		if l.name != "league" && l.name != "steady" {
			continue
		}
		var taken []int
		task := l.task(run.Task{Loss: func(_ []float32, batch []int) float64 {
			taken = slices.Clone(batch)
			return 0
		}}, run.Task{}, shares, 4, 2000)
		at := func(liar int, point float32) []int {
			x := make([]float32, liarsDice)
			x[0] = point
			task.Loss(x, shares[liar][:1])
			return taken
		}
		first, other, moved := at(0, 0), at(3, 0), at(0, 1)
		if len(first) != leagueBatch || !slices.Equal(first, other) {
			t.Errorf("%s: liars take %v and %v", l.name, first, other)
		}
		if slices.Equal(first, moved) != l.steady {
			t.Errorf("%s: at two points it takes %v and %v", l.name, first, moved)
		}
	}
}

// TestRootTakesAll checks that the root device has samples taken from all clients, which no
// client still has, and that it computes its loss over all these samples.
func TestRootTakesAll(t *testing.T) {
	deal := func(uint64) ([][]int, error) {
		shares := make([][]int, 20)
		for i := range 2000 {
			shares[i%20] = append(shares[i%20], i)
		}
		return shares, nil
	}
	shares, err := withRoot(deal)(3)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, share := range shares {
		for _, i := range share {
			seen[i] = true
		}
	}
	own := shares[usual.devices]
	if all := slices.Concat(shares...); len(all) != 2000 || len(seen) != 2000 ||
		len(own) != rootSamples {
		t.Errorf("%d samples, %d of them different, %d of the root's", len(all), len(seen), len(own))
	}
	count := func(_, _ []float32, batch []int) float64 { return float64(len(batch)) }
	task := wholly(run.Task{Gradient: count,
		Loss: func(x []float32, batch []int) float64 { return count(nil, x, batch) }}, own)
	for _, test := range []struct {
		batch []int
		want  float64
	}{{own[5:7], rootSamples}, {shares[2][:3], 3}} {
		if got := task.Loss(nil, test.batch); got != test.want {
			t.Errorf("a loss of %v samples, want %v", got, test.want)
		}
		if got := task.Gradient(nil, nil, test.batch); got != test.want {
			t.Errorf("a gradient of %v samples, want %v", got, test.want)
		}
	}
}

// TestRare: the last device has all samples of the rare label and no others.
func TestRare(t *testing.T) {
	labels := make([]uint8, 200)
	for i := range labels {
		labels[i] = uint8(i % 10)
	}
	shares, err := rare(labels, 5, 1)
	if err != nil || len(shares) != 5 {
		t.Fatal(len(shares), err)
	}
	seen := map[int]bool{}
	for d, share := range shares {
		for _, i := range share {
			if seen[i] = true; (labels[i] == rareLabel) != (d == 4) {
				t.Errorf("device %d has sample %d, a %d", d, i, labels[i])
			}
		}
	}
	if len(seen) != len(labels) {
		t.Errorf("%d of %d samples were dealt", len(seen), len(labels))
	}
}
