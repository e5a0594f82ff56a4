package main

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

// secured has the settings of a run with secure aggregation.
var secured = []string{"--preset", "decomfl", "--set", "secure=sum", "--set", "max_scalar=1000",
	"--set", "eval_every=0", "--set", "claim_bound=0", "--set", "bound=0", "--set", "members=3",
	"--set", "target=3", "--set", "quorum=3"}

// TestPlanSecure: zofl plan says what the coordinator learns, how many may leave, and the price.
func TestPlanSecure(t *testing.T) {
	args := append([]string{"plan", "--dim", "100"}, secured...)
	for quorum, wants := range map[string][]string{
		"quorum=6": {"four messages a round in place of one", "learns no device's own",
			"with 96 bytes of keys", "so 4 may leave in any step", "Scalars are cut to 1000",
			"can have the sum of a single device; set quorum to three quarters"},
		"quorum=8": {"so 2 may leave in any step", "can have the sum of 8 devices, and of no fewer"},
	} {
		text, err := zofl(t, append(args, "--set", "members=10", "--set", "target=10", "--set",
			quorum)...)
		if err != nil {
			t.Fatal(err)
		}
		text = strings.Join(strings.Fields(text), " ")
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", quorum, want, text)
			}
		}
	}
}

// TestSecureKitchen: devices of a run with secure aggregation go on together.
func TestSecureKitchen(t *testing.T) {
	k := newKitchenOf(t, secured)
	for _, id := range []string{"a", "b", "c"} {
		k.device(id)
	}
	k.reach(5)
}

// TestSecureGrants: who takes part in secure aggregation may do so, and nobody else.
func TestSecureGrants(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for _, role := range grant.Roles {
			use := grant.Use{Run: "kitchen", Secure: secure,
				ID: map[grant.Role]string{grant.Device: "pi", grant.Witness: "pi"}[role]}
			p, err := grant.For(role, use)
			if err != nil {
				t.Fatal(err)
			}
			for subject, want := range map[string]bool{
				"zo.kitchen.k.pi": secure && role == grant.Device,
				"zo.kitchen.k.*":  secure && role == grant.Coordinator,
			} {
				has := p.Pub.Allow.Contains(subject) || p.Sub.Allow.Contains(subject)
				if has != want {
					t.Errorf("secure %v: %s has %s: %v", secure, role, subject, has)
				}
			}
		}
	}
}
