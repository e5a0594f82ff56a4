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
			"or set quorum to three quarters"},
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

// TestPlanAgreed: in a new private run devices agree on lists, and what --set says stands.
func TestPlanAgreed(t *testing.T) {
	for set, want := range map[string]string{
		"target=10": "five messages a round in place of one, with 96 bytes of keys, 720 of shares, " +
			"60 of masked scalars, 16 of a tag and 320 of shares again, and gets 722, 722, 146 and " +
			"146. A round of 10 comes to its sum while 6 of each neighborhood stay, so 4 may leave in " +
			"any step; below that it is begun anew. A coordinator that tells devices different lists " +
			"of who left can have the sum of 6 devices, and of no fewer",
		"secure_lists=believed": "four messages a round in place of one",
	} {
		text, err := zofl(t, "plan", "--dim", "100", "--set", "secure=sum", "--set",
			"max_scalar=1000", "--set", "eval_every=0", "--preset", "decomfl", "--set", "members=10",
			"--set", set, "--secret", t.TempDir()+"/run.key")
		if err != nil {
			t.Fatal(err)
		}
		up := cell(text, "bytes sent, at the device's socket")
		down := cell(text, "bytes received, at the device's socket")
		// Sums of the bytes above are 1212 and 1736; the rest are frames, lines and an announcement.
		if set == "target=10" && (up != "1642" || down != "2226") {
			t.Errorf("%s bytes sent and %s received", up, down)
		}
		if text = strings.Join(strings.Fields(text), " "); !strings.Contains(text, want) {
			t.Errorf("%s: no %q in %s", set, want, text)
		}
	}
	_, err := zofl(t, "plan", "--dim", "100", "--preset", "decomfl", "--set", "secure=sum", "--set",
		"max_scalar=1000", "--set", "eval_every=0", "--set", "secure_lists=agreed")
	if err == nil || !strings.Contains(err.Error(), "devices agree by a secret") {
		t.Errorf("without a secret: %v", err)
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
