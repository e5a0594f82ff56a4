package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/logkind"
	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb/logs"
)

// newDenseKitchen is a run of small surrogates that keeps 4 vectors.
func newDenseKitchen(t *testing.T) *kitchen {
	t.Helper()
	return newKitchenOf(t, []string{"--preset", "fzoos", "--set", "features=40", "--set",
		"window=30", "--set", "steps=2", "--set", "dense_keep=4"})
}

// verified returns the output of zofl verify for a log on disk.
func (k *kitchen) verified(log string) (v logs.Verdict) {
	k.t.Helper()
	text, err := zofl(k.t, "verify", "--store", log, "--json")
	if err != nil {
		k.t.Fatal(err)
	}
	decode(k.t, text, &v)
	return v
}

// objects are the files of the vectors of a log.
func (k *kitchen) objects(log string) []string {
	k.t.Helper()
	files, err := filepath.Glob(filepath.Join(log, "objects", "*"))
	if err != nil {
		k.t.Fatal(err)
	}
	return files
}

// TestDenseRun goes through an operator's day with a run of vectors.
func TestDenseRun(t *testing.T) {
	k := newDenseKitchen(t)
	a, b := k.device("a"), k.device("b")
	s := k.reach(12)
	for s.State == "waiting" && s.N < 1000 { // for the log: between rounds there is no phase
		s = k.reach(12)
	}
	if s.Counters.UploadBytes == 0 || s.Counters.Objects == 0 || s.Phase == 0 {
		t.Errorf("status %+v, want vectors in it", s)
	}
	if text, err := zofl(t, "status", "--url", k.url, "--run", "kitchen"); err != nil ||
		!strings.Contains(text, "vectors fetched") {
		t.Errorf("status %v:\n%s", err, text)
	}
	paused, err := k.ask("pause")
	if err != nil {
		t.Fatal(err)
	}
	live := filepath.Join(k.dir, "live.f32")
	at := fmt.Sprint(paused.N)
	if _, err := zofl(t, "export", "--url", k.url, "--run", "kitchen", "--at", at, "--out",
		live); err != nil {
		t.Fatal(err)
	}
	_, err = zofl(t, "export", "--url", k.url, "--run", "kitchen", "--at", "3", "--out",
		filepath.Join(k.dir, "gone.f32"))
	refused(t, err, []string{"--at", "record 3", "dense_keep = 4",
		fmt.Sprintf("1, %d-%d", paused.N-2, paused.N)})
	if text, err := zofl(t, "verify", "--url", k.url, "--run", "kitchen"); err != nil ||
		cell(text, "vectors") != "4 match their records, 480 B" {
		t.Errorf("verify %v:\n%s", err, text)
	}

	// How many vectors the log keeps follows changes of dense_keep. Rollbacks undo such changes.
	for _, command := range [][]string{{"change", "dense_keep=7"}, {"resume"}} {
		if _, err := k.ask(command...); err != nil {
			t.Fatal(command, err)
		}
	}
	k.reach(paused.N + 9)
	again, err := k.ask("pause")
	if err != nil {
		t.Fatal(err)
	}
	if rolled, err := k.ask("rollback", fmt.Sprint(again.N-3)); err != nil ||
		rolled.N != again.N+1 {
		t.Fatalf("rollback: %+v, %v", rolled, err)
	}
	if _, err := k.ask("resume"); err != nil {
		t.Fatal(err)
	}
	k.reach(again.N + 4)
	if _, err := k.ask("stop"); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*service{a, b} {
		waitFor(t, d, `"event":"stopped"`)
	}
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	v := k.verified(k.log)
	if v.Vectors == nil || v.Vectors.Right != 7 || len(k.objects(k.log)) != 7 || v.Digest == "" {
		t.Errorf("verified %+v, %+v of %d vectors, want 7", v, v.Vectors, len(k.objects(k.log)))
	}
	for _, d := range []*service{a, b} {
		if !strings.Contains(d.out.String(), fmt.Sprintf(`{"digest":%q,"event":"stopped"`,
			v.Digest)) {
			t.Errorf("a device did not end with digest %s", v.Digest)
		}
	}
	if x, err := vector.Read(live); err != nil || len(x) != kitchenDim {
		t.Errorf("exported %v, %v", x, err)
	}
	k.damage()
	k.moved(v)
}

// damage checks what commands report about a log that lacks one of its vectors.
func (k *kitchen) damage() {
	t := k.t
	t.Helper()
	bad := filepath.Join(k.dir, "bad")
	if err := os.CopyFS(bad, os.DirFS(k.log)); err != nil {
		t.Fatal(err)
	}
	files := k.objects(bad)
	first, last := files[0], files[len(files)-1]
	if err := os.WriteFile(first, make([]byte, 80), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := zofl(t, "verify", "--store", bad)
	if cli.ExitCode(err, false) != cli.ExitCorrupt ||
		!strings.Contains(err.Error(), "damaged of records ["+record(first)+"]") {
		t.Errorf("a damaged vector: %v", err)
	}
	if !strings.HasPrefix(cell(text, "vectors"), "6 match their records") {
		t.Errorf("a damaged vector:\n%s", text)
	}
	if err := os.Remove(last); err != nil {
		t.Fatal(err)
	}
	text, err = zofl(t, "verify", "--store", bad)
	if cli.ExitCode(err, false) != cli.ExitCorrupt ||
		!strings.Contains(err.Error(), "missing of records ["+record(last)+"], damaged") ||
		!strings.HasPrefix(cell(text, "digest of the state"),
			"not computed: vector of record "+record(last)) {
		t.Errorf("a missing vector: %v:\n%s", err, text)
	}
	if _, err := zofl(t, "export", "--store", bad, "--out",
		filepath.Join(k.dir, "bad.f32")); cli.ExitCode(err, false) != cli.ExitCorrupt {
		t.Errorf("export without a vector: %v", err)
	}
}

// record returns the number of the record to which a vector's file belongs.
func record(file string) string {
	n, _, _ := strings.Cut(filepath.Base(file), "-")
	return n
}

// moved checks that zofl log move moves a log's vectors too.
func (k *kitchen) moved(want logs.Verdict) {
	t := k.t
	t.Helper()
	b, err := broker.Run(broker.Config{JetStream: t.TempDir(),
		Listen: strings.TrimPrefix(k.url, "nats://")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	back := filepath.Join(k.dir, "back")
	for _, way := range [][]string{{k.log, logkind.JetStream}, {logkind.JetStream, back}} {
		if _, err := zofl(t, "log", "move", "--url", k.url, "--run", "kitchen", "--from", way[0],
			"--to", way[1]); err != nil {
			t.Fatal(way, err)
		}
	}
	if v := k.verified(back); v.Digest != want.Digest || v.Hash != want.Hash ||
		fmt.Sprint(*v.Vectors) != fmt.Sprint(*want.Vectors) {
		t.Errorf("moved %+v %+v, got %+v %+v", want, want.Vectors, v, v.Vectors)
	}
	text, err := zofl(t, "verify", "--jetstream", "--url", k.url, "--run", "kitchen")
	if err != nil || cell(text, "digest of the state") != want.Digest {
		t.Errorf("of the JetStream: %v:\n%s", err, text)
	}
}

// TestDenseServeContinues: after a restart, the coordinator goes on with the vectors in its log,
// and devices with the vectors in their stores.
func TestDenseServeContinues(t *testing.T) {
	k := newDenseKitchen(t)
	k.device("a")
	b := k.device("b")
	before := k.reach(6)
	if err := errors.Join(b.stop(), k.lead.stop()); err != nil {
		t.Fatal(err)
	}
	k.lead = background(t, "serve", "--store", k.log, "--listen",
		strings.TrimPrefix(k.url, "nats://"))
	k.device("b")
	if after := k.reach(before.N + 6); after.Epoch <= before.Epoch || after.ObjectError != "" {
		t.Errorf("went on from %+v to %+v", before, after)
	}
}
