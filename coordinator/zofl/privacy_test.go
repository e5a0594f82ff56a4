package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb/logs"
	"github.com/zofl/zofl/plan/dp"
)

// noisy has the settings of a run with differential privacy.
func noisy(by string) []string {
	return []string{"--preset", "decomfl", "--set", "dp_clip=10", "--set", "dp_noise=20",
		"--set", "dp_delta=1e-5", "--set", "dp_by=" + by, "--set", "diverge=0", "--set",
		"eval_every=0", "--set", "claim_bound=0", "--set", "bound=0"}
}

// TestPlanPrivacy: zofl plan says from whom noise hides, what the rounds spend, and the price.
func TestPlanPrivacy(t *testing.T) {
	for by, want := range map[string][]string{
		"device":      {"all but the device itself", "standard deviation of 50"},
		"coordinator": {"the device and the coordinator", "standard deviation of 12.5"},
	} {
		args := append([]string{"plan", "--explain", "--dim", "100", "--set", "target=16", "--set",
			"members=16",
			"--set", "rounds=100"}, noisy(by)...)
		text, err := zofl(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		text = strings.Join(strings.Fields(text), " ")
		for _, want := range append(want, "Its 100 rounds spend epsilon 1.99 at delta 1e-05") {
			if !strings.Contains(text, want) {
				t.Errorf("dp_by=%s: no %q in %s", by, want, text)
			}
		}
	}
}

// TestPlanEpsilon: --epsilon finds noise, with which all rounds stay within it by the accountant,
// and refuses what does not.
func TestPlanEpsilon(t *testing.T) {
	base := []string{"plan", "--preset", "decomfl", "--dim", "100", "--set", "rounds=500", "--set",
		"dp_clip=10", "--set", "diverge=0", "--set", "eval_every=0", "--json"}
	for _, by := range []string{"device", "coordinator"} {
		for _, epsilon := range []string{"2", "8"} {
			text, err := zofl(t, append(base, "--set", "dp_by="+by, "--epsilon", epsilon)...)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Plan struct {
					Noise float64 `json:"dp_noise"`
					Delta float64 `json:"dp_delta"`
				}
				Privacy dp.Budget
			}
			decode(t, text, &got)
			want, _ := strconv.ParseFloat(epsilon, 64)
			spent := dp.Epsilon(got.Plan.Noise, 502, got.Plan.Delta)
			if !(spent <= want && spent > 0.999*want && got.Privacy.Epsilon < spent) ||
				math.Abs(got.Plan.Delta-1e-5) > 1e-9 {
				t.Errorf("dp_by=%s, epsilon %s: %+v spends %v", by, epsilon, got, spent)
			}
		}
	}
	text, err := zofl(t, append(base[:len(base)-1], "--epsilon", "8", "--set", "dp_delta=1e-6")...)
	if err != nil || !strings.Contains(strings.Join(strings.Fields(text), " "),
		"is the least for --epsilon 8.") {
		t.Errorf("%v: %s", err, text)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--epsilon", "8", "--set", "dp_noise=5"}, "rounds spend more than --epsilon 8"},
		{[]string{"--epsilon", "8", "--set", "rounds=0"}, "--epsilon needs an end"},
		{[]string{"--epsilon", "8", "--set", "dp_clip=0"}, "--epsilon needs it"},
		{[]string{"--epsilon", "NaN"}, "finite number above 0"},
		{[]string{"--epsilon", "-1"}, "finite number above 0"},
		{[]string{"--epsilon", "0.01"}, "dp_noise"},
	} {
		if _, err := zofl(t, append(base, c.args...)...); err == nil ||
			cli.ExitCode(err, false) != cli.ExitUsage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
	if _, err := zofl(t, append(base, "--epsilon", "8", "--set", "dp_noise=50")...); err != nil {
		t.Errorf("more noise than needed: %v", err)
	}
	if _, err := zofl(t, "plan", "--fields", "--epsilon", "8"); err == nil {
		t.Error("--fields ignores --epsilon")
	}
}

// TestPrivacySpent: status and verify say what was spent, of the same log the same.
func TestPrivacySpent(t *testing.T) {
	k := newKitchenOf(t, noisy("device"))
	k.device("a")
	k.device("b")
	k.reach(5)
	s, err := k.ask("pause")
	if err != nil {
		t.Fatal(err)
	}
	verify := []string{"verify", "--url", k.url, "--run", "kitchen"}
	var v logs.Verdict
	text, err := zofl(t, append(verify, "--json")...)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, text, &v)
	if s.Privacy == nil || v.Privacy == nil || v.Records < s.N {
		t.Fatalf("status %+v, verify %+v", s.Privacy, v.Privacy)
	}
	want := dp.Epsilon(20, v.Records, float64(float32(1e-5)))
	if math.Abs(v.Privacy.Epsilon-want) > 1e-9 || s.Privacy.Epsilon > v.Privacy.Epsilon {
		t.Errorf("status %v, verify %v after %d records, want %v", s.Privacy, v.Privacy, v.Records,
			want)
	}
	if s.Planned != nil {
		t.Errorf("all rounds of a run without an end spend %v", s.Planned)
	}
	k.logsPrivacy(v.Records)
	for _, args := range [][]string{
		{"status", "--url", k.url, "--run", "kitchen"}, verify,
	} {
		if text, err := zofl(t, args...); err != nil || !strings.Contains(text, "privacy spent") {
			t.Errorf("%v: %v\n%s", args, err, text)
		}
	}
}

// logsPrivacy checks that zofl log, and the coordinator's rounds, say what each record has spent.
func (k *kitchen) logsPrivacy(records uint64) {
	k.t.Helper()
	log := []string{"log", "--url", k.url, "--run", "kitchen"}
	text, err := zofl(k.t, append(log, "--json")...)
	if err != nil {
		k.t.Fatal(err)
	}
	plain, err := zofl(k.t, log...)
	if err != nil {
		k.t.Fatal(err)
	}
	spent, plainLines := map[uint64]float64{}, strings.Split(plain, "\n")
	for i, one := range strings.Split(strings.TrimSpace(text), "\n") {
		var l struct {
			N       uint64
			Privacy *dp.Budget
		}
		decode(k.t, one, &l)
		want := dp.Epsilon(20, l.N, float64(float32(1e-5)))
		if l.Privacy == nil || math.Abs(l.Privacy.Epsilon-want) > 1e-9 ||
			!strings.HasSuffix(plainLines[i], fmt.Sprintf(" epsilon=%.3g", want)) {
			k.t.Errorf("record %d: %+v, %q, want epsilon %v", l.N, l.Privacy, plainLines[i], want)
			continue
		}
		spent[l.N] = l.Privacy.Epsilon
	}
	nc, err := nats.Connect(k.url)
	if err != nil {
		k.t.Fatal(err)
	}
	defer nc.Close()
	rounds, err := operate.Rounds(k.t.Context(), nc, "kitchen", 0)
	if err != nil || uint64(len(spent)) < records || len(rounds) == 0 {
		k.t.Fatalf("%d records, %d rounds, %v", len(spent), len(rounds), err)
	}
	for _, r := range rounds {
		if r.Epsilon != spent[r.N] {
			k.t.Errorf("record %d spent %v, its record says %v", r.N, r.Epsilon, spent[r.N])
		}
	}
}

// TestPrivacyPlanned: status says what all rounds of a run with an end will spend.
func TestPrivacyPlanned(t *testing.T) {
	k := newKitchenOf(t, append(noisy("coordinator"), "--set", "rounds=9999"))
	s := k.reach(1)
	want := dp.Epsilon(20, 9999, float64(float32(1e-5)))
	if s.Planned == nil || s.Planned.Epsilon != want || s.Privacy == nil || s.Privacy.Epsilon != 0 {
		t.Errorf("planned %v, spent %v, want %v and 0", s.Planned, s.Privacy, want)
	}
	text, err := zofl(t, "status", "--url", k.url, "--run", "kitchen")
	if want := fmt.Sprintf("epsilon %.3g at", want); err != nil || !strings.Contains(text, want) {
		t.Errorf("%v: no %q in\n%s", err, want, text)
	}
}
