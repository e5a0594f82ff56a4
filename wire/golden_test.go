package wire_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

const goldenFile = "testdata/golden.txt"

// goldens returns lines "what = value". Ports to other languages compare their results with these
// lines.
func goldens(t *testing.T) string {
	var b strings.Builder
	b.WriteString("# Values that every implementation must get; SPEC.md says how. Hexadecimal or " +
		"decimal.\n")
	line := func(value any, format string, args ...any) {
		fmt.Fprintf(&b, "%s = %v\n", fmt.Sprintf(format, args...), value)
	}
	for _, run := range []string{"r", "mnist", "a-run_of-32-characters-01234567"} {
		line(wire.Genesis(run), "genesis %s", run)
	}
	for _, name := range []string{"record-plan", "record-round", "record-end"} {
		h := wire.HashRecord(vector(t, name))
		line(h, "hash %s", name)
		line(h.Tip(), "tip %s", name)
	}
	for _, shards := range []uint32{1, 7, 36, 1296} {
		line(subjects.Shard("phone-1", shards), "shard phone-1 %d", shards)
	}
	line(subjects.Reply("mnist", 1295, "phone-1"), "subject reply mnist 1295 phone-1")
	line(fmt.Sprintf("%016x", plan.BatchSeed("mnist", "phone-1", 2, 0)),
		"batch-seed mnist phone-1 2 0")
	line(fmt.Sprintf("%016x", plan.BatchSeed("mnist", "phone-1", 1<<40, 65535)),
		"batch-seed mnist phone-1 %d 65535", uint64(1)<<40)
	for _, c := range []wire.Cohort{{Sampled: 1, Members: 2}, {Sampled: 3, Members: 10},
		{Sampled: 8, Members: 33}} {
		line(slots(c, func(s uint32) bool { return c.Has("mnist", 2, 1, s, "") }),
			"cohort mnist 2 1 %d %d", c.Sampled, c.Members)
		line(slots(c, func(s uint32) bool { return c.Evaluates("mnist", 64, c.Sampled, s, "") }),
			"evaluators mnist 64 %d %d", c.Sampled, c.Members)
	}
	open := wire.Cohort{Sampled: wire.FullThreshold / 4}
	var in []string
	for i := range 20 {
		if id := fmt.Sprint("phone-", i); open.Has("mnist", 2, 1, 0, id) {
			in = append(in, id)
		}
	}
	line(strings.Join(in, " "), "open mnist 2 1 %d of phone-0..phone-19", open.Sampled)
	drawn := &plan.Plan{Run: "kitchen"}
	drawn.Sharing, drawn.Groups, drawn.Roster = plan.GroupDirections, grouping.Random, plan.OpenRoster
	drawn.GroupSize, drawn.Regroup, drawn.Target, drawn.OverSample = 5, 3, 30, 1.2
	for _, id := range []string{"d7", "phone-1"} {
		for _, n := range []uint64{2, 11, 1 << 40} {
			line(grouping.Drawn(drawn, n, id), "group kitchen %d of target 30 over_sample 1.2 "+
				"group_size 5 regroup 3, %s", n, id)
		}
	}
	for _, scalars := range [][]float32{{0}, {0.5, -1.25, 3}} {
		line(fmt.Sprintf("%x", wire.HashObject(wire.AppendScalars(nil, scalars...))), "object %v",
			scalars)
	}
	return b.String()
}

func slots(c wire.Cohort, in func(uint32) bool) string {
	var list []string
	for s := range c.Members {
		if in(s) {
			list = append(list, fmt.Sprint(s))
		}
	}
	return strings.Join(list, " ")
}

func TestGolden(t *testing.T) {
	got := goldens(t)
	if *update {
		if err := os.WriteFile(goldenFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestChain: the hash of a record depends on each of its bytes and, through Prev, on
// each byte of all records before it.
func TestChain(t *testing.T) {
	log := func(epoch uint64) []wire.Hash {
		prev, hashes := wire.Genesis("run"), []wire.Hash{}
		for n := uint64(1); n <= 4; n++ {
			r := wire.Record{N: n, Prev: prev, Epoch: 1, Kind: wire.KindEnd,
				End: &wire.End{Reason: wire.EndRounds}}
			if n == 1 {
				r = wire.Record{N: 1, Prev: prev, Epoch: epoch, Kind: wire.KindPlan,
					Plan: &plan.Plan{Run: "run"}}
			}
			prev = wire.HashRecord(r.Append(nil))
			hashes = append(hashes, prev)
		}
		return hashes
	}
	a, b := log(1), log(2)
	for i := range a {
		if a[i] == b[i] {
			t.Errorf("record %d has the same hash though record 1 differs", i+1)
		}
		for j := range i {
			if a[i] == a[j] {
				t.Errorf("records %d and %d have one hash", i+1, j+1)
			}
		}
	}
	if wire.Genesis("run") == wire.Genesis("ruN") {
		t.Error("two runs have one genesis")
	}
	if tip, h := a[0].Tip(), a[0]; string(tip[:]) != string(h[:8]) {
		t.Errorf("tip %v is not the start of %v", tip, h)
	}
}
