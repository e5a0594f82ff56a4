package simulation

import (
	"math"
	"testing"
)

// covered lists what must occur within the default seeds, so that the simulator does not
// silently try less. Rare events are left to longer runs.
var covered = []string{
	"announce open", "announce lean", "announce paused", "announce ended",
	"catch-up", "burst", "reply again",
	"record plan", "record round", "record change", "record rollback", "record end",
	"end rounds", "end requested", "end patience", "a best model", "event best",
	"drop", "double", "delay", "power cut", "crash now",
	"crash before publish", "crash before request", "crash before subscribe", "crash before append",
	"crash before write", "crash before sync", "crash before rename", "crash before open",
	"log refuses", "log loses the ack", "log stalls", "log timeout", "log conflict",
	"members deposed", "event adopted",
	"found in the log", "on from a checkpoint", "device says: store", "snapshot piece", "reference",
	"relay single", "relay half", "relay int8", "relay int4", "relay int2",
	"median single", "median half",
	"groups", "groups of some", "groups by sketch", "groups as devices are",
	"groups that weigh", "groups that devices draw",
	"reply to another group",
	"late work", "late work of old", "late work, async", "late relay",
	"survey", "survey again", "survey of step", "survey reply",
	"survey of mu beside sketches", "survey of step beside sketches",
	"event phase", "second phase", "control variate", "control variate of old",
	"second phase of another P", "control variate of another P",
	"dense none differences", "dense none surrogate", "dense scaffold-1 differences",
	"dense scaffold-2 differences",
	"piece", "object piece", "upload busy", "upload refused",
	"vector gone", "vector without its record", "crash before append, after its vector",
	"rid of a wrong bit",
	"a damaged log is refused", "a damaged file is put back", "a loss is accepted",
	"masked sum", "noise of a sum",
	"a lie in keys", "a lie in shares", "a lie in unmask", "a liar is left out",
	"one false share in unmask",
	"drops out before mask", "drops out before unmask", "declined unmasked before",
	"a join of an earlier version", "a write went astray", "a slow sync",
	"a planned pause is kept", "a retired device leaves", "core",
	"for ever: is down", "for ever: is cut off", "for ever: restarts",
	"for ever: has a broken disk", "declined busy", "declined time", "declined loss failed",
}

// beyond is the part of a Gaussian that is beyond its standard deviation. A share less in a sum of
// three makes it 0.22.
const beyond = 0.3173

// covers fails the test for whatever did not occur.
func (s *search) covers(t *testing.T) {
	t.Helper()
	for _, what := range covered {
		if s.counts[what] == 0 {
			t.Errorf("%q did not occur in %d seeds", what, s.done)
		}
	}
	sums := float64(s.counts["noise of a sum"])
	if part := float64(s.counts["noise beyond a deviation"]) / sums; math.Abs(part-beyond) >
		5*math.Sqrt(beyond*(1-beyond)/sums) {
		t.Errorf("%.3f of the noise of %v sums is beyond a deviation, want %v", part, sums, beyond)
	}
	for _, f := range faults {
		if s.counts["fault "+f.name] == 0 {
			t.Errorf("no seed had the fault %q", f.name)
		}
	}
}
