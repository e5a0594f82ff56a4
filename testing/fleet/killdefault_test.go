//go:build linux && !race

package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/testing/servers"
)

// TestKillDefault kills `zofl serve` again and again in a run of the default preset, with its log
// in a directory and in JetStream, where a coordinator on standby takes over. Each round waits for
// all devices. The model has the bits of an undisturbed run.
func TestKillDefault(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of processes that are killed")
	}
	t.Parallel()
	want := defaultRun(t, fileLead, 0)
	if got := defaultRun(t, fileLead, 3); got != want {
		t.Errorf("with the log in a directory the run ended with digest %s, want %s", got, want)
	}
	if got := defaultRun(t, streamLeads, 2); got != want {
		t.Errorf("with the log in JetStream the run ended with digest %s, want %s", got, want)
	}
}

const (
	defaultRounds  = 60
	defaultDevices = 3
)

// defaultRun runs devices and coordinators, and kills the leading coordinator when some of the
// rounds are done. defaultRun returns the digest of the log's last state.
func defaultRun(t *testing.T, leads func(k *killRun, plan string) []string, kills int) string {
	t.Helper()
	p, err := preset.New("zofl", "default", killDim)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey = make(plan.Bytes, 32) // the same in all runs that are compared
	p.Members, p.Target, p.Quorum, p.Rounds = defaultDevices, defaultDevices, defaultDevices,
		defaultRounds
	p.Reannounce, p.Diverge = 250, 0
	b, err := json.Marshal((*planfile.Plan)(p))
	if err != nil {
		t.Fatal(err)
	}
	k := &killRun{t: t, dir: t.TempDir()}
	path := filepath.Join(k.dir, "plan.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	log := leads(k, path)
	joined := make(chan struct{}, defaultDevices)
	for _, l := range k.leads {
		l.each = func(_ *party, line map[string]any) {
			if line["event"] == "joined" {
				joined <- struct{}{}
			}
		}
		l.begin()
	}
	for i := range defaultDevices {
		id := fmt.Sprintf("d%d", i)
		k.devices = append(k.devices, newParty(t, id, "client", "--url", k.url, "--run", "default",
			"--id", id, "--json", "--objective", "bowl", "--dim", fmt.Sprint(killDim), "--delay", "2ms",
			"--store", filepath.Join(k.dir, id)))
		<-joined // devices get slots in this order
	}
	for i := range kills {
		k.reached(float64((i + 1) * defaultRounds / (kills + 2)))
		k.killLeader()
	}
	servers.Eventually(t, "all devices to end", func() error {
		k.supervise()
		if !k.over() {
			return fmt.Errorf("they are at%s", k.where())
		}
		return nil
	})
	for _, l := range k.leads {
		l.kill()
	}
	var v verdict
	command(t, &v, append([]string{"verify", "--json"}, log...)...)
	if v.Rounds != defaultRounds || v.Epoch != uint64(kills+1) {
		t.Errorf("the log has %d rounds and epoch %d after %d kills", v.Rounds, v.Epoch, kills)
	}
	return v.Digest
}

// fileLead is one coordinator, with a broker of its own and the log in a directory.
func fileLead(k *killRun, plan string) (log []string) {
	log = []string{"--store", filepath.Join(k.dir, "log")}
	address := freeport.Address(k.t)
	k.url = "nats://" + address
	k.leads = []*party{{t: k.t, name: "coordinator", args: append([]string{"serve", plan, "--listen",
		address, "--json"}, log...)}}
	return log
}

// streamLeads are two coordinators with one log in JetStream.
func streamLeads(k *killRun, plan string) (log []string) {
	brokers := servers.Start(k.t, 1)
	k.url = brokers.URL()
	for i := range 2 {
		k.leads = append(k.leads, &party{t: k.t, name: fmt.Sprint("coordinator ", i),
			args: []string{"serve", plan, "--url", k.url, "--jetstream", "--lease", "2s",
				"--allow-unsynced", "--json"}})
	}
	return []string{"--url", k.url, "--run", "default", "--jetstream"}
}

// reached waits until a coordinator has reported a round.
func (k *killRun) reached(number float64) {
	k.t.Helper()
	servers.Eventually(k.t, "more rounds", func() error {
		for _, l := range k.leads {
			if roundOf(l) >= number {
				return nil
			}
		}
		return fmt.Errorf("no coordinator has reported round %v", number)
	})
}

// killLeader kills the coordinator that reported the last round, and starts it again.
func (k *killRun) killLeader() {
	last := k.leads[0]
	for _, l := range k.leads {
		if roundOf(l) > roundOf(last) {
			last = l
		}
	}
	last.kill()
	last.start()
}

func roundOf(p *party) float64 {
	n, _ := p.report()["round"].(float64)
	return n
}
