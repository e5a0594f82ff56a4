package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// livePlans are plans for runs of twelve devices.
var livePlans = []string{
	"target=5 quorum=3",
	"target=12 quorum=8",
	"target=5 quorum=4 control=scaffold-1 steps=2 cohort=round",
	"target=5 quorum=4 control=svrg steps=2 cohort=round",
	"target=6 quorum=4 sharing=per-client transport=relay",
	"target=12 quorum=8 sharing=groups transport=relay groups=random group_size=3 regroup=2",
	"target=6 quorum=4 sharing=groups transport=relay groups=sketch group_size=3 regroup=2",
	"target=6 quorum=4 sharing=groups transport=relay groups=auto regroup=2",
	"target=6 quorum=4 async=on late=3",
	"target=6 quorum=4 server_rule=normalized mu=auto step=auto",
	"target=12 quorum=4 bound=2 trust=100 roots=[\"d0\",\"d1\"]",
	"target=6 quorum=4 transport=dense dense_keep=4 max_scalar=1e20",
	"target=12 quorum=8 roster=open",
}

func livePlan(t *testing.T, text, attempts string) *plan.Plan {
	t.Helper()
	p := chaintest.Plan(t)
	fields := "members=8 deadline=10000 reannounce=3000 max_attempts=" + attempts + " " + text
	for field := range strings.FieldsSeq(fields) {
		name, value, _ := strings.Cut(field, "=")
		if err := planfile.Set(p, name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := valid.Plan(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestHealthyDevicesGoOn: whatever happened to a run, from lost messages to takeovers, the run
// makes rounds soon after enough devices answer every message.
func TestHealthyDevicesGoOn(t *testing.T) {
	const soon = 12 // deadlines for three rounds
	for _, text := range livePlans {
		t.Run(text, func(t *testing.T) {
			for seed := range uint64(20) {
				plan := livePlan(t, text, []string{"2", "1000"}[seed%2])
				w := newFleet(t, plan, 12, seed)
				for w.loss = 0.25; w.now < 900_000; {
					w.misfortune()
				}
				if w.c.End != nil {
					t.Fatal("the run ended")
				}
				w.heal()
				began, rounds := w.now, w.c.Rounds
				for w.now < began+soon*uint64(plan.Deadline) && w.c.Rounds < rounds+3 {
					w.pass(500)
					if w.c.halt.Pause != nil { // it diverged, or found no step
						w.input(Input{Kind: InResume})
					}
				}
				if w.c.Rounds < rounds+3 {
					t.Errorf("seed %d: %d rounds in %d deadlines, phase %d: %s", seed,
						w.c.Rounds-rounds, soon, w.c.phase(), w.c.waitsText())
				}
			}
		})
	}
}

// misfortune lets time pass, and something happen.
func (w *fleet) misfortune() {
	w.pass(w.rng.Uint64N([]uint64{2000, 12_000, 60_000}[w.rng.IntN(3)]))
	h := w.devices[w.rng.IntN(len(w.devices))]
	switch p := w.rng.IntN(20); {
	case p < 5 && h.up: // its connection breaks, or its process
		h.up = false
	case p < 8 && h.up && h.joined:
		h.send(goodbyeOf(w.c, h.id))
		h.up, h.joined = false, false
	case p < 12 && !h.up:
		h.back()
	case p == 12:
		w.input(Input{Kind: InPause, Text: "p"})
	case p < 16:
		w.input(Input{Kind: InResume})
	case p == 16:
		r := &wire.Record{Kind: wire.KindRollback, To: 1 + w.rng.Uint64N(max(w.c.N, 1))}
		if w.c.Check(r) == nil {
			w.input(Input{Kind: InRequest, Record: r})
		}
	case p == 17:
		w.restart()
	}
}

// back starts a device again. A device that said goodbye joins.
func (h *device) back() {
	if h.up = true; !h.joined {
		h.joined = true // it knows the plan
		h.join()
	}
}

// heal makes all messages arrive, and makes as many devices answer as a quorum needs, including the
// roots. The other devices are gone.
func (w *fleet) heal() {
	w.loss = 0
	order := w.rng.Perm(len(w.devices))
	slices.SortStableFunc(order, func(a, b int) int { return min(a, 2) - min(b, 2) })
	for i, number := range order {
		if h := w.devices[number]; i < int(w.plan.Quorum) {
			h.back()
		} else {
			h.up = false
		}
	}
}
