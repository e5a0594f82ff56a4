package mobile

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"github.com/zofl/zofl/client/objective"
)

// An evaluator is a function that implements Evaluator.
type evaluator func(*Evaluation) error

func (f evaluator) Evaluate(e *Evaluation) error { return f(e) }

// evaluating is a device with an evaluator.
func evaluating(f evaluator) evaluatorAdapter {
	return evaluatorAdapter{&device{callbacks: &callbacks{evaluator: f}}}
}

// Package client gets exactly the interfaces that the app set: always a policy and samples,
// streaming in block mode, and an evaluator if the app has one.
func TestObjectives(t *testing.T) {
	for name, tt := range map[string]struct {
		set                func(*Config)
		streams, evaluates bool
	}{
		"simple":               {func(c *Config) {}, false, false},
		"simple, an evaluator": {func(c *Config) { c.SetEvaluator(evaluator(nil)) }, false, true},
		"blocks":               {func(c *Config) { c.SetBlockObjective(blockBowl{}) }, true, false},
		"blocks, an evaluator": {func(c *Config) {
			c.SetBlockObjective(blockBowl{})
			c.SetEvaluator(evaluator(nil))
		}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			cfg.Samples = 7
			tt.set(cfg)
			o := made(t, cfg).device.objective()
			if _, ok := o.(objective.Streaming); ok != tt.streams {
				t.Errorf("streaming: %v, want %v", ok, tt.streams)
			}
			if _, ok := o.(objective.Evaluator); ok != tt.evaluates {
				t.Errorf("evaluates: %v, want %v", ok, tt.evaluates)
			}
			if p, ok := o.(objective.Policy); !ok || !p.MayWork(objective.Work{}) {
				t.Error("the objective has no policy that lets it work")
			}
			if s, ok := o.(objective.Sampler); !ok || s.Samples() != 7 || o.Dim() != 10 {
				t.Error("the objective has another number of samples or parameters than the Config")
			}
		})
	}
	if n := (&device{}).Samples(); n > 0 {
		t.Errorf("0 samples count as %d told, want none", n)
	}
}

// A loss in simple mode gets the bytes of the parameters. After release the client does not call
// the loss.
func TestSimpleLoss(t *testing.T) {
	cfg := config()
	got := []byte{}
	cfg.SetObjective(lossFunc(func(params []byte) (float64, error) {
		got = bytes.Clone(params)
		return 1.5, nil
	}))
	c := made(t, cfg)
	o, x := c.device.objective().(objective.Flat), numbers(10)
	if f, err := o.Loss(t.Context(), x, objective.Batch{}); f != 1.5 || err != nil ||
		!bytes.Equal(got, littleEndianOf(x)) {
		t.Errorf("%v, %v, %x", f, err, got)
	}
	c.Stop()
	if _, err := o.Loss(t.Context(), x, objective.Batch{}); err != errReleased {
		t.Errorf("after Stop: %v", err)
	}
}

type lossFunc func([]byte) (float64, error)

func (f lossFunc) Loss(params []byte) (float64, error) { return f(params) }

// A Round has the batch of package client, and ends with its context.
func TestRound(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := &Round{ctx: ctx, batch: objective.Batch{N: 5, Step: 2, Size: 32, Seed: math.MaxUint64}}
	if r.Record() != 5 || r.Step() != 2 || r.BatchSize() != 32 ||
		r.BatchSeed() != -1 || r.Cancelled() {
		t.Errorf("record %d, step %d, size %d, seed %d, cancelled %v",
			r.Record(), r.Step(), r.BatchSize(), r.BatchSeed(), r.Cancelled())
	}
	cancel()
	if !r.Cancelled() {
		t.Error("the round is over but not cancelled")
	}
}

// An Evaluation gives the model and accepts metrics only during its call.
func TestEvaluation(t *testing.T) {
	x := numbers(10)
	var stale *Evaluation
	dst := make([]byte, 12)
	v := evaluating(func(e *Evaluation) error {
		stale = e
		if e.Dim() != 10 || e.Cancelled() {
			t.Errorf("dim %d, cancelled %v", e.Dim(), e.Cancelled())
		}
		if n, err := e.ReadParams(8, dst); n != 2 || err != nil ||
			!bytes.Equal(dst[:8], littleEndianOf(x[8:])) {
			t.Errorf("read %d, %v", n, err)
		}
		if got := e.Block(8, 3); !bytes.Equal(got, littleEndianOf(x[8:])) {
			t.Errorf("a block has %x", got)
		}
		for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
			hasCode(t, "AddMetric", e.AddMetric(bad), CodeConfig)
		}
		hasCode(t, "SetSamples", e.SetSamples(0), CodeConfig)
		return errors.Join(e.AddMetric(0.5), e.AddMetric(-2), e.SetSamples(100))
	})
	values, samples, err := v.Evaluate(t.Context(), x)
	if len(values) != 2 || values[0] != 0.5 || values[1] != -2 || samples != 100 || err != nil {
		t.Errorf("%v of %d samples, %v", values, samples, err)
	}
	_, err = stale.ReadParams(0, dst)
	hasCode(t, "ReadParams after it", err, CodeRevoked)
	hasCode(t, "AddMetric after it", stale.AddMetric(1), CodeRevoked)
	hasCode(t, "SetSamples after it", stale.SetSamples(1), CodeRevoked)
	if stale.Dim() != 0 || stale.Block(0, 1) != nil {
		t.Errorf("dim %d after it, a block %x", stale.Dim(), stale.Block(0, 1))
	}
	v.device.release()
	if _, _, err := v.Evaluate(t.Context(), x); err != errReleased {
		t.Errorf("after Stop: %v", err)
	}
}

// A panic of an evaluator also ends access to the parameters, because package client continues to
// use their memory.
func TestEvaluationPanics(t *testing.T) {
	var stale *Evaluation
	v := evaluating(func(e *Evaluation) error {
		stale = e
		panic("oh")
	})
	func() {
		defer func() { recover() }()
		v.Evaluate(t.Context(), numbers(10))
	}()
	_, err := stale.ReadParams(0, make([]byte, 4))
	hasCode(t, "ReadParams after it", err, CodeRevoked)
}
