package adafl

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/attack"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan/valid"
)

// tinyAttack is an attack on drawn digits that takes seconds.
func tinyAttack(t *testing.T, dir string) *trial {
	size := size{
		sets: []string{"mnist", "fashion-mnist"}, epochs: 3, k: 4, among: 2, rounds: 4,
		sweep: 2, every: 2,
		steps: []uint32{2, 4}, asked: []int{2, 3}, dzopa: []float64{5e-3, 5e-2},
		zones: []float64{5e-3}, methods: methods, seeds: 1,
	}
	return newTrial(lab.NewTrial(t.Context(), &lab.Env{Generated: 1500, Dir: dir, Logf: t.Logf}, id),
		size)
}

func TestAttack(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	dir := t.TempDir()
	x := tinyAttack(t, dir)
	if err := x.all(); err != nil {
		t.Fatal(err)
	}
	if n := len(x.Report.Claims); n != 10 {
		t.Errorf("%d claims, want 10", n)
	}
	for _, c := range x.Report.Claims {
		t.Logf("%v: %s: %s", c.Holds, c.Claim, c.Figures)
		if strings.Contains(c.Figures, "nothing") || strings.Contains(c.Figures, "NaN") {
			t.Errorf("%s: no figures: %s", c.Claim, c.Figures)
		}
	}
	labtest.Untold(t, x.Report, 2+1+1+2) // the sweeps, the ends of both sets and Table 2
	s := x.sets[0]
	for _, m := range methods {
		c := s.curves[m]
		if loss := c.at(loss, 4); !(loss >= 0) || c.results[0].Curve.Ended != "rounds" {
			t.Errorf("%s: attack loss %v, ended %q", m.name, loss, c.results[0].Curve.Ended)
		}
		want := map[method]uint64{ada: 4 * 2 * 4 * 2, fedZO: 4 * 2 * 4 * 2,
			dzopa: 4 * 50 * 2, zones: 4 * 4 * 2}
		if got := c.results[0].Curve.Points[3].Queries; got != want[m] {
			t.Errorf("%s: %d losses in 4 rounds, want %d", m.name, got, want[m])
		}
	}
	start := s.target.Loss(make([]float32, s.target.Dim()), whole(s.target))
	if ada := s.curves[ada].at(loss, 4); !(ada < start) {
		t.Errorf("ZO-AdaFL's attack loss is %v after 4 rounds, %v before", ada, start)
	}
	// A saved run is not repeated.
	again := tinyAttack(t, dir)
	again.Ctx = canceled(t)
	s2, err := again.load("mnist")
	if err != nil {
		t.Fatal(err)
	}
	c, err := again.best(s2, dzopa, []float64{5e-2})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := s.curves[dzopa], c; a.step == b.step &&
		!reflect.DeepEqual(a.results[0].Params, b.results[0].Params) {
		t.Error("what was kept is another perturbation")
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestAttackResumes: a baseline that was stopped ends like one that was not.
func TestAttackResumes(t *testing.T) {
	loss := func(x []float32, batch []int) (sum float64) {
		for _, v := range x {
			sum += float64((v - 1) * (v - 1))
		}
		return sum
	}
	f := attack.Fleet{Loss: loss, Dim: 5, Shares: [][]int{{1, 2}, {2, 3}}, Batch: 1, Mean: 3,
		Mu: 1e-3, Step: .1, Seed: 1}
	file := filepath.Join(t.TempDir(), "new", "state.gob")
	for name, fresh := range map[string]func() attack.Baseline{
		"DZOPA":  func() attack.Baseline { return attack.NewDZOPA(f) },
		"ZONE-S": func() attack.Baseline { return attack.NewZONES(f) },
	} {
		whole, curve := fresh(), &run.Curve{}
		for n := uint64(1); n <= 6; n++ {
			whole.Round(n)
			curve.Points = append(curve.Points, run.Point{Round: n, TrainLoss: math.NaN()})
			if n == 3 {
				if err := keep(file, curve, whole); err != nil {
					t.Fatal(err)
				}
			}
		}
		other, kept := fresh(), &run.Curve{}
		if err := restore(file, kept, other); err != nil || kept.Last() != 3 {
			t.Fatalf("%s: %v after round %d", name, err, kept.Last())
		}
		for n := uint64(4); n <= 6; n++ {
			other.Round(n)
		}
		if !reflect.DeepEqual(whole.X(), other.X()) {
			t.Errorf("%s: %v, without a stop %v", name, other.X(), whole.X())
		}
		f := f
		f.Shares = f.Shares[:1]
		if err := restore(file, kept, attack.NewDZOPA(f)); err == nil ||
			!strings.Contains(err.Error(), "remove it") {
			t.Errorf("%s: a state of other clients: %v", name, err)
		}
	}
	if err := os.WriteFile(file, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := restore(file, &run.Curve{}, attack.NewDZOPA(f)); err == nil ||
		!strings.Contains(err.Error(), "remove it") {
		t.Errorf("nonsense: %v", err)
	}
}

func TestAttackShares(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	x := tinyAttack(t, t.TempDir())
	s, err := x.load("mnist")
	if err != nil {
		t.Fatal(err)
	}
	shares := s.shares(3)
	if len(shares) != clients || !reflect.DeepEqual(shares, s.shares(3)) ||
		reflect.DeepEqual(shares, s.shares(4)) {
		t.Error("the shares are no function of the seed, or too few")
	}
	for i, share := range shares {
		seen := map[int]bool{}
		for _, at := range share {
			seen[at] = true
		}
		if len(seen) != shareSize || len(share) != shareSize {
			t.Errorf("client %d has %d images, of which %d differ", i, len(share), len(seen))
		}
	}
	none := s.target.Figures(make([]float32, s.target.Dim()), whole(s.target))
	if none.Success != 0 || none.Distortion > 1e-9 {
		t.Errorf("without a perturbation %+v: the classifier must be right on all", none)
	}
}

func TestAttackStops(t *testing.T) {
	x := tinyAttack(t, t.TempDir())
	x.Ctx = canceled(t)
	if err := x.all(); !errors.Is(err, context.Canceled) || len(x.Report.Claims) > 0 {
		t.Errorf("got %v and %d claims", err, len(x.Report.Claims))
	}
}

// TestAttackPlans: the longest names and the largest records make valid plans, and DZOPA
// takes as many losses a round as a fleet.
func TestAttackPlans(t *testing.T) {
	for _, short := range []bool{true, false} {
		size, err := sizeOf(&lab.Env{Short: short})
		if err != nil {
			t.Fatal(err)
		}
		if size.rounds < size.sweep || size.rounds%size.every != 0 || size.sweep%size.every != 0 {
			t.Errorf("%+v: the sweep's end is not measured in the comparison", size)
		}
		x := newTrial(lab.NewTrial(t.Context(), &lab.Env{}, id), size)
		b := x.baseline(dzopa, attack.Fleet{Shares: make([][]int, clients)})
		if want := uint64(size.among) * uint64(size.k) * 2; b.Queries() != want {
			t.Errorf("DZOPA asks for %d losses a round, want %d", b.Queries(), want)
		}
	}
	for _, preset := range []string{"zo-adafl", "fedzo"} {
		p, err := run.Plan(preset, "m-fedzo-k100-m50", 99, 784, clients, clients)
		if err != nil {
			t.Fatal(err)
		}
		p.Steps, p.Perturbations = steps, 1
		if err := valid.Plan(p); err != nil {
			t.Error(err)
		}
	}
}
