package client_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// failing are the ways in which a loss can fail.
var failing = map[string]func() (float64, error){
	"error": func() (float64, error) { return 0, errors.New("no sensor") },
	"panic": func() (float64, error) { panic("no sensor") },
	"exit":  func() (float64, error) { runtime.Goexit(); return 0, nil },
}

// A loss that always fails ends Run at the second failure, and the coordinator has heard of both. A
// device that is not strict goes on.
func TestStrict(t *testing.T) {
	for name, fails := range failing {
		for _, lenient := range []bool{false, true} {
			bubble(t, func(t *testing.T) {
				h, o := newHost(t, testPlan(small)), newMoody(t)
				o.mood = func(context.Context, []float32) (float64, error) { return fails() }
				d := h.device("d0", o, func(c *client.Config) { c.NotStrict = lenient })
				h.announce()
				h.declines(wire.DeclineLoss)
				h.commit()
				h.announce()
				h.declines(wire.DeclineLoss)
				if lenient {
					h.commit()
					o.mood = nil
					h.round()
					h.announce()
					h.agrees(d, h.last())
					return
				}
				err := d.result()
				if !errors.Is(err, client.ErrLoss) || !strings.Contains(err.Error(), "not strict") ||
					name == "error" && !strings.Contains(err.Error(), "no sensor") {
					t.Errorf("%s: %v, want %v", name, err, client.ErrLoss)
				}
				// The app may have mended the loss meanwhile: the first failure does not count any more.
				h.commit()
				d.run()
				h.announce()
				h.declines(wire.DeclineLoss)
				h.commit()
				o.mood = nil
				h.round()
				h.announce()
				h.agrees(d, h.last())
			})
		}
	}
}

// A loss that does not answer in time has not failed: the next round may be longer.
func TestStrictWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		o.mood = func(ctx context.Context, _ []float32) (float64, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}
		d := h.device("d0", o)
		h.announce()
		pass(30 * time.Second)
		for range 2 {
			h.declines(wire.DeclineTime)
			h.commit()
			h.announce()
		}
		d.stop()
	})
}

// A loss that has worked once may fail as often as it likes: also in another Run, and in another
// process with the same store.
func TestStrictOnlyAtFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o, s := newHost(t, testPlan(small)), newMoody(t), newStore(t)
		d := h.device("d0", o, with(s))
		h.round()
		fail := func() {
			o.mood = func(context.Context, []float32) (float64, error) { return failing["error"]() }
			for range 2 {
				h.announce()
				h.declines(wire.DeclineLoss)
				h.commit()
			}
			o.mood = nil
			h.round()
		}
		fail()
		d.stop()
		d.run()
		fail()
		s = d.killed(s)
		d = h.device("d0", o, with(s))
		fail()
		d.stop()
	})
}

// A loss that works at one point, or that is not finite, does not always fail.
func TestStrictKnowsPoints(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		calls := 0
		moods := []func(context.Context, []float32) (float64, error){
			func(context.Context, []float32) (float64, error) {
				if calls++; calls%2 == 0 { // the second point of each pair
					return 0, errors.New("out of range")
				}
				return 1, nil
			},
			func(context.Context, []float32) (float64, error) { return math.NaN(), nil },
		}
		for _, o.mood = range moods {
			d := h.device("d0", o)
			for range 2 {
				calls = 0
				h.announce()
				h.declines(wire.DeclineLoss)
				h.commit()
			}
			d.stop()
		}
	})
}

// A survey counts as the first round. It asks for the model, and for points far from it, where a
// loss may fail. A loss that works at the model alone fails in every round.
func TestStrictSurvey(t *testing.T) {
	again := func(a *wire.Announcement) { a.Attempt++ }
	for _, works := range []int{0, 1, 2} { // calls of a survey, of which the first is at the model
		bubble(t, func(t *testing.T) {
			p := testPlan(small)
			p.MuAuto, p.Mu = 1, 0
			h, o := newHost(t, p), newMoody(t)
			calls := 0
			o.mood = func(context.Context, []float32) (float64, error) {
				if calls++; calls <= works {
					return 1, nil
				}
				return 0, errors.New("out of range")
			}
			d := h.device("d0", o)
			h.announce(asking(survey.Mu))
			if works == 2 {
				h.one(wire.Contribution)
				d.stop()
				return
			}
			h.declines(wire.DeclineLoss)
			calls = 0
			h.announce(asking(survey.Mu), again)
			h.declines(wire.DeclineLoss)
			if err := d.result(); !errors.Is(err, client.ErrLoss) {
				t.Errorf("%v, want %v", err, client.ErrLoss)
			}
		})
	}
}
