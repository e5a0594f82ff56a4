//go:build linux && !race

package fleet

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// configExit is the exit code of an agent with an unusable configuration.
const configExit = 78

// TestKillSensorSecret trains agents in a run whose key only the agents have. The test kills one
// agent and restarts it. Agents without the key, or with another key, do not take part and say what
// is missing. At the end the log gives the model of the other agents to any holder of the key.
func TestKillSensorSecret(t *testing.T) {
	t.Parallel()
	program, rooms, plan := sensorRun(t)
	dir := t.TempDir()
	log, key, other, private := filepath.Join(dir, "log"), filepath.Join(dir, "key"),
		filepath.Join(dir, "other"), filepath.Join(dir, "private.json")
	var said any
	command(t, &said, "plan", plan, "--set", "members=2", "--set", "target=2", "--set", "quorum=2",
		"--set", "eval_count=2",
		"--set", "rounds=200", "--secret", key, "--write", private, "--json")
	command(t, &said, "plan", "--dim", "1", "--secret", other, "--json")
	address := freeport.Address(t)
	seen := &metricsOf{rounds: make(chan float64)}
	lead := &party{t: t, name: "coordinator",
		args: []string{"serve", private, "--store", log, "--listen", address, "--json"}, each: seen.see}
	lead.begin()
	start := func(room int, settings ...string) *agent {
		a := &agent{t: t, args: append([]string{program,
			filepath.Join(rooms, fmt.Sprintf("room-%d.conf", room)), "url=nats://" + address}, settings...)}
		a.start()
		t.Cleanup(func() { _ = a.cmd.Process.Kill() }) // the process may have ended
		return a
	}
	for _, wrong := range []string{"secret=" + other, "secret="} {
		// Use the id of a device that joins later: the coordinator waits for every device
		// that joined.
		text, err := start(1, wrong, "state="+t.TempDir()).end(nil)
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) ||
			exit.ExitCode() != configExit || !strings.Contains(text, "run key") {
			t.Errorf("%s: %v, want exit code %d and the reason:\n%s", wrong, err, configExit, text)
		}
	}
	one, two := start(1, "secret="+key), start(2, "secret="+key)
	seen.after(t, 50)
	if _, err := one.end(syscall.SIGKILL); err == nil {
		t.Error("the agent ended by itself before it was killed")
	}
	one.start()
	var ends []string
	for i, a := range []*agent{one, two} {
		text, err := a.end(nil)
		m := stoppedAt.FindStringSubmatch(text)
		if err != nil || m == nil {
			t.Fatalf("room %d: %v\n%s", i+1, err, text)
		}
		ends = append(ends, m[1]+" "+m[2])
	}
	lead.kill()
	var v verdict
	command(t, &v, "verify", "--json", "--store", log, "--secret", key)
	if want := fmt.Sprintf("%d %s", v.Records, v.Digest); v.Digest == "" ||
		ends[0] != want || ends[1] != want {
		t.Errorf("agents ended with %q, want the log's %s", ends, want)
	}
}
