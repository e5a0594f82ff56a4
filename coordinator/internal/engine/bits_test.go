package engine

import (
	"bytes"
	"math"
	"testing"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// bitsPlan returns a plan for two devices that send two blocks of five scalars in 4 bits.
func bitsPlan(t *testing.T, fields ...string) *plan.Plan {
	plan := methodPlan(t, append([]string{"sharing=per-client", "transport=relay",
		"precision=int4", "max_scalar=100", "steps=2", "perturbations=5"}, fields...), 2)
	plan.Perturbations = 5
	return plan
}

// bitsReply is a contribution to record 2.
func bitsReply(c *Core, scalars wire.Scalars) []byte {
	r := wire.Reply{Kind: wire.Contribution, N: 2, Tip: c.Hash.Tip(), Weight: 1, Loss: 1,
		Values: scalars}
	return r.Append(nil)
}

func bits(blocks ...[]float32) (s wire.Scalars) {
	for _, block := range blocks {
		s = plan.Int4.Append(s, block...)
	}
	return s
}

// TestBitsAreRelayedAsSent: the record has the bytes that devices sent, because encoding the
// decoded scalars again would give other bytes.
func TestBitsAreRelayedAsSent(t *testing.T) {
	c := newTestCore(t, bitsPlan(t), 2)
	sent := bits([]float32{1, -2, 3, 0.1, 0}, []float32{30, 20, -10, 5, 1e-3})
	zeros := bits(make([]float32, 5), make([]float32, 5))
	c.Step(1, Input{Kind: InReply, ID: "d1", Frame: bitsReply(c, sent)})
	c.Step(1, Input{Kind: InReply, ID: "d0", Frame: bitsReply(c, zeros)})
	r, err := wire.DecodeRecord(c.next.frame)
	if err != nil {
		t.Fatal(err)
	}
	again := bits(plan.Int4.Values(sent, 2, 5)[:5], plan.Int4.Values(sent, 2, 5)[5:])
	if bytes.Equal(again, sent) {
		t.Fatal("encoding twice changes nothing: choose other scalars")
	}
	for i, want := range []wire.Scalars{zeros, sent} {
		if got := r.Round.Terms[i].Scalars; !bytes.Equal(got, want) {
			t.Errorf("slot %d: %x, want %x", i, got, want)
		}
	}
}

// TestBitsAreClippedByTheirScale: clipping keeps the codes and changes the scale, and the bound
// holds.
func TestBitsAreClippedByTheirScale(t *testing.T) {
	const clip = 7
	c := newTestCore(t, bitsPlan(t, "aggregator=clipped-mean", "clip=7"), 2)
	long := bits([]float32{1, -2, 3, 0.1, 0}, []float32{30, 20, -10, 5, 1e-3})
	short := bits([]float32{1, -1, 1, 1, 0}, []float32{0, 2, -1, 0.5, 1e-3})
	c.Step(1, Input{Kind: InReply, ID: "d0", Frame: bitsReply(c, long)})
	c.Step(1, Input{Kind: InReply, ID: "d1", Frame: bitsReply(c, short)})
	r, err := wire.DecodeRecord(c.next.frame)
	if err != nil {
		t.Fatal(err)
	}
	got := r.Round.Terms[0].Scalars
	values, before := plan.Int4.Values(got, 2, 5), plan.Int4.Values(long, 2, 5)
	if norm := mathx.Norm(values); norm > clip || norm < 0.999*clip {
		t.Errorf("clipped to %v, want %v nearly", norm, clip)
	}
	factor := clip / mathx.Norm(before)
	for i, v := range values {
		if want := factor * float64(before[i]); math.Abs(float64(v)-want) > 1e-3*math.Abs(want) {
			t.Errorf("scalar %d: %v, want %v", i, v, want)
		}
	}
	if got := r.Round.Terms[1].Scalars; !bytes.Equal(got, short) {
		t.Errorf("what is short became %x, want %x", got, short)
	}
}

// TestHostileBits: the coordinator refuses and counts blocks that no honest device makes.
func TestHostileBits(t *testing.T) {
	good := bits([]float32{1, -2, 3, 0.1, 0}, []float32{30, 20, -10, 5, 1e-3})
	with := func(at int, b ...byte) wire.Scalars {
		s := bytes.Clone(good)
		copy(s[at:], b)
		return s
	}
	malformed := func(c *Core) uint64 { return c.counters.Malformed }
	tooLarge := func(c *Core) uint64 { return c.counters.TooLarge }
	wrongCount := func(c *Core) uint64 { return c.counters.WrongCount }
	for name, tt := range map[string]struct {
		sent    wire.Scalars
		counter func(c *Core) uint64
	}{
		"an infinite scale":     {with(0, 0, 0x7c), malformed},
		"a scale that is none":  {with(6, 1, 0x7e), malformed},
		"a negative scale":      {with(7, 0xb0), malformed},
		"a scale of -0":         {with(6, 0, 0x80), malformed},
		"codes without a scale": {with(6, 0, 0), malformed},
		"unused bits":           {with(5, 0x10), malformed},
		"a scalar too large":    {with(6, 0, 0x60), tooLarge},
		"one block":             {good[:6], wrongCount},
		"three blocks":          {append(with(0), good[:6]...), wrongCount},
		"halves":                {make(wire.Scalars, 20), wrongCount},
		"nothing":               {nil, wrongCount},
	} {
		c := newTestCore(t, bitsPlan(t), 2)
		c.Step(1, Input{Kind: InReply, ID: "d0", Frame: bitsReply(c, tt.sent)})
		if c.chain.Taken != 0 || tt.counter(c) != 1 {
			t.Errorf("%s: %d counted, %+v", name, c.chain.Taken, c.counters)
		}
		c.Step(1, Input{Kind: InReply, ID: "d0", Frame: bitsReply(c, good)})
		if c.chain.Taken != 1 {
			t.Errorf("%s: then a good one is not counted: %+v", name, c.counters)
		}
	}
}
