package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
)

// TestLiarsPlan: whatever --liars sets, a round that closes with a quorum cuts off all liars, and
// more than half of it is honest.
func TestLiarsPlan(t *testing.T) {
	for members := 3; members < 120; members += 1 + members/7 {
		for liars := 1; 2*liars < members; liars += 1 + liars/3 {
			p := readPlan(t, "--dim", "30", "--set", fmt.Sprint("members=", members), "--liars",
				fmt.Sprint(liars))
			cut := int(float32(p.Trim * float32(p.Quorum)))
			if cut < liars || 2*liars >= int(p.Quorum) || int(p.Liars) != liars || p.Target > p.Members {
				t.Errorf("%d of %d: trim=%v quorum=%d target=%d liars=%d", liars, members, p.Trim, p.Quorum,
					p.Target, p.Liars)
			}
		}
	}
}

// TestLiarsRefused: where nothing holds, the error names field, value and a remedy that works.
func TestLiarsRefused(t *testing.T) {
	for _, tt := range []struct{ args, want, mended string }{
		{"--liars 5", "liars = 5: of 10 members half or more", "--liars 4"},
		{"--liars 5", "set members=11", "--liars 5 --set members=11"},
		{"--preset fedzo --liars 2", "sharing = per-client",
			"--preset fedzo --set sharing=shared --set transport=mean --liars 2"},
		{"--set sharing=per-client --set transport=relay --liars 2", "sharing = per-client",
			"--preset zofl-shared --liars 2"},
		{"--preset fedzo-dense --liars 2", "transport = dense", "--preset zofl-shared --liars 2"},
		{"--set secure=sum --liars 2", "secure = sum", "--set secure=none --liars 2"},
		{"--preset decomfl --set dp_clip=3 --liars 2", "dp_clip = 3", "--preset decomfl --liars 2"},
		{"--preset zofl-shared --set roster=open --liars 2", "roster = open",
			"--preset zofl-shared --set roster=dense --liars 2"},
		{"--set target=4 --liars 2", "set target=5", "--set target=5 --liars 2"},
		{"--set quorum=4 --liars 2", "set quorum=5", "--set quorum=5 --liars 2"},
		{"--set trim=0.1 --liars 2", "set trim=0.25", "--set trim=0.25 --liars 2"},
		{"--set aggregator=median --liars 2", "aggregator = median",
			"--set aggregator=trimmed-mean --liars 2"},
		{"--set liars=1 --liars 2", "set liars=2", "--set liars=2 --liars 2"},
	} {
		_, err := zofl(t, append([]string{"plan", "--dim", "30"}, strings.Fields(tt.args)...)...)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.args, err, tt.want)
		}
		readPlan(t, append([]string{"--dim", "30"}, strings.Fields(tt.mended)...)...)
	}
	_, err := zofl(t, "plan", "--dim", "30", "--liars", "0")
	refused(t, err, []string{"--liars 0", "1 or more"})
}

// TestLiarsWords: the plan says how many may lie, what that costs and does not stop, and that the
// search for a step holds against a fifth only.
func TestLiarsWords(t *testing.T) {
	for args, want := range map[string][]string{
		"--set members=20 --liars 4": {"Liars: 4 of the 20 devices of a round may lie.",
			"does not stop a backdoor"},
		"--liars 4": {"4 of the 10 devices", "set both to numbers"},
		`--set members=21 --set roots=["r"] --liars 4`: {"4 of the 21 devices", "agree with r over 200"},
	} {
		out, err := zofl(t, append([]string{"plan", "--dim", "30"}, strings.Fields(args)...)...)
		out = strings.Join(strings.Fields(out), " ")
		for _, words := range want {
			if err != nil || !strings.Contains(out, words) {
				t.Errorf("%s: %v, or no %q", args, err, words)
			}
		}
		if few := strings.Contains(out, "set both"); few != (args == "--liars 4") {
			t.Errorf("%s: tells of a fifth: %v", args, few)
		}
	}
	out, err := zofl(t, "plan", "--dim", "30", "--liars", "1", "--json")
	if err != nil || !strings.Contains(out, `"liars":"1 of the 10 devices`) {
		t.Errorf("%v, or no text of liars in %s", err, out)
	}
}

// TestLiarsRoots: with roots the others must agree with them, and nothing is mixed.
func TestLiarsRoots(t *testing.T) {
	args := strings.Fields(`--dim 30 --set members=21 --set roots=["root-1"] --liars 4`)
	p := readPlan(t, args...)
	if p.Trust == 0 || p.Bound == 0 || p.Liars != 0 || p.Target != 21 || p.Transport != plan.Mean {
		t.Errorf("bound=%v trust=%d liars=%d target=%d transport=%v", p.Bound, p.Trust, p.Liars,
			p.Target, p.Transport)
	}
}
