package main

import (
	"fmt"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// broken is a program that says hello, and then has no loss.
var broken = []string{"sh", "-c", `while read -r verb rest; do case $verb in
hello) echo hello 1 dim=$ZOFL_DIM;; map) echo ok;; *) echo error no sensor;; esac; done`}

// TestExecStrict: a device whose program has never had a loss ends with its error, which says how
// to go on trying. With --strict=false the device goes on.
func TestExecStrict(t *testing.T) {
	t.Setenv("ZOFL_DIM", fmt.Sprint(kitchenDim))
	k := newKitchenOf(t, append(calm, "--set", "members=1", "--set", "target=1",
		"--set", "quorum=1", "--set", "deadline=2000", "--set", "reannounce=500"))
	said := func(flags ...string) *process {
		return start(t, append(append([]string{"exec", "--url", k.url, "--run", "kitchen", "--id", "a"},
			flags...), append([]string{"--"}, broken...)...)...)
	}
	d := said()
	if code := d.exited(); code != cli.ExitFailure || !hasAll(d.stderr.String(), []string{
		"failed in the first round, and again", "no sensor", "--strict=false"}) {
		t.Errorf("exit code %d: %s", code, d.stderr.String())
	}
	goesOn := said("--strict=false")
	if !goesOn.stderr.Until(func(text string) bool { return lines(text, "msg=declined") >= 2 }) {
		t.Errorf("it does not go on: %s", goesOn.stderr.String())
	}
}
