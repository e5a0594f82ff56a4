package main

import (
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire/dp"
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
		args := append([]string{"plan", "--dim", "100", "--set", "target=16", "--set", "members=16",
			"--set", "rounds=100"}, noisy(by)...)
		text, err := zofl(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		text = strings.Join(strings.Fields(text), " ")
		for _, want := range append(want, "Its 100 rounds spend epsilon 2.17 at delta 1e-05") {
			if !strings.Contains(text, want) {
				t.Errorf("dp_by=%s: no %q in %s", by, want, text)
			}
		}
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
	var v verdict
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
	for _, args := range [][]string{
		{"status", "--url", k.url, "--run", "kitchen"}, verify,
	} {
		if text, err := zofl(t, args...); err != nil || !strings.Contains(text, "privacy spent") {
			t.Errorf("%v: %v\n%s", args, err, text)
		}
	}
}
