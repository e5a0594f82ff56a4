package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A tally counts the contributions of devices, every second one of which takes three times as long
// as the others.
type tally struct {
	*testing.T
	c      *Core
	now    uint64
	rng    *rand.Rand
	ids    []string
	counts []int
	last   int // how many contributed to the last round
}

const tallied, ticking = 24, 1000 // devices, milliseconds of a deadline

func newTally(t *testing.T, fields ...string) *tally {
	p := methodPlan(t, append([]string{"target=6", "quorum=6", "reannounce=900000",
		fmt.Sprint("deadline=", ticking)}, fields...), tallied)
	y := &tally{T: t, rng: rand.New(rand.NewPCG(1, 2)), ids: ids(tallied),
		counts: make([]int, tallied)}
	if p.Roster == plan.ListedRoster {
		y.c = newTestCore(t, p, tallied)
		return y
	}
	var err error
	if y.c, err = newCore(t.Context(), p, &runlog.Memory{}, 1); err != nil {
		t.Fatal(err)
	}
	y.c.Start(0)
	y.c.Step(0, Input{Kind: InAppended, N: 1})
	for _, id := range y.ids {
		y.c.Step(0, joinOf(id))
	}
	return y
}

// answers returns the devices that the open attempt asks by the time that their answers take. An
// answer takes 100 ms, or 300 ms of slow devices, between half as long and half as long again.
func (y *tally) answers() (list []delayed) {
	for i, id := range y.ids {
		m, ok := y.c.cohort.Member(id)
		if !ok || y.c.cohort.Contributed(m) || !y.c.cohort.Asks(m) {
			continue
		}
		reply := wire.Reply{Kind: wire.Contribution, N: y.c.N + 1, Tip: y.c.Hash.Tip(), Weight: 1,
			Loss: 1, Values: wire.AppendScalars(nil, make([]float32, y.c.Plan.Perturbations)...)}
		in := Input{Kind: InReply, ID: id, Frame: reply.Append(nil)}
		late := uint64((1 + 2*(i%2)) * (50 + y.rng.IntN(100)))
		list = append(list, delayed{y.now + late, func() { y.c.Step(y.now, in) }})
	}
	slices.SortFunc(list, func(a, b delayed) int { return int(a.at) - int(b.at) })
	return list
}

// round leads a round to its end.
func (y *tally) round() {
	y.Helper()
	for tries := 0; y.c.phase() == collecting; tries++ {
		if tries > 100 {
			y.Fatalf("round %d does not close: %+v", y.c.Rounds+1, y.c.Status())
		}
		attempt := y.c.cohort.Attempt.Number
		for _, a := range y.answers() {
			if y.c.phase() != collecting || y.c.cohort.Attempt.Number != attempt {
				break
			}
			y.now = a.at
			a.do()
		}
		for y.c.phase() == collecting && y.c.cohort.Attempt.Number == attempt {
			at, _ := y.c.Wake()
			y.now = max(y.now, at)
			y.c.Step(y.now, Input{Kind: InTick})
		}
	}
	y.last = 0
	for i, id := range y.ids {
		if m, _ := y.c.cohort.Member(id); y.c.cohort.Answers.Of(m)&presence.Contributed != 0 {
			y.counts[i]++
			y.last++
		}
	}
	y.c.Step(y.now, Input{Kind: InAppended, N: y.c.N + 1})
}

// chi2 compares the counts with those of devices that are drawn alike. Of 24 such devices it is
// below 49.7 in all but one run of a thousand.
func (y *tally) chi2(rounds int) (sum float64) {
	total := 0
	for _, n := range y.counts {
		total += n
	}
	mean := float64(total) / tallied
	for _, n := range y.counts {
		sum += (float64(n) - mean) * (float64(n) - mean)
	}
	return sum / (mean * (1 - mean/float64(rounds)))
}

// TestParticipation: a round that closes at its target counts the first to answer, so that fast
// devices weigh more; a round that closes at its deadline counts all devices alike, and so does a
// listed roster that asks no more devices than its target. The status says so.
func TestParticipation(t *testing.T) {
	const rounds = 400
	for _, tt := range []struct {
		name   string
		fields []string
		fair   bool
	}{
		{"open, target", []string{"roster=open"}, false},
		{"open, deadline", []string{"roster=open", "close=deadline"}, true},
		{"open, deadline, low quorum", []string{"roster=open", "close=deadline", "quorum=1"}, true},
		{"open, deadline, a median", []string{"roster=open", "close=deadline", "quorum=1",
			"aggregator=median"}, true},
		{"listed, target", nil, true},
		{"listed, twice the target", []string{"over_sample=2"}, false},
		{"listed, deadline", []string{"over_sample=2", "close=deadline"}, true},
		{"listed, deadline, relayed", []string{"over_sample=2", "close=deadline",
			"sharing=per-client", "transport=relay"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			y := newTally(t, tt.fields...)
			for range rounds {
				y.round()
			}
			got, p := y.chi2(rounds), y.c.Status().Participation
			t.Logf("chi2 %.0f on %d; status: %d of %d, %s", got, tallied-1, p.Counted, p.Asked,
				p.Spread())
			if tt.fair != (got < 49.7) || !tt.fair && got < 200 {
				t.Errorf("chi2 %.1f on %d, fair: %t; %v", got, tallied-1, tt.fair, y.counts)
			}
			want := report.Participation{Asked: p.Asked, Counted: uint32(y.last), Devices: tallied,
				Fewest: uint32(slices.Min(y.counts)), Most: uint32(slices.Max(y.counts)),
				Median: uint32(slices.Sorted(slices.Values(y.counts))[tallied/2])}
			if p != want || p.Asked < p.Counted {
				t.Errorf("status %+v, want %+v and no fewer asked than counted", p, want)
			}
		})
	}
}

// TestAskedOfOpenRoster: the status says about how many devices of an open roster rounds ask.
func TestAskedOfOpenRoster(t *testing.T) {
	for _, fields := range [][]string{{}, {"close=deadline"}} {
		y := newTally(t, append([]string{"roster=open", "members=24"}, fields...)...)
		asked, told := 0, 0
		for i := range 200 {
			if i >= 100 { // all devices have contributed
				asked += len(y.answers())
				told += int(y.c.Status().Asked)
			}
			y.round()
		}
		if 10*told < 9*asked || 9*told > 10*asked {
			t.Errorf("%v: %d were asked, and the status says %d", fields, asked, told)
		}
	}
}

// TestClosesAtDeadline: a listed roster's round ends as soon as all have answered, an open one's at
// its deadline; and a record that holds the numbers of each device counts no more than it has room
// for, whoever is asked later.
func TestClosesAtDeadline(t *testing.T) {
	y := newTally(t, "over_sample=2", "close=deadline")
	y.round()
	if y.last != 12 || y.now >= ticking {
		t.Errorf("a listed roster counted %d of 12 after %d ms", y.last, y.now)
	}
	y = newTally(t, "roster=open", "close=deadline")
	y.round()
	if y.now != ticking {
		t.Errorf("an open roster's round took %d ms", y.now)
	}
	for relayed, most := range map[string]int{"sharing=shared": 24, "sharing=per-client": 12} {
		fields := []string{"over_sample=2", "close=deadline", relayed, "quorum=5"}
		if relayed != "sharing=shared" {
			fields = append(fields, "transport=relay")
		}
		y := newTally(t, fields...)
		y.now = ticking // nobody answers the first attempt
		y.c.Step(y.now, Input{Kind: InTick})
		if y.round(); y.last != most {
			t.Errorf("%s: a second attempt counted %d, want %d", relayed, y.last, most)
		}
	}
}
