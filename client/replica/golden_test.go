package replica

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

var update = flag.Bool("update", false,
	"rewrite the golden runs; no earlier replica agrees with the new files")

// goldenFiles are the files of golden runs, and how many runs each holds.
var goldenFiles = []struct {
	name string
	runs int
}{{"testdata/golden.txt", 48}, {"testdata/late.txt", 6}, {"testdata/normalized.txt", 11},
	{"testdata/bits.txt", 6}, {"testdata/adagrad.txt", 2}, {"testdata/svrg.txt", 4},
	{"testdata/evolution.txt", 6}, {"testdata/subnormal.txt", 12},
	{"testdata/lowrank.txt", 12}}

// A golden run is a plan (JSON settings over basePlan), a number of rounds, and the digest
// that every replica must have after them.
type golden struct {
	name, settings string
	rounds         int
	scale          float32 // of the scalars; 0 is 1
	silent         int     // after so many rounds the scalars are 0; 0: never
	digest         string
}

// head returns the lines of a golden run before its digest.
func (g *golden) head() string {
	s := fmt.Sprintf("run: %s\nplan: %s\nrounds: %d\n", g.name, g.settings, g.rounds)
	if g.scale > 0 {
		s += fmt.Sprintf("scale: %x\n", g.scale)
	}
	if g.silent > 0 {
		s += fmt.Sprintf("silent: %d\n", g.silent)
	}
	return s
}

// TestGoldenReplay replays the recorded runs. The test compares the digests with those of the file
// and with those of the naive replica. The naive replica computes one element at a time. The checks
// on other architectures run this test.
func TestGoldenReplay(t *testing.T) {
	replays(t)
	for _, file := range goldenFiles {
		replayGolden(t, file.name, file.runs)
	}
}

// replays skips a test with -short if all replays of the test run in one goroutine. For the race
// detector TestMethodsWorkers runs every method in several goroutines.
func replays(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it replays in one goroutine")
	}
}

func replayGolden(t *testing.T, file string, count int) {
	runs := readGoldenFile(t, file)
	if len(runs) != count {
		t.Fatalf("%s has %d runs, want %d", file, len(runs), count)
	}
	var out bytes.Buffer
	for _, g := range runs {
		r := replay(t, g, func(_ Config, r *Replica) *Replica { return r })
		got, naive := hex.EncodeToString(digestOf(r)), hex.EncodeToString(naiveReplay(t, g))
		if got != naive {
			t.Errorf("%s: digest %s, one element at a time %s", g.name, got, naive)
		}
		if got != g.digest && !*update {
			t.Errorf("%s: digest %s, want %s", g.name, got, g.digest)
		}
		fmt.Fprintf(&out, "%sdigest: %s\n\n", g.head(), naive)
	}
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func digestOf(r *Replica) []byte {
	d := r.Digest()
	return d[:]
}

// readGolden returns all golden runs.
func readGolden(t *testing.T) (runs []golden) {
	t.Helper()
	for _, file := range goldenFiles {
		runs = append(runs, readGoldenFile(t, file.name)...)
	}
	return runs
}

// readGoldenFile reads blocks of "key: value" lines, each ended by a blank line.
func readGoldenFile(t *testing.T, file string) []golden {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var runs []golden
	var g golden
	for s := bufio.NewScanner(f); s.Scan(); {
		key, value, _ := strings.Cut(s.Text(), ": ")
		switch key {
		case "run":
			g = golden{name: value}
		case "plan":
			g.settings = value
		case "rounds":
			fmt.Sscan(value, &g.rounds)
		case "scale":
			fmt.Sscan(value, &g.scale)
		case "silent":
			fmt.Sscan(value, &g.silent)
		case "digest":
			g.digest = value
			runs = append(runs, g)
		}
	}
	return runs
}

// replay applies the records of a golden run. Before each record but the first, between may
// replace the replica.
func replay(t *testing.T, g golden, between func(Config, *Replica) *Replica) *Replica {
	t.Helper()
	s := scriptOf(t, g)
	r := New(s.cfg)
	for i, record := range s.records {
		if i > 0 {
			r = between(s.cfg, r)
		}
		s.apply(t, r, record)
	}
	return r
}

func mustApply(t testing.TB, r *Replica, record []byte) {
	t.Helper()
	if err := r.Apply(record); err != nil {
		t.Fatal(err)
	}
}

func basePlan() *plan.Plan {
	return &plan.Plan{
		Run: "golden", Scheme: prng.Scheme, RunKey: bytes.Repeat([]byte{7}, 32), Dim: 1,
		ProbeFields: plan.ProbeFields{
			Distribution: plan.Normal, Difference: plan.Central, Mu: 1e-3, Steps: 1, Perturbations: 1,
		},
		LocalFields:     plan.LocalFields{Rule: plan.SGD, StepSize: 0.01},
		AggregateFields: plan.AggregateFields{MaxWeight: 1, MaxScalar: 1e6},
		RoundsFields: plan.RoundsFields{
			Members: 1, Target: 1, OverSample: 1, Quorum: 1, Deadline: 1000, MaxAttempts: 1,
			Reannounce: 1000, Shards: 1,
		},
	}
}

// A chain encodes consecutive records.
type chain struct {
	n    uint64
	prev wire.Hash
}

func newChain(run string) *chain { return &chain{prev: wire.Genesis(run)} }

func (c *chain) add(r wire.Record) []byte {
	c.n++
	r.N, r.Prev, r.Epoch = c.n, c.prev, 1
	b := r.Append(nil)
	c.prev = wire.HashRecord(b)
	return b
}

func (c *chain) plan(p *plan.Plan) []byte {
	return c.add(wire.Record{Kind: wire.KindPlan, Plan: p})
}

func (c *chain) round(n uint64, step float32, p uint32, scalars wire.Scalars) []byte {
	return c.add(wire.Record{Kind: wire.KindRound, Round: &wire.Round{
		Round: n, StepSize: step, Perturbations: p, Contributors: 1,
		Terms: []wire.Term{{Scalars: scalars}},
	}})
}

// lcg is Knuth's MMIX generator. The test has its own generator so that no change of a library
// alters the numbers.
type lcg uint64

func (g *lcg) float() float32 {
	*g = *g*6364136223846793005 + 1442695040888963407
	return float32(int32(*g>>32)) / (1 << 28) // in [-8, 8), exact to 24 bits
}

func (g *lcg) scalars(n int) wire.Scalars { return g.travel(plan.Single, n) }

// travel returns a block of n scalars.
func (g *lcg) travel(precision plan.Precision, n int) wire.Scalars {
	block := make([]float32, n)
	for i := range block {
		block[i] = g.float()
	}
	return precision.Append(nil, block...)
}

// below returns a number in [0, n).
func (g *lcg) below(n uint32) uint32 {
	g.float()
	return uint32(uint64(*g>>32) * uint64(n) >> 32)
}

// TestDigestIsSensitive checks that a digest depends on every bit, NaN payloads aside.
func TestDigestIsSensitive(t *testing.T) {
	x := make([]float32, 5000)
	before := Digest(x)
	x[4999] = math.Float32frombits(1)
	if Digest(x) == before {
		t.Error("the digest does not see the last element")
	}
	if Digest(x, x) == Digest(x) {
		t.Error("the digest does not see the number of vectors")
	}
	x[0] = math.Float32frombits(0x7fc00001)
	quiet := Digest(x)
	x[0] = math.Float32frombits(0xffc12345)
	if Digest(x) != quiet {
		t.Error("the digest sees the payload of a NaN")
	}
}
