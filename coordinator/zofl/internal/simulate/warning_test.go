package simulate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// led makes the runs of a configuration, and leads them to their ends.
func led(t *testing.T, c *Config) []*Run {
	t.Helper()
	runs, err := Runs(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := Lead(t.Context(), c, runs); err != nil {
		t.Fatal(err)
	}
	return runs
}

// A contrary bowl has the gradient of minus its loss.
type contrary struct{ bowl }

func (c contrary) Gradient(ctx context.Context, x []float32, b objective.Batch, g []float32) (
	float64, error) {
	for i, v := range x {
		g[i] = -2 * (v - 1) / float32(len(x))
	}
	return c.Loss(ctx, x, b)
}

// TestFound: each run has the values that its devices found and the reasons, in its line of JSON
// too. A run without such values has none.
func TestFound(t *testing.T) {
	for _, auto := range []uint8{0, 1} {
		var out bytes.Buffer
		p := bowlPlan(t)
		if p.MuAuto = auto; auto > 0 {
			p.Mu = 0
		}
		runs := led(t, &Config{Plan: p, Seeds: []uint64{1, 2}, Devices: bowls,
			Sinks: []Sink{NewLines(&out)}})
		for _, r := range runs {
			found := r.Outcome.Found
			if len(found) != int(auto) || auto > 0 && (found[0].Of != "mu" || found[0].Value == 0 ||
				found[0].Value != r.Rows[0].Mu || found[0].Why == "") {
				t.Errorf("mu_auto %d: %+v", auto, found)
			}
		}
		if n := strings.Count(out.String(), `"found":[{"of":"mu","value":`); n != 2*int(auto) {
			t.Errorf("mu_auto %d: %d lines say it: %s", auto, n, out.String())
		}
	}
}

// TestGradientIsCompared: the first run warns of a wrong gradient, unless Checked is set.
func TestGradientIsCompared(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		var out bytes.Buffer
		c := &Config{Plan: bowlPlan(t), Seeds: []uint64{1, 2}, Sinks: []Sink{NewLines(&out)},
			Checked: elsewhere,
			Devices: func(p *plan.Plan, seed uint64) ([]objective.Objective, error) {
				list, err := bowls(p, seed)
				for i := range list {
					list[i] = contrary{bowl{int(p.Dim)}}
				}
				return list, err
			}}
		runs := led(t, c)
		const said = "device d0: where its gradient says that the loss rises by"
		first, second := runs[0].Outcome.Warning, runs[1].Outcome.Warning
		if strings.Contains(first, said) == elsewhere || strings.Contains(second, said) ||
			strings.Contains(out.String(), said) == elsewhere {
			t.Errorf("elsewhere %v: %q, %q: %s", elsewhere, first, second, out.String())
		}
	}
}

// A blind bowl cannot evaluate metrics.
type blind struct{ bowl }

func (blind) Evaluate(context.Context, []float32) ([]float64, int, error) {
	return []float64{0, 0}, 0, nil
}

// TestBlindDeviceIsNamed: evaluations leave out a device that cannot evaluate, and the warning
// names it.
func TestBlindDeviceIsNamed(t *testing.T) {
	p := bowlPlan(t)
	p.EvalCount = 4
	var out bytes.Buffer
	c := &Config{Plan: p, Seeds: []uint64{1}, Sinks: []Sink{NewLines(&out)},
		Devices: func(p *plan.Plan, seed uint64) ([]objective.Objective, error) {
			list, err := bowls(p, seed)
			list[1] = blind{bowl{int(p.Dim)}}
			return list, err
		}}
	o := led(t, c)[0].Outcome
	if o.Err != nil || o.Metrics["loss"] == 0 ||
		!strings.Contains(o.Warning, "1 of 4 devices were left out of an evaluation (d1): ") {
		t.Errorf("%v, metrics %v, warning %q", o.Err, o.Metrics, o.Warning)
	}
}

// TestWorse: a run warns if it ends with a higher loss than it began with, and not otherwise.
func TestWorse(t *testing.T) {
	for _, worse := range []bool{false, true} {
		c := &Config{Plan: bowlPlan(t), Checked: true, Seeds: []uint64{1},
			Sinks: []Sink{NewLines(io.Discard)},
			Devices: func(p *plan.Plan, seed uint64) ([]objective.Objective, error) {
				list, err := bowls(p, seed)
				for i := range list {
					if worse { // whose gradient points the wrong way
						list[i] = contrary{bowl{int(p.Dim)}}
					}
				}
				return list, err
			}}
		o := led(t, c)[0].Outcome
		if o.Err != nil || strings.Contains(o.Warning, "ended worse than it began") != worse {
			t.Errorf("worse %v: %v, loss %v from %v, warning %q", worse, o.Err, o.Loss, o.First, o.Warning)
		}
	}
}

// A broken bowl has no loss.
type broken struct{ bowl }

func (broken) Loss(context.Context, []float32, objective.Batch) (float64, error) {
	return 0, errors.New("no sensor")
}

// TestBrokenDeviceIsNamed: a run that comes to its end without one of its devices warns which
// device, and why. A run without a quorum ends with the reason.
func TestBrokenDeviceIsNamed(t *testing.T) {
	p := bowlPlan(t)
	for quorum, says := range map[uint32]string{3: "1 of 4 devices took no part", 4: ""} {
		p.Quorum = quorum
		var out bytes.Buffer
		c := &Config{Plan: p, Seeds: []uint64{1}, Sinks: []Sink{NewLines(&out)},
			Devices: func(p *plan.Plan, seed uint64) ([]objective.Objective, error) {
				list, err := bowls(p, seed)
				list[2] = broken{bowl{int(p.Dim)}}
				return list, err
			}}
		runs := led(t, c)
		o := runs[0].Outcome
		if text := o.Warning; (says == "") != (text == "") || !strings.Contains(text, says) {
			t.Errorf("quorum %d: warning %q", quorum, text)
		}
		if says != "" && (o.Err != nil || !strings.Contains(o.Warning, "(d2): ") ||
			!strings.Contains(out.String(), "no sensor")) {
			t.Errorf("quorum %d: %v, %q: %s", quorum, o.Err, o.Warning, out.String())
		}
		if says == "" && (o.Ended != "paused" || !strings.Contains(o.Err.Error(), "no sensor")) {
			t.Errorf("quorum %d: ended %q: %v", quorum, o.Ended, o.Err)
		}
	}
}
