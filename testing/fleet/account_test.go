package fleet

import (
	"fmt"
	"math"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire/compact"
)

// relayPlan returns a plan that relays 19 scalars of each of 10 devices, which all contribute. With
// the rule normalized, or with few bits, the run's announcements are compact.
func relayPlan(t *testing.T, rounds uint64, rule plan.ServerRule, bits plan.Precision) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("fedzo", "relay", 30)
	if err != nil {
		t.Fatal(err)
	}
	p.Members, p.Target, p.Quorum, p.Rounds = 10, 10, 10, rounds
	p.Steps, p.Perturbations, p.StepSize, p.Distribution = 1, 19, 1e-3, plan.Rademacher
	p.Precision, p.MaxScalar = bits, 65504
	p.DigestEvery, p.EvalEvery, p.Diverge = 0, 0, 0
	if p.ServerRule = rule; rule == plan.ServerNormalized {
		p.ServerBeta1, p.ServerBeta2 = 0.9, 0.99
		p.StepDecay = plan.SlowSqrt // the same in a run of any length
	}
	if err := valid.Plan(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// socketBytes runs a plan over a broker and returns the bytes that the devices' sockets carried.
func socketBytes(t *testing.T, p *plan.Plan, edits ...func(*client.Config)) (up, down float64) {
	l := startLead(t, p, broker.Config{})
	conns := make([]*nats.Conn, p.Members)
	traffic := make([]*broker.Traffic, p.Members)
	for i := range conns {
		var err error
		if conns[i], traffic[i], err = l.broker.Connect(fmt.Sprintf("d%d", i)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(conns[i].Close)
	}
	l.agree(p.Run, l.devices(p.Run, conns, int(p.Dim), edits...))
	for _, c := range traffic {
		up, down = up+float64(c.Up()), down+float64(c.Down())
	}
	return up / float64(p.Members), down / float64(p.Members)
}

// TestAccountIsWhatSocketsCarry checks that rounds 101 to 500 of a run with relay cost the bytes
// that package cost computes, with compact and with full announcements. The difference of a long
// and a short run is the cost of the additional rounds.
func TestAccountIsWhatSocketsCarry(t *testing.T) {
	if testing.Short() {
		t.Skip("its 1800 rounds only count bytes: other tests show the detector such runs")
	}
	const short, long = 100, 500
	for _, run := range []struct {
		rule plan.ServerRule
		bits plan.Precision
		auto bool
	}{
		{plan.ServerMean, plan.Half, false}, {plan.ServerNormalized, plan.Half, false},
		{plan.ServerNormalized, plan.Int4, false}, {plan.ServerNormalized, plan.Int8, true},
	} {
		rule := run.rule
		planOf := func(rounds uint64) *plan.Plan {
			p := relayPlan(t, rounds, rule, run.bits)
			if run.auto {
				p.StepSize, p.StepAuto, p.StepDecay = 0, 1, plan.Constant
			}
			return p
		}
		up, down := socketBytes(t, planOf(long))
		lessUp, lessDown := socketBytes(t, planOf(short))
		up, down = (up-lessUp)/(long-short), (down-lessDown)/(long-short)
		wantUp, wantDown, least := 0.0, 0.0, 0.0
		p := planOf(long)
		for round := uint64(short + 1); round <= long; round++ {
			a := cost.AccountOf(p, cost.Input{Round: round, IDLen: len("d0")})
			wantUp += float64(a.Up.Sum()) / (long - short)
			wantDown += float64(a.Down.Sum()) / (long - short)
			least += float64(a.Floor.Sum()) / (long - short)
		}
		t.Logf("%v, %v: %.1f bytes up and %.1f down a round; priced %.1f and %.1f, at least %.1f",
			rule, run.bits, up, down, wantUp, wantDown, least)
		if math.Abs(up-wantUp) > 0.01*wantUp || math.Abs(down-wantDown) > 0.01*wantDown {
			t.Errorf("%v, %v: %.2f bytes up and %.2f down a round, want %.2f and %.2f", rule, run.bits,
				up, down, wantUp, wantDown)
		}
		if compact.For(p) && down > 1.15*least {
			t.Errorf("%.1f bytes down a round, and the least is %.1f", down, least)
		}
	}
}

// TestSecureAccount checks that rounds of secure aggregation cost the bytes that package cost
// computes, with four steps and with five steps.
func TestSecureAccount(t *testing.T) {
	short, long := uint64(10), uint64(40)
	if testing.Short() {
		short, long = 5, 15
	}
	for _, agree := range []uint8{0, 1} {
		planOf := func(rounds uint64) *plan.Plan {
			p, err := preset.Unbound("decomfl", "masks", 30)
			if err != nil {
				t.Fatal(err)
			}
			p.Members, p.Target, p.Quorum, p.Rounds = 4, 4, 3, rounds
			p.Secure, p.SecureLists, p.MaxScalar, p.Weights = 1, agree, 1000, plan.Equal
			p.DigestEvery, p.EvalEvery, p.EvalCount, p.Metrics, p.Bound = 0, 0, 0, nil, 0
			p.Deadline = 600_000 // ms: on a busy machine a shorter deadline would begin more attempts
			if agree > 0 {
				p.SetSecret(secret)
			}
			if err := valid.Plan(p); err != nil {
				t.Fatal(err)
			}
			return p
		}
		keyed := func(c *client.Config) {
			if agree > 0 {
				c.RunKey = secret
			}
		}
		up, down := socketBytes(t, planOf(long), keyed)
		lessUp, lessDown := socketBytes(t, planOf(short), keyed)
		up, down = (up-lessUp)/float64(long-short), (down-lessDown)/float64(long-short)
		p, in := planOf(long), cost.Input{Round: long, IDLen: len("d0")}
		c, a := cost.Of(p, in), cost.AccountOf(p, in)
		t.Logf("%d: %.1f bytes up and %.1f down a round; priced %+v and %+v", agree, up, down, c.Up,
			c.Down)
		if math.Abs(up-float64(c.Up.Socket)) > 0.05*up || a.Up.Sum() != c.Up.Socket ||
			math.Abs(down-float64(c.Down.Socket)) > 0.05*down || a.Down.Sum() != c.Down.Socket {
			t.Errorf("%d: %.1f bytes up and %.1f down a round, want %+v and %+v, in parts %+v", agree, up,
				down, c.Up, c.Down, a)
		}
	}
}
