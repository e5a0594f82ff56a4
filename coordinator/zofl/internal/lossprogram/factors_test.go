package lossprogram

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// lowRank returns a plan of 69 parameters, most of them in matrices.
func lowRank(t *testing.T, name string) *plan.Plan {
	t.Helper()
	p, err := preset.New(name, "r", 69)
	if err != nil {
		t.Fatal(err)
	}
	p.Distribution, p.Rounds, p.Members, p.Target, p.Quorum = plan.LowRank, 6, 2, 2, 2
	p.Segments = []plan.Segment{{Name: "a", Len: 40, Rows: 5}, {Name: "b", Len: 5},
		{Name: "c", Len: 24, Rows: 8}}
	return p
}

const factorsOfLowRank = (5 + 8) + 5 + (8 + 3)

// train runs a plan on two devices of a program.
func train(t *testing.T, p *plan.Plan, program *Program) *fleet.Result {
	t.Helper()
	program.Plan(p)
	o := []objective.Objective{program.Objective("d0"), program.Objective("d1")}
	r, err := fleet.Run(t.Context(), p, o, fleet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFactorsTrainAlike: a run comes to the same model whether a program gets points or factors,
// also through the surveys of mu and the step, evaluations, and several local steps. The file is
// made once for all points of a step, and x is written once a step.
func TestFactorsTrainAlike(t *testing.T) {
	for _, name := range []string{"zofl", "decomfl"} {
		p := lowRank(t, name)
		p.EvalEvery, p.EvalCount, p.Metrics = 2, 1, []string{"bowl"}
		if name == "decomfl" {
			p.Steps, p.Perturbations, p.StepSize = 3, 4, 1e-3
		}
		points, _ := startBowl(t, "hello 1 dim=69 points=3 evaluate=1")
		want := train(t, p, points)
		near, log := startBowl(t, "hello 1 dim=69 points=3 evaluate=1 factors=1")
		got := train(t, p, near)
		if !slices.Equal(got.Params, want.Params) || got.Queries != want.Queries ||
			want.Rounds[5].Loss != got.Rounds[5].Loss {
			t.Errorf("%s: other models: %v and %v", name, got.Params[:3], want.Params[:3])
		}
		if last := got.Rounds[5]; !slices.Equal(last.Metrics, want.Rounds[5].Metrics) {
			t.Errorf("%s: metrics %v, want %v", name, last.Metrics, want.Rounds[5].Metrics)
		}
		head := fmt.Sprintf("map dim=69 points=3 factors=%d shapes=5x8,5,8x3 path=", factorsOfLowRank)
		lines := log()
		if n := strings.Count(lines, "map "); n != 1 || !strings.Contains(lines, head) {
			t.Errorf("%s: %d maps, want one: %s", name, n, head)
		}
		checkWrites(t, lines)
	}
}

// checkWrites checks that requests of one device and step name one x.
func checkWrites(t *testing.T, log string) {
	t.Helper()
	seen := map[string]string{}
	for line := range strings.Lines(log) {
		_, said, ok := strings.Cut(line, `msg="loss `)
		if !ok {
			continue
		}
		batch, rest, _ := strings.Cut(said, " points=")
		if strings.Contains(batch, " step=65535 ") {
			continue // points of a survey of the step are an x each
		}
		_, x, _ := strings.Cut(rest, " x=")
		x, _, _ = strings.Cut(x, " ")
		if was, ok := seen[batch]; ok && was != x {
			t.Errorf("%s has x=%s, and then x=%s", batch, was, x)
		}
		seen[batch] = x
	}
	if len(seen) < 12 {
		t.Errorf("requests of %d steps", len(seen))
	}
}

// TestSameModelOnce: devices that hold the same model share the x in the file.
func TestSameModelOnce(t *testing.T) {
	p := lowRank(t, "decomfl")
	p.StepSize = 1e-3
	near, _ := startBowl(t, "hello 1 dim=69 points=40 factors=1")
	train(t, p, near)
	if near.writes != p.Rounds {
		t.Errorf("%d rounds of 2 devices wrote x %d times", p.Rounds, near.writes)
	}
}

// TestPointsInPlaceOfFactors: a program gets points if it asks for no factors, if it has gradients,
// or if a point is not x plus a multiple of one direction of rank 1.
func TestPointsInPlaceOfFactors(t *testing.T) {
	plain := func(*plan.Plan) {}
	for _, c := range []struct {
		hello string
		edit  func(p *plan.Plan)
		takes bool
	}{
		{"hello 1 dim=69 points=3 factors=1", plain, true},
		{"hello 1 dim=69 points=3", plain, false},
		{"hello 1 dim=69 points=3 factors=0", plain, false},
		{"hello 1 dim=69 points=3 factors=1 gradient=1", plain, false},
		{"hello 1 dim=69 factors=1", func(p *plan.Plan) { p.Distribution = plan.Rademacher }, false},
		{"hello 1 dim=69 factors=1", func(p *plan.Plan) { p.Segments[0].MuScale = 2 }, false},
		{"hello 1 dim=69 factors=1", func(p *plan.Plan) { p.Boxes = []plan.Box{{High: 1}} }, false},
	} {
		p, _ := startBowl(t, c.hello)
		at := lowRank(t, "decomfl")
		c.edit(at)
		if err := p.Accept(at); err != nil {
			t.Fatal(err)
		}
		if takes := p.shapeFor(1).factors.count > 0; takes != c.takes {
			t.Errorf("%s, %v: factors %v, want %v", c.hello, at.Distribution, takes, c.takes)
		}
	}
}

// TestRoomForAStep: a file of factors has room for all points of a step, or for as many as the
// program takes.
func TestRoomForAStep(t *testing.T) {
	for _, c := range []struct {
		hello string
		d     plan.Difference
		want  int
	}{
		{"hello 1 dim=69 points=40 factors=1", plan.Forward, 5},
		{"hello 1 dim=69 points=40 factors=1", plan.Central, 8},
		{"hello 1 dim=69 points=3 factors=1", plan.Central, 3},
	} {
		p, _ := startBowl(t, c.hello)
		at := lowRank(t, "decomfl")
		at.Perturbations, at.Difference = 4, c.d
		p.Plan(at)
		if got := p.shapeFor(1).points; got != c.want {
			t.Errorf("%s, %v: room for %d points, want %d", c.hello, c.d, got, c.want)
		}
	}
}

// TestPointsOfALargeModel: a program that takes factors of many gets few points of other plans.
func TestPointsOfALargeModel(t *testing.T) {
	p, _ := startBowl(t, "hello 1 dim=1000000 points=20 factors=1")
	if want := anyDimNumbers / 1_000_000; p.points != want {
		t.Errorf("%d points at once, want %d", p.points, want)
	}
}

// TestPlansTakeTurns: a program of several plans gets factors for those that have them, and is told
// of other shapes.
func TestPlansTakeTurns(t *testing.T) {
	near, log := startBowl(t, "hello 1 dim=69 points=3 factors=1")
	for _, c := range []struct {
		d    plan.Distribution
		rows uint64 // of the first segment, with as many factors for 5 as for 8
	}{{plan.LowRank, 5}, {plan.Rademacher, 5}, {plan.LowRank, 5}, {plan.LowRank, 8}} {
		p := lowRank(t, "decomfl")
		p.Rounds, p.StepSize, p.Distribution, p.Segments[0].Rows = 2, 1e-3, c.d, c.rows
		train(t, p, near)
	}
	maps, with := strings.Count(log(), `msg="map `), strings.Count(log(), " factors=")
	if maps != 4 || with != 3 {
		t.Errorf("%d maps, %d with factors, want 4 and 3", maps, with)
	}
}

// TestPointsOfNoRay: points that an app gives are an x each, and x is written again after them.
func TestPointsOfNoRay(t *testing.T) {
	p, log := startBowl(t, "hello 1 dim=69 points=3 factors=1 evaluate=1")
	p.Plan(lowRank(t, "decomfl"))
	x := [][]float32{make([]float32, 69), make([]float32, 69)}
	x[1][1] = 1
	losses := make([]float64, 2)
	o := p.Objective("pi-1")
	for range 2 {
		err := o.LossesAt(t.Context(), objective.NewPoints(x...), objective.Batch{}, losses)
		if err != nil || losses[0] != bowlOf(x[0]) || losses[1] != bowlOf(x[1]) {
			t.Errorf("losses %v: %v", losses, err)
		}
	}
	m, _, err := o.(objective.Evaluator).Evaluate(t.Context(), x[1])
	if err != nil || m[0] != bowlOf(x[1]) {
		t.Errorf("metrics %v: %v", m, err)
	}
	got := log()
	for i := range 4 {
		says := fmt.Sprintf("points=1 scales=0 x=%d left=inf", i+1)
		if !strings.Contains(got, says) {
			t.Errorf("no %q in %s", says, got)
		}
	}
	if !strings.Contains(got, "evaluate device=pi-1 x=5 left=inf") {
		t.Error("no evaluation of another x in", got)
	}
}

// A ray is a source of one point with signs, and of an x that is 0.
type ray struct{ signs []uint64 }

func (ray) Dim() int { return 69 }

func (r ray) Read(_ uint64, dst []float32, off int) error { return r.ReadX(0, dst, off) }

func (ray) ReadAll(uint64, [][]float32, int, int) error { return objective.ErrRevoked }

func (ray) ReadX(_ uint64, dst []float32, _ int) error { clear(dst); return nil }

func (r ray) Rays(uint64) (objective.Rays, bool, error) {
	return objective.Rays{Scales: []float32{1}, Signs: [][]uint64{r.signs}}, true, nil
}

// TestSignsOfAnotherPlan: too few signs for the plan that the program knows are an error.
func TestSignsOfAnotherPlan(t *testing.T) {
	p, _ := startBowl(t, "hello 1 dim=69 points=3 factors=1")
	p.Plan(lowRank(t, "decomfl"))
	losses := make([]float64, 1)
	for _, c := range []struct {
		signs []uint64
		want  string
	}{{[]uint64{1}, ""}, {[]uint64{}, "points of 0 factors: the plan has 29"}} {
		x := objective.AllAt(ray{c.signs}, 0, 1)
		err := p.Objective("pi-1").LossesAt(t.Context(), &x, objective.Batch{}, losses)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%d words of signs: %v, want %q", len(c.signs), err, c.want)
		}
	}
}

// TestFailedWriteOfX: after a write that failed, or in a file that is gone, the file holds no x.
func TestFailedWriteOfX(t *testing.T) {
	p, _ := startBowl(t, "hello 1 dim=69 points=3 factors=1")
	p.Plan(lowRank(t, "decomfl"))
	failed, written := errors.New("no record"), 0
	write := func(err error) func([]float32) error {
		return func([]float32) error { written++; return err }
	}
	err := p.session(t.Context(), p.shapeFor(1), func(_ *talk, file *sharedFile) error {
		err := p.setX(file, "first", write(nil))
		if err2 := p.setX(file, "second", write(failed)); err != nil || !errors.Is(err2, failed) {
			t.Errorf("errors %v and %v", err, err2)
		}
		if err := p.setX(file, "first", write(nil)); err != nil || written != 3 {
			t.Errorf("%d writes, want 3: %v", written, err)
		}
		if err := os.Remove(file.file.Name()); err != nil {
			t.Fatal(err)
		}
		return p.setX(file, "third", write(nil))
	})
	if err == nil || written != 3 {
		t.Errorf("%d writes, want 3, and an error in a file that is gone: %v", written, err)
	}
}

// TestRestartedProgramGetsX: a program that starts again may have left anything in the file.
func TestRestartedProgramGetsX(t *testing.T) {
	p, _ := startBowl(t, "hello 1 dim=69 points=3 factors=1")
	p.Plan(lowRank(t, "decomfl"))
	for i := range 2 {
		written := 0
		err := p.session(t.Context(), p.shapeFor(1), func(_ *talk, file *sharedFile) error {
			return p.setX(file, "the model", func(to []float32) error {
				written = len(to)
				return nil
			})
		})
		if want := 69 * (1 - i); err != nil || written != want {
			t.Errorf("request %d wrote %d elements, want %d: %v", i, written, want, err)
		}
	}
	p.mu.Lock()
	p.mapped = false // as after a restart
	p.mu.Unlock()
	err := p.session(t.Context(), p.shapeFor(1), func(_ *talk, file *sharedFile) error {
		if file.holds != "" {
			t.Errorf("the file still holds %q", file.holds)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestExpandSigns(t *testing.T) {
	bits := []uint64{0x8000000000000005, 0x12}
	for _, n := range []int{0, 1, 7, 64, 69} {
		got, want := bytes.Repeat([]byte{7}, n), make([]byte, n)
		for i := range want {
			if want[i] = 1; bits[i/64]>>(i%64)&1 == 1 {
				want[i] = 0xff
			}
		}
		if expand(got, bits); !bytes.Equal(got, want) {
			t.Errorf("%d signs: %v, want %v", n, got, want)
		}
		if expand(want, nil); !bytes.Equal(got, want) {
			t.Errorf("%d signs of x itself: %v", n, want)
		}
	}
}
