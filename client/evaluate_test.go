package client_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// evaluated edits a plan so that two devices evaluate after every third record, and all devices
// report digests after every second record.
func evaluated(p *plan.Plan) *plan.Plan {
	p.EvalEvery, p.EvalCount, p.Metrics, p.DigestEvery = 3, 2, []string{"loss", "accuracy"}, 2
	return p
}

// by returns the replies of a kind, each under its device.
func by(replies []reply, kind wire.ReplyKind) map[string]reply {
	from := map[string]reply{}
	for _, r := range replies {
		if r.Kind == kind {
			from[r.id] = r
		}
	}
	return from
}

// Devices drawn for evaluation send metrics, and devices in the cohort send digests, each once a
// record. Metrics and digests name the state to which they belong.
func TestStateReports(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const devices = 5
		p := evaluated(testPlan(small))
		h := newHost(t, p)
		for i := range devices {
			o := newMoody(t)
			o.metrics = func(_ context.Context, x []float32) ([]float64, int, error) {
				return []float64{float64(x[0]), float64(i)}, 10 + i, nil
			}
			h.device(string(rune('a'+i)), o)
		}
		cohort := wire.Cohort{Sampled: 3, Members: devices}
		for range 12 {
			n := h.last()
			var replies []reply
			for range 2 { // the second time is a repetition
				h.announce(func(a *wire.Announcement) { a.Cohort = cohort })
				again := h.take()
				replies = append(replies, again...)
			}
			metrics, digests := by(replies, wire.Evaluation), by(replies, wire.DigestReport)
			if want := len(replies) - 2*int(cohort.Sampled); len(metrics)+len(digests) != want {
				t.Errorf("record %d: got %d reports of %d devices, want one each",
					n, want, len(metrics)+len(digests))
			}
			w := h.witness(n)
			x, digest := w.Params(), w.Digest()
			for id, slot := range h.slots {
				m, evaluates := metrics[id]
				if want := n%3 == 0 && cohort.Evaluates(runName, n, 2, slot,
					id); evaluates != want {
					t.Errorf("record %d: %s evaluates: %v, want %v", n, id, evaluates, want)
				}
				if evaluates && (m.N != n || m.Tip != w.Hash().Tip() ||
					m.Weight != 10+uint32(id[0]-'a') ||
					m.Values.Len() != 2 || m.Values.At(0) != x[0] ||
					m.Values.At(1) != float32(id[0]-'a')) {
					t.Errorf("record %d: %s sent %+v", n, id, m.Reply)
				}
				d, digested := digests[id]
				if want := n%2 == 0 && cohort.Has(runName, n+1, 0, slot, id); digested != want {
					t.Errorf("record %d: %s reports a digest: %v, want %v", n, id, digested, want)
				}
				if digested && (d.N != n || d.Tip != w.Hash().Tip() ||
					!slices.Equal(d.Digest[:], digest[:8])) {
					t.Errorf("record %d: %s sent %+v, want digest %x", n, id, d.Reply, digest[:8])
				}
			}
			h.commit()
		}
	})
}

// If an announcement asks for a contribution, the device sends the contribution before it
// evaluates.
func TestEvaluationComesLast(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := evaluated(testPlan(small))
		p.EvalEvery, p.DigestEvery = 1, 1
		h, o := newHost(t, p), newMoody(t)
		o.metrics = func(context.Context, []float32) ([]float64, int, error) {
			return []float64{1, 2}, 3, nil
		}
		h.device("d0", o)
		h.announce()
		var order []wire.ReplyKind
		for _, r := range h.take() {
			order = append(order, r.Kind)
		}
		if want := []wire.ReplyKind{wire.Contribution, wire.DigestReport,
			wire.Evaluation}; !slices.Equal(order, want) {
			t.Errorf("got %v, want %v", order, want)
		}
	})
}

// A device reports a fault of an evaluator to the app. The fault has no other effect.
func TestFaultyEvaluator(t *testing.T) {
	tests := []struct {
		name    string
		metrics func(context.Context, []float32) ([]float64, int, error)
		says    string
	}{
		{"too few values", func(context.Context, []float32) ([]float64, int, error) {
			return []float64{1}, 1, nil
		}, "1 values and 1 samples"},
		{"too many values", func(context.Context, []float32) ([]float64, int, error) {
			return make([]float64, 3), 1, nil
		}, "3 values"},
		{"no samples", func(context.Context, []float32) ([]float64, int, error) {
			return make([]float64, 2), 0, nil
		}, "and 0 samples"},
		{"NaN", func(context.Context, []float32) ([]float64, int, error) {
			return []float64{0, math.NaN()}, 1, nil
		}, "accuracy is NaN"},
		{"error", func(context.Context, []float32) ([]float64, int, error) {
			return nil, 0, errors.New("no test set")
		}, "no test set"},
		{"panic", func(context.Context, []float32) ([]float64, int, error) {
			panic("index out of range")
		}, "index out of range"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := evaluated(testPlan(small))
				p.EvalEvery, p.DigestEvery = 1, 0
				h, o := newHost(t, p), newMoody(t)
				d := h.device("d0", o)
				o.metrics = tt.metrics
				h.announce()
				h.one(wire.Contribution)
				if p := d.now(); p.Err == nil || !strings.Contains(p.Err.Error(), tt.says) {
					t.Errorf("progress %+v, want an error that says %q", p, tt.says)
				}
				calls := o.calls.Load()
				h.announce()
				h.one(wire.Contribution)
				if n := o.calls.Load(); n != calls {
					t.Errorf("%d callbacks for a repeated announcement", n-calls)
				}
				h.commit()
				o.metrics = func(context.Context, []float32) ([]float64, int, error) {
					return []float64{1, 2}, math.MaxInt, nil
				}
				h.announce()
				if m := by(h.take(), wire.Evaluation)["d0"]; m.Weight != plan.MaxWeight {
					t.Errorf("weight %d, want %d", m.Weight, plan.MaxWeight)
				}
				h.agrees(d, h.last())
			})
		})
	}
}

// A readingEvaluator reads the model piece by piece, and keeps the point.
type readingEvaluator struct {
	*moody
	model []float32
	point *objective.Point
}

func (r *readingEvaluator) EvaluateAt(
	_ context.Context, x *objective.Point,
) ([]float64, int, error) {
	defer r.enter()()
	r.model, r.point = make([]float32, x.Dim()), x
	for off := 0; off < x.Dim(); off += 10 {
		if err := x.Read(r.model[off:off+10], off); err != nil {
			return nil, 0, err
		}
	}
	return []float64{3, 4}, 5, nil
}

// An evaluator that reads gets the model as it is, and cannot read it later.
func TestReadingEvaluator(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := evaluated(testPlan(small))
		p.EvalEvery, p.DigestEvery = 1, 0
		h, o := newHost(t, p), &readingEvaluator{moody: newMoody(t)}
		o.metrics = func(context.Context, []float32) ([]float64, int, error) {
			t.Error("the client made a copy of the model")
			return nil, 0, nil
		}
		d := h.device("d0", o)
		h.announce()
		h.take()
		h.commit()
		h.announce()
		m := by(h.take(), wire.Evaluation)["d0"]
		if m.N != h.last() || m.Weight != 5 || !slices.Equal(o.model, d.params(small)) {
			t.Errorf("got %+v of %v, want metrics of record %d and its model", m.Reply, o.model, h.last())
		}
		if err := o.point.Read(o.model, 0); !errors.Is(err, objective.ErrRevoked) {
			t.Errorf("a read after the evaluation: %v, want %v", err, objective.ErrRevoked)
		}
	})
}

// A client gives up on a hanging evaluator after five minutes. Until it returns, the device is
// busy, and no evaluation begins.
func TestHangingEvaluator(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := evaluated(testPlan(small))
		p.EvalEvery, p.DigestEvery = 1, 0
		h, o := newHost(t, p), newMoody(t)
		d := h.device("d0", o)
		release := make(chan struct{})
		o.metrics = func(context.Context, []float32) ([]float64, int, error) {
			<-release
			return []float64{1, 2}, 1, nil
		}
		h.announce()
		h.one(wire.Contribution)
		h.commit()
		pass(5 * time.Minute)
		h.announce()
		pass(8 * time.Second)
		h.declines(wire.DeclineBusy)
		pass(5 * time.Second)
		h.commit()
		close(release)
		h.announce()
		if got := len(h.take()); got != 2 {
			t.Errorf("got %d replies, want a contribution and an evaluation", got)
		}
		h.agrees(d, h.last())
	})
}

// If a round asks a device during an evaluation, the evaluation ends when half of the round's time
// is left. An evaluation for which no round waits goes on.
func TestEvaluationMakesRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := evaluated(testPlan(small))
		p.EvalEvery, p.DigestEvery = 1, 0
		h, o := newHost(t, p), newMoody(t)
		d := h.device("d0", o)
		o.metrics = func(ctx context.Context, _ []float32) ([]float64, int, error) {
			<-ctx.Done()
			return nil, 0, ctx.Err()
		}
		h.announce()
		h.one(wire.Contribution)
		h.announce() // again: the reply is already sent
		pass(time.Minute)
		h.commit()
		h.announce(func(a *wire.Announcement) { a.Cohort.Sampled = 0 })
		pass(time.Minute)
		h.silent()
		d.progress()
		h.announce()
		pass(15*time.Second - 1)
		h.silent()
		pass(1)
		if r := h.one(wire.Contribution); r.N != h.last()+1 {
			t.Errorf("contributed to record %d, want %d", r.N, h.last()+1)
		}
		if reports := d.progress(); !slices.ContainsFunc(reports, func(p client.Progress) bool {
			return p.Err != nil && strings.Contains(p.Err.Error(), "a round asks this device")
		}) {
			t.Errorf("the recorder got %+v, want why the evaluation ended", reports)
		}
		h.agrees(d, h.last())
		d.stop()
	})
}

// Devices evaluate the final state whatever its index, and Run returns after that.
func TestFinalEvaluation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := evaluated(testPlan(small))
		p.EvalEvery = 100
		h, o := newHost(t, p), newMoody(t)
		d := h.device("d0", o)
		o.metrics = func(_ context.Context, x []float32) ([]float64, int, error) {
			return []float64{1, 2}, 3, nil
		}
		h.round()
		h.end()
		h.announce(func(a *wire.Announcement) { a.State = wire.Ended })
		if err := d.result(); err != nil {
			t.Errorf("Run returned %v", err)
		}
		if m := h.one(wire.Evaluation); m.N != h.last() || m.Weight != 3 {
			t.Errorf("got %+v, want metrics of record %d", m.Reply, h.last())
		}
	})
}

// While a run is paused, devices evaluate its state, and send no digest.
func TestEvaluationWhilePaused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := evaluated(testPlan(small))
		p.EvalEvery, p.DigestEvery = 1, 1
		h, o := newHost(t, p), newMoody(t)
		h.device("d0", o)
		o.metrics = func(context.Context, []float32) ([]float64, int, error) {
			return []float64{1, 2}, 3, nil
		}
		h.announce(func(a *wire.Announcement) { a.State = wire.Paused })
		h.one(wire.Evaluation)
		h.announce()
		if replies := h.take(); len(replies) != 2 || len(by(replies, wire.DigestReport)) != 1 {
			t.Errorf("got %s, want a contribution and a digest", kinds(replies))
		}
	})
}

// With an open roster, the evaluators are a share of the devices in the cohort.
func TestOpenRosterEvaluates(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := evaluated(testPlan(small))
		p.Roster, p.Target, p.EvalEvery, p.DigestEvery = plan.OpenRoster, 4, 1, 0
		h := newHost(t, p)
		for i := range 4 {
			o := newMoody(t)
			o.metrics = func(context.Context, []float32) ([]float64, int, error) {
				return []float64{1, 2}, 3, nil
			}
			h.device(string(rune('a'+i)), o)
		}
		for range 4 {
			h.announce()
			a := h.announcement()
			metrics := by(h.take(), wire.Evaluation)
			for id := range h.slots {
				_, got := metrics[id]
				if want := a.Cohort.Evaluates(runName, h.last(), a.Cohort.EvalShare(p), 0,
					id); got != want {
					t.Errorf("record %d: %s evaluates: %v, want %v", h.last(), id, got, want)
				}
			}
			h.commit()
		}
	})
}
