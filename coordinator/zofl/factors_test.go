package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// near is a program that takes factors. It writes what maps say to a file, and knows no loss.
const near = `while read -r verb args; do case $verb in
hello) echo hello 1 dim=3322 points=4 factors=1;;
map) echo "$args" >>"$ZOFL_TEST_MAPS"; echo ok;;
*) n=${args#*points=}; n=${n%% *}; out=loss
	while [ $n -gt 0 ]; do out="$out 1.$n"; n=$((n-1)); done; echo $out;;
esac; done`

// TestFactorsOfPlans: `zofl simulate` and `zofl tune` hand a program factors of the plans that have
// them, and points of others.
func TestFactorsOfPlans(t *testing.T) {
	maps := filepath.Join(t.TempDir(), "maps")
	t.Setenv("ZOFL_TEST_MAPS", maps)
	name := planFile(t, "--preset", "decomfl", "--segments", "relu:80x40,40x2", "--set",
		"distribution=lowrank", "--set", "rounds=2", "--set", "step=1e-6")
	const shapes = "factors=242 shapes=40x80,40,80,2 path="
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"simulate", name, "--devices", "2", "--sweep", "distribution=lowrank,rademacher"},
			[]string{shapes, "points=4 path="}},
		{[]string{"tune", name, "--devices", "1", "--fields", "step", "--rounds", "2"},
			[]string{shapes}},
	} {
		if out, err := zofl(t, append(c.args, "--", "sh", "-c", near)...); err != nil {
			t.Errorf("%s: %v: %s", c.args[0], err, out)
		}
		said, err := os.ReadFile(maps)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		if len(lines) != len(c.want) {
			t.Fatalf("%s: %d maps, want %d:\n%s", c.args[0], len(lines), len(c.want), said)
		}
		for i, line := range lines {
			if !strings.Contains(line, c.want[i]) {
				t.Errorf("%s: map %d is %q, want %q", c.args[0], i, line, c.want[i])
			}
		}
		if err := os.Remove(maps); err != nil {
			t.Fatal(err)
		}
	}
}
