package lossprogram

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan/preset"
)

// says waits for a text in the log.
func says(t *testing.T, log *await.Text, text string) {
	t.Helper()
	if !log.Says(text) {
		t.Fatalf("the log does not say %q: %s", text, log)
	}
}

// config returns the Config of a program with the given behavior.
func config(t *testing.T, how string) (Config, *await.Text) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(asProgram, how)
	log := &await.Text{}
	return Config{Command: []string{self}, Patience: 100 * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(log, nil))}, log
}

func startTest(t *testing.T, how string) (*Program, *await.Text) {
	t.Helper()
	cfg, log := config(t, how)
	p, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, log
}

// ask asks for losses at five points.
func ask(ctx context.Context, p *Program) ([]float64, error) {
	var all [][]float32
	for i := range 5 {
		all = append(all, []float32{float32(i), 1, 2})
	}
	losses := make([]float64, len(all))
	b := objective.Batch{N: 3, Step: 1, Size: 8, Seed: 1 << 63}
	return losses, p.Objective("pi-1").LossesAt(ctx, objective.NewPoints(all...), b, losses)
}

// well waits until the program answers correctly.
func well(t *testing.T, p *Program) {
	t.Helper()
	var losses []float64
	await.That(t, "the program answers", func() (answers bool) {
		var err error
		losses, err = ask(t.Context(), p)
		return err == nil
	})
	if got := fmt.Sprint(losses); got != "[214 215 216 217 218]" {
		t.Fatalf("losses %s", got)
	}
}

// TestLosses: more points than the program takes at once go into several requests.
func TestLosses(t *testing.T) {
	p, log := startTest(t, "well")
	well(t, p)
	says(t, log, "computing pi-1")
	o := p.Objective("pi-1")
	if _, ok := o.(objective.Evaluator); ok || o.Dim() != testDim {
		t.Errorf("an evaluator %v, dim %d", ok, o.Dim())
	}
	if !o.(objective.Policy).MayWork(objective.Work{}) {
		t.Error("it may not work")
	}
}

// TestCheckGradient: the check compares a program's gradient with its losses.
func TestCheckGradient(t *testing.T) {
	plan, err := preset.New("decomfl", "r", testDim)
	if err != nil {
		t.Fatal(err)
	}
	for how, wrong := range map[string]bool{"evaluates": false, "contrary": true, "well": false} {
		p, _ := startTest(t, how)
		err := fleet.CheckGradient(t.Context(), plan, []objective.Objective{p.Objective("d0")},
			fleet.Options{})
		if errors.Is(err, fleet.ErrGradient) != wrong || err != nil && !wrong {
			t.Errorf("%s: %v", how, err)
		}
	}
}

func TestEvaluateAndGradient(t *testing.T) {
	p, _ := startTest(t, "evaluates")
	o := p.Objective("pi-1")
	if n := o.(objective.Sampler).Samples(); n != 11 {
		t.Errorf("%d samples, want 11", n)
	}
	m, samples, err := o.(objective.Evaluator).Evaluate(t.Context(), []float32{4, 1, 2})
	if err != nil || samples != 7 || fmt.Sprint(m) != "[4 0.5]" {
		t.Errorf("metrics %v of %d samples: %v", m, samples, err)
	}
	g := make([]float32, testDim)
	loss, err := o.(objective.Differentiable).Gradient(t.Context(), []float32{4, 1, 2},
		objective.Batch{}, g)
	if err != nil || loss != 2.5 || fmt.Sprint(g) != "[1 10 100]" {
		t.Errorf("loss %v, gradient %v: %v", loss, g, err)
	}
}

// TestLossesBeyondNumbers: a device accepts infinite losses and NaNs, in the spelling of any
// language. Far from the model a loss may be infinite, and only the client knows the distance.
func TestLossesBeyondNumbers(t *testing.T) {
	for word, want := range map[string]string{
		"nan": "NaN", "-nan": "NaN", "+NaN": "NaN", "inf": "+Inf", "-inf": "-Inf",
		"Infinity": "+Inf", "1e999": "+Inf", "-1e999": "-Inf",
	} {
		losses := []float64{0, 0}
		if err := lossesOf(losses, []string{word, "1.5"}); err != nil {
			t.Errorf("%s: %v", word, err)
		}
		if got := fmt.Sprint(losses); got != "["+want+" 1.5]" {
			t.Errorf("%s: %s, want %s and 1.5", word, got, want)
		}
	}
	for _, word := range []string{"", "none", "1.5x", "nanx", "--nan1"} {
		if err := lossesOf([]float64{0}, []string{word}); err == nil {
			t.Errorf("%q is taken for a loss", word)
		}
	}
	if err := metricsOf([]float64{0}, []string{"inf"}); err == nil ||
		!strings.Contains(err.Error(), "give a finite number") {
		t.Errorf("an infinite metric: %v", err)
	}
}

// TestWrongAnswers: a wrong answer makes the request fail with an error. If later answers could
// belong to other requests, the program restarts, and then works.
func TestWrongAnswers(t *testing.T) {
	for how, want := range map[string]string{
		"word":  "answered none as number 0 after loss: give a number",
		"short": "answered 0 numbers after loss, and was asked for 2",
		"half":  "the program ended", "cuts": "shorter: open it for update",
		"error": "the camera is off", "garbage": `answered "epoch 1 done": answer loss, or error`,
		"long": "over 1048576 bytes", "twice": `said "loss 2", unasked`, "dies": "exit status 7",
		"chats": `said "epoch 1 done", unasked`,
	} {
		t.Run(how, func(t *testing.T) {
			once := filepath.Join(t.TempDir(), "once")
			if err := os.WriteFile(once, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("ZOFL_TEST_ONCE", once)
			p, log := startTest(t, how)
			_, err := ask(t.Context(), p)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), want) { // a restart has the reason of a death
				says(t, log, strings.ReplaceAll(want, `"`, `\"`))
			}
			well(t, p)
		})
	}
}
