//go:build linux && !race

package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/testing/servers"
)

// TestKillAfterRollback kills the coordinator, and the broker in the coordinator's process, right
// after a rollback. Devices then do not wait for answers that cannot come. The next record comes
// long before a deadline.
func TestKillAfterRollback(t *testing.T) {
	const devices, deadline, rollbacks = 4, 40 * time.Second, 6
	dir := t.TempDir()
	p := testPlan(t, "rollback", 50, devices, 0)
	p.Deadline, p.Reannounce = uint32(deadline/time.Millisecond), 500
	b, err := json.Marshal((*planfile.Plan)(p))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "plan.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeport.Address(t)
	url := "nats://" + address
	lead := newParty(t, "coordinator", "serve", path, "--store", filepath.Join(dir, "log"),
		"--listen", address, "--json")
	for i := range devices {
		id := fmt.Sprint("d", i)
		d := &party{t: t, name: id, each: func(p *party, line map[string]any) {
			err, _ := line["err"].(string)
			if strings.Contains(err, "no answer in") || strings.Contains(err, "time was up") {
				t.Errorf("%s waited for nothing: %s", p.name, err)
			}
		}}
		d.args = []string{"client", "--url", url, "--run", "rollback", "--id", id, "--json",
			"--objective", "bowl", "--dim", "50", "--delay", "1ms",
			"--store", filepath.Join(dir, id)}
		d.begin()
	}
	past := func(n float64) func() error {
		return func() error {
			if last, ok := lead.report()["n"].(float64); !ok || last <= n {
				return fmt.Errorf("the last event is %v", lead.report())
			}
			return nil
		}
	}
	servers.Eventually(t, "some rounds", past(20))
	for i := range rollbacks {
		before := lead.report()["n"].(float64)
		to := fmt.Sprint(1 + i%2*int(before/2))
		out, err := exec.Command(zofl(t), "rollback", to, "--url", url, "--run",
			"rollback").CombinedOutput()
		lead.kill()
		if err != nil {
			t.Fatalf("zofl rollback: %v\n%s", err, out)
		}
		after := lead.report()["n"].(float64)
		began := time.Now()
		lead.start()
		servers.Eventually(t, "a record", past(after))
		if took := time.Since(began); took > deadline/2 {
			t.Errorf("rollback %d: the next record came after %v, with a deadline of %v", i, took,
				deadline)
		} else {
			t.Logf("rollback %d: the next record came after %v", i, took)
		}
		servers.Eventually(t, "some rounds", past(after+5))
	}
}
