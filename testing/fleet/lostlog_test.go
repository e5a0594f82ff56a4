//go:build linux && !race

package fleet

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// reached reports whether a device reported record n or a later record.
func reached(d *party, n float64) bool {
	at, ok := d.report()["n"].(float64)
	return ok && at >= n
}

// state returns an item of a device's store.
func (k *killRun) state(id, item string) []byte {
	b, err := os.ReadFile(filepath.Join(k.dir, id, item))
	if err != nil && !os.IsNotExist(err) {
		k.t.Fatal(err)
	}
	return b
}

// TestLostLog kills the coordinator and removes its log. The same command does not begin the run
// again: the command pauses the run, and no device loses its model. With a log made from one
// device's state the run continues, and all devices end with the model of that log.
func TestLostLog(t *testing.T) {
	t.Parallel()
	k := &killRun{t: t, dir: t.TempDir(), rounds: killRounds, phases: 1}
	address := freeport.Address(t)
	k.url = "nats://" + address
	plan := killPlan(t, k.dir, "lostlog", 6, 4)
	log := filepath.Join(k.dir, "log")
	serve := func(store string, flags ...string) *party {
		return newParty(t, "coordinator", append([]string{"serve", plan, "--store", store,
			"--listen", address, "--json"}, flags...)...)
	}
	lead := serve(log)
	k.start("lostlog")
	until(t, "round 70", func() bool { return reached(k.devices[0], 72) })
	k.devices[0].kill() // the device is far behind
	until(t, "round 130", func() bool { return reached(k.devices[1], 132) })
	k.devices[1].kill() // the device has a checkpoint of record 128 or a later record
	lead.kill()
	if err := os.Rename(log, filepath.Join(k.dir, "gone")); err != nil {
		t.Fatal(err)
	}
	before := k.state("d1", "checkpoint")

	lead = serve(log) // the same command, without the log
	k.devices[1].start()
	var status struct {
		N      uint64 `json:"n"`
		State  string `json:"state"`
		Reason string `json:"reason"`
	}
	until(t, "the run pauses", func() bool {
		out, err := exec.Command(zofl(t), "status", "--url", k.url, "--run", "lostlog",
			"--json").Output()
		return err == nil && json.Unmarshal(out, &status) == nil && status.State == "paused" &&
			strings.Contains(status.Reason, "zofl recover")
	})
	if status.N > 1 {
		t.Errorf("the run began again, and has %d records", status.N)
	}
	lead.kill()
	for _, d := range k.devices {
		d.kill()
	}
	kept := k.state("d1", "checkpoint")
	if h, err := replica.ReadHead(bytes.NewReader(kept)); err != nil || h.N < 64 {
		kept = k.state("d1", "checkpoint-before")
	}
	was, err := replica.ReadHead(bytes.NewReader(before))
	if err != nil {
		t.Fatal(err)
	}
	if h, err := replica.ReadHead(bytes.NewReader(kept)); err != nil || h.N < was.N {
		t.Fatalf("device d1 had record %d, and keeps record %d (%v)", was.N, h.N, err)
	}

	var made struct {
		N uint64 `json:"n"`
	}
	command(t, &made, "recover", "--from", filepath.Join(k.dir, "d1"), "--store",
		filepath.Join(k.dir, "recovered"), "--json")
	k.leads = []*party{serve(filepath.Join(k.dir, "recovered"), "--accept-loss", "100")}
	for _, d := range k.devices {
		d.start()
	}
	k.disturb(nil, false)
	k.leads[0].kill()
	k.judge("--store", filepath.Join(k.dir, "recovered"))
	t.Logf("the log goes on after record %d", made.N)
}
