package fleet

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/testing/bowl"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
)

// A maskedLiar is the connection of a device that adds 2^30 to each masked word of its scalars, in
// records that lies picks. Nobody can see that under its mask.
type maskedLiar struct {
	bus.Bus
	lies func(n uint64) bool
}

func (b *maskedLiar) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	r, err := secagg.DecodeRequest(data)
	if err == nil && r.Step == secagg.StepMask && b.lies(r.N) {
		words := append([]byte(nil), r.Body...)
		for at := 0; at+8 <= len(words); at += 4 { // not the last word, which is the loss
			word := binary.LittleEndian.Uint32(words[at:])
			binary.LittleEndian.PutUint32(words[at:], word+1<<30)
		}
		r.Body = words
		data = r.Append(nil)
	}
	return b.Bus.Request(ctx, subject, data)
}

// TestMaskedLiar: one of seven devices adds 2^30 to each of its masked words, from round 30 on. No
// mean is longer than three times an earlier one, in place of 500 times. The loss falls on if the
// device lies in every fourth round. If it lies in each, nothing is learned, and the loss stays
// below twice what it was, in place of 250 times.
func TestMaskedLiar(t *testing.T) {
	for every, most := range map[uint64]float64{4: 0.9, 1: 2} {
		losses, lengths, cuts := maskedLie(t, every)
		usual := slices.Max(lengths[:30])
		if longest := slices.Max(lengths); longest > 3*usual || cuts < 100/every-2 {
			t.Errorf("one lie in %d rounds: a mean of length %v, honest ones up to %v; %d cuts", every,
				longest, usual, cuts)
		}
		if got := losses[len(losses)-1] / losses[30]; !(got < most) {
			t.Errorf("one lie in %d rounds: the loss went from %v to %v", every, losses[30],
				losses[len(losses)-1])
		}
	}
}

// maskedLie runs seven devices, of which one lies in one of so many rounds, with the bounds that a
// new plan has. It returns the loss and the length of the mean of each round, and the cuts.
func maskedLie(t *testing.T, every uint64) (losses, lengths []float64, cuts uint64) {
	t.Helper()
	p := longPlan(t, "masked", 7, 7)
	p.Secure, p.MaxScalar, p.Weights, p.MaxAttempts = 1, 1000, plan.Equal, 1
	p.EvalEvery, p.EvalCount, p.Metrics = 0, 0, nil
	preset.Guard(p, "quorum")
	l := startLead(t, p, broker.Config{})
	lies := func(n uint64) bool { return n > 30 && n%every == 0 }
	for i := range 7 {
		id := fmt.Sprint("d", i)
		cfg := client.Config{Bus: bus.NATS(l.connect(id)), Run: "masked", ID: id,
			Objective: objective.Func(10, bowl.Of(i))}
		if i == 3 {
			cfg.Bus = &maskedLiar{cfg.Bus, lies}
		}
		c, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		t.Cleanup(stop)
		go c.Run(ctx)
	}
	for range 130 {
		e := l.awaitKind(report.RoundDone)
		losses = append(losses, float64(e.Loss))
	}
	cuts = l.c.Status().Counters.Cut
	l.finish()
	err := l.log.Read(t.Context(), 2, func(_ uint64, record []byte) bool {
		r, err := wire.DecodeRecord(record)
		if err != nil || r.Round == nil {
			return err == nil
		}
		values := p.Precision.Read(r.Round.Terms[0].Scalars, int(p.Steps), int(r.Round.Perturbations))
		lengths = append(lengths, mathx.Norm(values)/math.Sqrt(float64(len(values))))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return losses, lengths, cuts
}
