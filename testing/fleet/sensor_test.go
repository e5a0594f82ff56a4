//go:build linux && !race

package fleet

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

const (
	agents      = 3
	agentRounds = 800
)

// An agent is a process of examples/sensor with the readings of a room.
type agent struct {
	t    *testing.T
	args []string
	cmd  *exec.Cmd
	said *lockedBuffer
	done chan error
}

// A lockedBuffer holds the output of a process, to be read while it runs.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (a *agent) start() {
	a.t.Helper()
	a.said, a.done = &lockedBuffer{}, make(chan error, 1)
	a.cmd = exec.Command(a.args[0], a.args[1:]...)
	a.cmd.Stderr, a.cmd.Env = a.said, append(os.Environ(), "GOMEMLIMIT=16MiB")
	a.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := a.cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
	go func(cmd *exec.Cmd, done chan error) { done <- cmd.Wait() }(a.cmd, a.done)
}

// end sends a signal, if the signal is not nil, waits for the process, and returns the process's
// output and error.
func (a *agent) end(s os.Signal) (string, error) {
	a.t.Helper()
	if s != nil {
		if err := a.cmd.Process.Signal(s); err != nil {
			a.t.Fatalf("%v: %v\n%s", s, err, a.said)
		}
	}
	select {
	case err := <-a.done:
		return a.said.String(), err
	case <-time.After(patience):
		a.t.Fatalf("the agent has not ended:\n%s", a.said)
		return "", nil
	}
}

// sensorRun builds the example and generates rooms. It returns the agent's program, the
// rooms' directory and the plan.
func sensorRun(t *testing.T) (program, rooms, plan string) {
	t.Helper()
	dir := t.TempDir()
	program, rooms, plan = filepath.Join(dir, "sensor"), filepath.Join(dir, "rooms"),
		filepath.Join(dir, "plan.json")
	must := func(name string, args ...string) []byte {
		var errs bytes.Buffer
		cmd := exec.Command(name, args...)
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, errs.Bytes())
		}
		return out
	}
	const module = "../../examples/sensor"
	must("go", "build", "-C", module, "-o", program, ".")
	must("go", "build", "-C", module, "-o", rooms+".bin", "./rooms")
	must(rooms+".bin", rooms, "days=16", "speed=0", fmt.Sprintf("rooms=%d", agents))
	text := must(program, "plan", filepath.Join(rooms, "room-1.conf"),
		fmt.Sprintf("members=%d", agents),
		fmt.Sprintf("rounds=%d", agentRounds), "run_key="+strings.Repeat("7a", 32), "deadline=1000",
		"reannounce=250", "digest_every=16", "eval_every=50")
	if err := os.WriteFile(plan, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return program, rooms, plan
}

// metricsOf records the metrics in a coordinator's events, and signals rounds.
type metricsOf struct {
	mu     sync.Mutex
	values [][]any
	rounds chan float64
}

func (m *metricsOf) see(_ *party, line map[string]any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok := line["metrics"].([]any); ok && len(v) == 3 {
		m.values = append(m.values, v)
	}
	if r, ok := line["round"].(float64); ok {
		select {
		case m.rounds <- r:
		default: // the test does not wait for this round
		}
	}
}

// after waits until a round has ended.
func (m *metricsOf) after(t *testing.T, round float64) {
	t.Helper()
	for late := time.After(patience); ; {
		select {
		case r := <-m.rounds:
			if r >= round {
				return
			}
		case <-late:
			t.Fatalf("round %v has not come", round)
		}
	}
}

// startAgent starts the agent of a room by a command, and ends the agent with the test.
func startAgent(t *testing.T, rooms string, room int, address string, command ...string) *agent {
	t.Helper()
	a := &agent{t: t, args: append(command,
		filepath.Join(rooms, fmt.Sprintf("room-%d.conf", room+1)), "url=nats://"+address)}
	a.start()
	t.Cleanup(func() { _ = a.cmd.Process.Kill() }) // the process may have ended
	return a
}

var stoppedAt = regexp.MustCompile(`msg=stopped .*record=(\d+) digest=([0-9a-f]+)`)

// TestKillSensor trains agents on the readings of three rooms. The test kills one agent, stops
// another agent, and restarts both. At the end all agents have the model of the log. The model
// forecasts held-out readings better than the last reading does.
func TestKillSensor(t *testing.T) {
	t.Parallel()
	program, rooms, plan := sensorRun(t)
	log := filepath.Join(t.TempDir(), "log")
	address := freeport.Address(t)
	seen := &metricsOf{rounds: make(chan float64)}
	lead := &party{t: t, name: "coordinator",
		args: []string{"serve", plan, "--store", log, "--listen", address, "--json"}, each: seen.see}
	lead.begin()
	var all []*agent
	for i := range agents {
		all = append(all, startAgent(t, rooms, i, address, program))
	}
	seen.after(t, 100)
	if _, err := all[1].end(syscall.SIGKILL); err == nil {
		t.Error("the agent ended by itself before it was killed")
	}
	all[1].start()
	seen.after(t, 300)
	said, err := all[2].end(syscall.SIGTERM)
	if err != nil || !stoppedAt.MatchString(said) {
		t.Errorf("the stopped agent: %v\n%s", err, said)
	}
	if kept, err := filepath.Glob(filepath.Join(rooms, "room-3.state", "readings",
		"window-*")); err != nil || len(kept) != 1 {
		t.Errorf("got the windows %q, want one: %v", kept, err)
	}
	all[2].start()
	agree(t, all, log, lead, agentRounds)
	seen.judge(t)
}

// agree waits for the agents to end, and compares their models with the model of a log with the
// given number of rounds.
func agree(t *testing.T, all []*agent, log string, lead *party, rounds uint64) {
	t.Helper()
	var ends []string
	for i, a := range all {
		said, err := a.end(nil)
		m := stoppedAt.FindStringSubmatch(said)
		if err != nil || m == nil {
			t.Fatalf("room %d: %v\n%s", i+1, err, said)
		}
		ends = append(ends, m[1]+" "+m[2])
	}
	lead.kill()
	var v verdict
	command(t, &v, "verify", "--json", "--store", log)
	want := fmt.Sprintf("%d %s", v.Records, v.Digest)
	if got := strings.Join(ends, ", "); got != strings.Join([]string{want, want, want}, ", ") ||
		v.Rounds != rounds {
		t.Errorf("agents ended with %s, want the log's %s after %d rounds", got, want, rounds)
	}
}

// judge checks that the model forecasts held-out readings better than the last reading and the
// reading of a week ago do. Kills change which agents contribute, so the error at the end differs
// from run to run (0.51 to 0.60). judge requires an error that no untrained model reaches. judge
// does not compare with the first evaluation, because the model has learned most by then.
func (m *metricsOf) judge(t *testing.T) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.values) < 2 {
		t.Fatalf("%d evaluations", len(m.values))
	}
	last := m.values[len(m.values)-1]
	t.Logf("mse %v, then %v; of the last reading %v, of a week ago %v",
		m.values[0][0], last[0], last[1], last[2])
	end := last[0].(float64)
	if reading, week := last[1].(float64), last[2].(float64); end > 0.7*reading || end > 0.85*week {
		t.Errorf("mse %v: want at most 0.7 of the last reading's %v and 0.85 of a week ago's %v",
			end, reading, week)
	}
}
