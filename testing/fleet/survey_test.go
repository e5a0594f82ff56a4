package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/testing/bowl"
	"github.com/zofl/zofl/wire/survey"
)

// A surveyRun is a private run over a broker whose devices find values of its plan. A fifth of the
// devices lie in surveys.
type surveyRun struct {
	*lead
	plan    *plan.Plan
	devices sync.WaitGroup
	clients []*client.Client
	asked   chan struct{} // closed when device 0 is asked by the survey that is to be interrupted
	release chan struct{} // closed when device 0 may answer
}

const (
	surveyDim     = 20
	surveyDevices = 5
)

// A surveyedDevice is a device with the loss of package bowl. Device 0 delays its answer to a
// survey, and the last device lies.
type surveyedDevice struct {
	run  *surveyRun
	i    int
	once sync.Once
}

func (o *surveyedDevice) Dim() int { return surveyDim }

func (o *surveyedDevice) Loss(ctx context.Context, x []float32, b objective.Batch) (float64,
	error) {
	f, err := bowl.Of(o.i)(ctx, x, b)
	if b.Step != survey.BatchStep {
		return f, err
	}
	switch o.i {
	case 0:
		if o.run.plan.StepAuto > 0 && b.N < 6 {
			return f, err // the survey of mu
		}
		o.once.Do(func() {
			close(o.run.asked)
			<-o.run.release
		})
	case surveyDevices - 1:
		return f * f * math.Copysign(1e20, float64(x[0])), nil
	}
	return f, err
}

func startSurveyRun(t *testing.T, settings ...string) *surveyRun {
	t.Helper()
	p := testPlan(t, "survey", surveyDim, surveyDevices, 40)
	p.RunKey, p.KeyCheck, p.Quorum = nil, plan.KeyCheck(secret), surveyDevices-1
	p.Reannounce = 250
	for i := 0; i < len(settings); i += 2 {
		if err := planfile.Set(p, settings[i], settings[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	r := &surveyRun{lead: startLead(t, p, broker.Config{}), plan: p,
		asked: make(chan struct{}), release: make(chan struct{})}
	for i := range surveyDevices {
		r.join(i)
	}
	return r
}

// join starts device i.
func (r *surveyRun) join(i int) {
	r.t.Helper()
	id := fmt.Sprint("d", i)
	c, err := client.New(client.Config{Conn: r.connect(id), Run: "survey", ID: id, RunKey: secret,
		Objective: &surveyedDevice{run: r, i: i}})
	if err != nil {
		r.t.Fatal(err)
	}
	r.clients = append(r.clients, c)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r.t.Cleanup(func() { cancel(); r.devices.Wait() })
	r.devices.Go(func() {
		if err := c.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			r.t.Errorf("device %d: %v", i, err)
		}
	})
}

// replaceCoordinator ends the coordinator at a random moment of its work, and starts another
// coordinator on the same log.
func (r *surveyRun) replaceCoordinator() {
	r.t.Helper()
	r.finish()
	r.err = nil
	var err error
	r.c, err = coordinator.New(r.t.Context(), coordinator.Config{
		Conn: r.connect("coordinator"), Log: r.log, Linger: patience,
		Recorder: report.RecorderFunc(func(e report.Event) error {
			r.events <- e
			return nil
		}),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r.t.Cleanup(cancel)
	ctx, r.stop = context.WithCancelCause(ctx)
	r.ended.Go(func() { r.err = r.c.Run(ctx) })
}

// over waits for the end of the run, and returns the losses of its rounds.
func (r *surveyRun) over() (losses []float32) {
	r.t.Helper()
	r.await("end", func(e report.Event) bool {
		if e.Kind == report.RoundDone {
			losses = append(losses, e.Loss)
		}
		return e.Kind == report.RunEnded
	})
	r.devices.Wait()
	r.agree("survey", r.clients)
	return losses
}

// TestSurveyOfMu checks that devices of a private run find mu before round 1. One device lies, and
// the test replaces the coordinator after half of the devices have answered. A device that joins
// later has the same mu.
func TestSurveyOfMu(t *testing.T) {
	r := startSurveyRun(t, "mu", "auto")
	<-r.asked
	r.replaceCoordinator()
	close(r.release)
	e := r.awaitKind(report.Surveyed)
	if e.N != 2 || e.Survey.Kind != "mu" || e.Survey.Answers < surveyDevices-1 ||
		len(e.Survey.Rows) != 9 || e.Survey.Value < 1e-4 || e.Survey.Value > 1 {
		t.Errorf("survey %+v, want mu between 1e-4 and 1", e)
	}
	r.awaitRounds(3)
	r.join(surveyDevices)
	if losses := r.over(); losses[len(losses)-1] > 0.9*losses[0] {
		t.Errorf("losses %v, want them to fall", losses)
	}
	if c := r.c.Status().Counters; c.WrongSurvey+c.Malformed+c.NonFinite > 0 {
		t.Errorf("counters %+v, want no answer refused", c)
	}
}

// TestSurveyOfStep checks that a private run finds mu, and after five rounds its step size. A
// device lies in both surveys, and the test replaces the coordinator in the middle of the second
// survey. The model trains with that step size, also on devices that join later.
func TestSurveyOfStep(t *testing.T) {
	r := startSurveyRun(t, "server_rule", "normalized", "server_beta1", "0.9", "server_beta2", "0.99",
		"step", "auto", "mu", "auto", "sharing", "per-client", "transport", "relay")
	var steps []float32
	if e := r.awaitKind(report.Surveyed); e.N != 2 || e.Survey.Kind != "mu" {
		t.Errorf("survey %+v, want one of mu first", e)
	}
	for len(steps) < 5 {
		steps = append(steps, r.awaitKind(report.RoundDone).RoundStep)
	}
	<-r.asked
	r.replaceCoordinator()
	close(r.release)
	e := r.awaitKind(report.Surveyed)
	if e.N != 8 || e.Survey.Kind != "step" || e.Survey.Answers < surveyDevices-1 ||
		len(e.Survey.Rows) != 16 || e.Survey.Value < 0.05 || e.Survey.Value > 20 {
		t.Errorf("survey %+v, want a step between 0.05 and 20", e)
	}
	r.join(surveyDevices)
	var losses []float32
	for len(losses) < 30 {
		e := r.awaitKind(report.RoundDone)
		steps, losses = append(steps, e.RoundStep), append(losses, e.Loss)
	}
	r.over()
	if slices.Max(steps[:5]) > 0 || slices.Min(steps[5:]) <= 0 ||
		losses[len(losses)-1] > 0.8*losses[0] {
		t.Errorf("steps %v, losses %v: want 0 for five rounds, and then losses that fall", steps,
			losses)
	}
	if c := r.c.Status().Counters; c.WrongSurvey+c.Malformed+c.NonFinite > 0 {
		t.Errorf("counters %+v, want no answer refused", c)
	}
}
