package engine

import (
	"bytes"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A vector is no answer to a survey, whatever its size, both before and after its device answered.
func TestVectorIsNoAnswer(t *testing.T) {
	c := newTestCore(t, chaintest.DensePlan(t, 2, "mu=auto"), 2)
	upload := func() wire.UploadState {
		t.Helper()
		data := make([]byte, 4*survey.Mu.Values())
		u := wire.Upload{N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1, Size: uint64(len(data)),
			Digest: wire.HashObject(data), Data: data}
		for _, o := range c.Step(1, Input{Kind: InUpload, ID: "d0", Token: "t", Frame: u.Append(nil)}) {
			if o.Kind == OutRespond {
				r, err := wire.DecodeUploadReply(o.Frame)
				if err != nil {
					t.Fatal(err)
				}
				return r.State
			}
		}
		t.Fatal("an upload is not answered")
		return 0
	}
	if got := upload(); got != wire.UploadRefused || c.counters.WrongSurvey != 1 {
		t.Errorf("a vector in a survey: state %v, counters %+v", got, c.counters)
	}
	r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Weight: 1,
		Rest: survey.Answer(survey.Mu)}
	r.Values = wire.AppendScalars(nil, make([]float32, survey.Mu.Values())...)
	c.Step(1, Input{Kind: InReply, ID: "d0", Frame: r.Append(nil)})
	if got := upload(); got != wire.UploadRefused || c.counters.Contributions != 1 {
		t.Errorf("a vector after an answer: state %v, counters %+v", got, c.counters)
	}
}

// TestSurveysAreNotBounded: bounds on contributions change no answer to a survey, and the usual
// length of contributions does not include answers.
func TestSurveysAreNotBounded(t *testing.T) {
	const devices = 3
	play := func(fields ...string) (records [][]byte) {
		plan := methodPlan(t, append([]string{"mu=auto", "weights=samples"}, fields...), devices)
		c := newTestCore(t, plan, devices)
		for record := range 3 {
			for d := range devices {
				r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Loss: 1,
					Weight: 10, Values: wire.AppendScalars(nil, 4, 5, 6)}
				if record == 0 {
					r.Rest, r.Values = survey.Answer(survey.Mu), answerOf(d)
				}
				c.Step(1, Input{Kind: InReply, ID: ids(devices)[d], Frame: r.Append(nil)})
			}
			if c.phase() != appending {
				t.Fatalf("%v: record %d did not close: %+v", fields, c.N+1, c.counters)
			}
			r, err := wire.DecodeRecord(c.next.frame)
			if err != nil {
				t.Fatal(err)
			}
			r.Prev = wire.Hash{} // record 1 differs
			records = append(records, r.Append(nil))
			c.Step(1, Input{Kind: InAppended, N: c.N + 1})
		}
		return records
	}
	free, bound := play(), play("bound=1.5", "claim_bound=2")
	for i := range free {
		if !bytes.Equal(free[i], bound[i]) {
			t.Errorf("record %d is %x, and without bounds %x", i+2, bound[i], free[i])
		}
	}
}

// answerOf returns a device's answer to a survey of mu. The devices' slopes differ a thousandfold.
func answerOf(device int) wire.Scalars {
	slope := []float32{1, 1000, 1e6}[device]
	values := []float32{3}
	for _, mu := range survey.Distances() {
		values = append(values, slope*mu)
	}
	for _, mu := range survey.Distances() {
		values = append(values, slope*mu*mu)
	}
	return wire.AppendScalars(nil, values...)
}

// TestPausesInVain: a run whose losses of 16 bits are too coarse for any mu pauses after the survey
// with the remedy, also for the next coordinator, and goes on when it is resumed. Where noise is as
// large but no rounding, it goes on by itself.
func TestPausesInVain(t *testing.T) {
	for _, unit := range []float32{0x1p-7, 0x1.03p-7} {
		c := newTestCore(t, methodPlan(t, []string{"mu=auto"}, 1), 1)
		r := wire.Reply{Kind: wire.Contribution, N: c.N + 1, Tip: c.Hash.Tip(), Loss: 1, Weight: 10,
			Rest: survey.Answer(survey.Mu), Values: noisyAnswer(unit)}
		c.Step(1, Input{Kind: InReply, ID: "d0", Frame: r.Append(nil)})
		c.Step(1, Input{Kind: InAppended, N: c.N + 1})
		coarse := unit == 0x1p-7
		if c.Plan.Mu == 0 || (c.halt.Pause != nil) != coarse {
			t.Fatalf("unit %g: mu %g, pause %+v", unit, c.Plan.Mu, c.halt.Pause)
		}
		if coarse && !strings.Contains(c.halt.Pause.Reason, "in float32") {
			t.Errorf("the reason is %q", c.halt.Pause.Reason)
		}
		if c.Step(2, Input{Kind: InResume}); c.halt.Pause != nil || !c.round.open {
			t.Errorf("unit %g: resumed: pause %+v, open %v", unit, c.halt.Pause, c.round.open)
		}
	}
}

// noisyAnswer answers a survey of mu by losses that are multiples of a unit, and noise.
func noisyAnswer(unit float32) wire.Scalars {
	odd, even := []float32{1, 0, 1, 2, 0, 1, 1, 0, 2}, []float32{4, 5, 4, 3, 5, 4, 4, 5, 3}
	values := []float32{150 * unit}
	for _, parts := range [][]float32{odd, even} {
		for _, p := range parts {
			values = append(values, p*unit)
		}
	}
	return wire.AppendScalars(nil, values...)
}
