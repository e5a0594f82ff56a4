package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb/logs"
)

// stop stops commands.
func stop(t *testing.T, services ...*service) {
	t.Helper()
	for _, s := range services {
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// headIn returns the head of a state file of a device.
func headIn(t *testing.T, k *kitchen, id, item string) replica.Head {
	t.Helper()
	h, err := source.Head(filepath.Join(k.dir, id, item))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// agrees waits until a device's checkpoint has a record, and checks it against the log's replay.
func (k *kitchen) agrees(id string) {
	k.t.Helper()
	h := headIn(k.t, k, id, "checkpoint")
	out, err := zofl(k.t, "verify", "--store", k.log, "--at", fmt.Sprint(h.N), "--json")
	if err != nil {
		k.t.Fatalf("verify: %v", err)
	}
	var v logs.Verdict
	decode(k.t, out, &v)
	file := filepath.Join(k.dir, id, "checkpoint")
	r, _, err := source.LoadState(file, &h, nil, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	if got := source.Digest(r); got != v.Digest {
		k.t.Errorf("device %s after record %d: digest %s, the log's is %s", id, h.N, got, v.Digest)
	}
}

// After the loss of a log, a run goes on from a device's state. Devices in that state, behind it
// and ahead of it reach the same model. Devices ahead also keep a copy of their earlier state.
func TestRecoverALostLog(t *testing.T) {
	t.Run("mean", func(t *testing.T) { recoverALostLog(t, newKitchen(t)) })
	t.Run("relay", func(t *testing.T) {
		recoverALostLog(t, newKitchenOf(t, []string{"--preset", "fedzo"}))
	})
	t.Run("dense", func(t *testing.T) {
		recoverALostLog(t, newKitchenOf(t, []string{"--preset", "fedzo-dense", "--set",
			"dense_keep=100000"}))
	})
}

func recoverALostLog(t *testing.T, k *kitchen) {
	a, b, c := k.device("a"), k.device("b"), k.device("c")
	k.reach(8)
	stop(t, c) // behind
	k.follows("b", 1)
	stop(t, b) // the donor
	k.follows("a", headIn(t, k, "b", "checkpoint").N)
	stop(t, k.lead, a)
	donor := headIn(t, k, "b", "checkpoint")
	ahead := headIn(t, k, "a", "checkpoint")
	if ahead.N <= donor.N {
		t.Fatalf("device a has record %d, the donor %d", ahead.N, donor.N)
	}
	lost := k.log
	k.log = filepath.Join(k.dir, "recovered")
	out, err := zofl(t, "recover", "--from", filepath.Join(k.dir, "b"), "--store", k.log, "--json")
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Run string `json:"run"`
		N   uint64 `json:"n"`
	}
	if err := json.Unmarshal([]byte(out), &made); err != nil || made.Run != "kitchen" ||
		made.N != donor.N {
		t.Fatalf("recovered %s, %v; want record %d", out, err, donor.N)
	}
	verdictOf := func() (v logs.Verdict) {
		out, err := zofl(t, "verify", "--store", k.log, "--json")
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		decode(t, out, &v)
		return v
	}
	if v := verdictOf(); v.Records != donor.N || v.Begins != donor.N || v.Digest == "" {
		t.Errorf("verify of the new log: %+v", v)
	}
	k.lead = k.leads("--accept-loss", "1000")
	a, b, c = k.device("a"), k.device("b"), k.device("c")
	w := background(t, "follow", "--url", k.url, "--run", "kitchen", "--id", "w", "--json",
		"--store", filepath.Join(k.dir, "w"))
	k.reach(donor.N + 40)
	if _, err := k.ask("rollback", fmt.Sprint(donor.N-1)); err == nil {
		t.Error("a rollback to a record that is lost was accepted")
	}
	back, err := k.ask("rollback", fmt.Sprint(donor.N+3))
	if err != nil {
		t.Fatal(err)
	}
	after := k.reach(back.N + 20).N                   // the rollback
	for _, id := range []string{"a", "b", "c", "w"} { // all of them follow the new log
		k.reaches(id, func(h *replica.Head) bool {
			return h.N >= after && h.Hash != ahead.Hash
		})
	}
	stop(t, a, b, c, w, k.lead)
	for _, id := range []string{"a", "b", "c", "w"} {
		k.agrees(id)
	}
	if h := headIn(t, k, "b", "checkpoint"); h.Snapshot > 0 {
		t.Errorf("the donor took a snapshot, of record %d", h.Snapshot)
	}
	if out, err := zofl(t, "log", "--store", k.log); err != nil ||
		strings.HasPrefix(out, fmt.Sprintf("%d ", donor.N)) {
		t.Errorf("log: %v, %.80s", err, out)
	}
	refuse := []string{"recover", "--from", filepath.Join(k.dir, "a"), "--store"}
	for _, store := range []string{k.log, lost} {
		if _, err := zofl(t, append(refuse, store)...); cli.ExitCode(err, false) != cli.ExitUsage {
			t.Errorf("over a log: %v", err)
		}
	}
	if _, err := zofl(t, "export", "--store", k.log, "--at", fmt.Sprint(donor.N-1), "--out",
		filepath.Join(k.dir, "x.npy")); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprint("after record ", donor.N)) {
		t.Errorf("export of a lost record: %v", err)
	}
}

// follows waits until a device has a checkpoint after record n.
func (k *kitchen) follows(id string, n uint64) {
	k.t.Helper()
	k.reaches(id, func(h *replica.Head) bool { return h.N > n })
}

// reaches waits until a device has a checkpoint that is wanted.
func (k *kitchen) reaches(id string, wanted func(*replica.Head) bool) {
	k.t.Helper()
	file := filepath.Join(k.dir, id, "checkpoint")
	await.That(k.t, "device "+id+" has the checkpoint", func() bool {
		h, err := source.Head(file)
		return err == nil && wanted(&h)
	})
}
