package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

// secured has the settings of a run with secure aggregation.
var secured = []string{"--preset", "decomfl", "--set", "secure=sum", "--set", "max_scalar=1000",
	"--trust-coordinator", "--set", "eval_every=0", "--set", "claim_bound=0", "--set", "bound=0",
	"--set", "members=3", "--set", "target=3", "--set", "quorum=3"}

// TestPlanSecure: zofl plan says what the coordinator learns, how many may leave, and the price. It
// does not promise more than a plan without a secret can keep.
func TestPlanSecure(t *testing.T) {
	args := append([]string{"plan", "--explain", "--dim", "100"}, secured...)
	args = append(args, "--set", "members=10", "--set", "target=10")
	secret := filepath.Join(t.TempDir(), "run.key")
	trusted := slices.Index(args, "--trust-coordinator")
	private := slices.Concat(args[:trusted], args[trusted+1:], []string{"--secret", secret, "--set",
		"secure_lists=believed"})
	for quorum, wants := range map[string][]string{
		"quorum=6": {"four messages a round in place of one", "It learns no device's own.",
			"with 96 bytes of keys", "so 4 may leave in any step", "Scalars are cut to 1000",
			"read each device's own scalars: no device can notice that"},
		"quorum=8": {"so 2 may leave in any step", "can pose as all other devices"},
	} {
		saysSecure(t, append(args, "--set", quorum), wants, "and of no fewer")
	}
	for quorum, wants := range map[string][]string{
		"quorum=6": {"It learns no device's own, unless at least 6 of a device's 10 neighbors",
			"or set quorum to three quarters"},
		"quorum=8": {"can have the sum of 8 devices, and of no fewer"},
	} {
		saysSecure(t, append(private, "--set", quorum), wants, "pose as")
	}
}

// saysSecure checks that a command prints words, and does not print others.
func saysSecure(t *testing.T, args, wants []string, not string) {
	t.Helper()
	text, err := zofl(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	text = strings.Join(strings.Fields(text), " ")
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%v: no %q in %s", args, want, text)
		}
	}
	if strings.Contains(text, not) {
		t.Errorf("%v: %q in %s", args, not, text)
	}
}

// TestPlanTrust: zofl plan makes no plan with secure=sum without a secret, unless the user asks for
// that by name. A plan file that somebody made so stays readable, and the remedies work as typed.
func TestPlanTrust(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "open.json")
	args := []string{"plan", "--dim", "100", "--preset", "decomfl", "--set", "max_scalar=1000",
		"--set", "eval_every=0"}
	sum := []string{"--set", "secure=sum"}
	key := []string{"--secret", filepath.Join(dir, "run.key")}
	trust, write := []string{"--trust-coordinator"}, []string{"--write", file}
	for _, tt := range []struct {
		args  [][]string
		fault string
	}{
		{[][]string{args, sum}, "secure = sum: without a secret the coordinator can pose as all other"},
		{[][]string{args, sum, write}, "give --secret FILE"},
		{[][]string{args, sum, key}, ""},
		{[][]string{args, sum, trust, write}, ""},
		{[][]string{{"plan", file}}, ""},
		{[][]string{{"plan", file}, {"--set", "max_scalar=10"}}, ""},
		{[][]string{{"plan", file}, sum}, "--trust-coordinator if devices trust it not to"},
		{[][]string{{"plan", file}, key}, ""},
		{[][]string{args, trust}, "--trust-coordinator is for plans with secure=sum"},
		{[][]string{args, sum, key, trust}, "--trust-coordinator and --secret: "},
	} {
		_, err := zofl(t, slices.Concat(tt.args...)...)
		if tt.fault == "" && err != nil ||
			tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)) {
			t.Errorf("%v: %v, want %q", tt.args, err, tt.fault)
		}
	}
	_ = os.Remove(file)
	if _, err := zofl(t, slices.Concat(args, sum, write)...); err == nil {
		t.Error("a plan without a secret was made")
	} else if _, err := os.Stat(file); err == nil {
		t.Error("a refused plan was written")
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
		text, err := zofl(t, "plan", "--explain", "--dim", "100", "--set", "secure=sum", "--set",
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
