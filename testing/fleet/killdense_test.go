//go:build linux && !race

package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

const (
	denseDevices = 3
	denseRounds  = 6
	densePieces  = 12
	denseDim     = densePieces * wire.MaxPiece / 4

	surrogateDim    = 20
	surrogateRounds = 15
)

// A denseKill is a run of separate processes in which devices send vectors.
type denseKill struct {
	killRun
	within, between int // kills within an upload, and between the phases of a round

	mu   sync.Mutex // guards loss
	loss float64    // of the last round
}

// denseKillPlan is the plan of a run in which every device sends vectors of many pieces. With
// scaffold-1 a round has two phases. With scaffold-2 a round has one phase of twice the length.
func denseKillPlan(t *testing.T, control plan.Control) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("fedzo-dense", "dense", denseDim)
	if err != nil {
		t.Fatal(err)
	}
	p.Sharing, p.Distribution = plan.SharedDirections, plan.Normal // slots are in the order of joining
	p.Control, p.DenseKeep = control, 2
	p.Steps, p.Perturbations, p.StepSize, p.Batch = 2, 1, 1e-4, 0
	p.Rounds = denseRounds
	return p
}

// surrogatePlan is the plan of a run whose devices lose points when the test kills them.
func surrogatePlan(t *testing.T) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("fzoos", "dense", surrogateDim)
	if err != nil {
		t.Fatal(err)
	}
	p.Features, p.Window, p.StepSize, p.Rounds = 1000, 100, 0.05, surrogateRounds
	return p
}

// write completes a plan and writes it to a file.
func (k *denseKill) write(p *plan.Plan) (path string) {
	k.t.Helper()
	p.RunKey = make(plan.Bytes, 32)
	p.Members, p.Target, p.Quorum = denseDevices, denseDevices, denseDevices
	p.MaxAttempts, p.Deadline, p.Reannounce, p.DigestEvery = 1000, 5000, 250, 1
	b, err := json.Marshal((*planfile.Plan)(p))
	if err != nil {
		k.t.Fatal(err)
	}
	path = filepath.Join(k.dir, "dense.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		k.t.Fatal(err)
	}
	return path
}

// denseEmbedded starts a coordinator with an embedded broker, and the devices. due decides, for
// each line that a process prints, whether the test kills that process.
func denseEmbedded(
	t *testing.T, plan *plan.Plan, due func(p *party, line map[string]any) bool,
) *denseKill {
	t.Helper()
	k := &denseKill{killRun: killRun{t: t, dir: t.TempDir(), rounds: plan.Rounds,
		phases: uint64(plan.Phases())}}
	address := freeport.Address(t)
	k.url = "nats://" + address
	hit := make(chan *party)
	watch := func(p *party, line map[string]any) {
		if loss, ok := line["loss"].(float64); ok && line["event"] == "round" {
			k.mu.Lock()
			k.loss = loss
			k.mu.Unlock()
		}
		if due(p, line) {
			hit <- p
		}
	}
	start := func(name string, args ...string) *party {
		p := &party{t: t, name: name, args: args, each: watch}
		p.begin()
		return p
	}
	k.leads = []*party{start("coordinator", "serve", k.write(plan), "--store",
		filepath.Join(k.dir, "log"), "--listen", address, "--json")}
	for i := range denseDevices {
		id := fmt.Sprintf("d%d", i)
		k.devices = append(k.devices,
			start(id, "client", "--url", k.url, "--run", "dense", "--id", id, "--json",
				"--objective", "bowl", "--dim", fmt.Sprint(plan.Dim), "--store", filepath.Join(k.dir, id)))
	}
	k.untilOver(hit)
	return k
}

// untilOver kills the processes that due chose and restarts them, until all devices have reached
// the end of the run.
func (k *denseKill) untilOver(hit <-chan *party) {
	k.t.Helper()
	patient := time.NewTimer(patience)
	defer patient.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !k.over() {
		select {
		case p := <-hit:
			if p.kill() {
				k.killed++
				k.note(p.report())
			}
			p.start()
		case <-look.C:
			k.supervise()
		case <-patient.C:
			k.t.Fatalf("not over after %v: %v", patience, k.where())
		}
	}
}

// note records what a killed process was doing, according to the last line that it printed.
func (k *denseKill) note(line map[string]any) {
	if line["event"] == "phase" {
		k.between++
	}
	if within(line) {
		k.within++
	}
}

// within reports whether a device has sent a part of its vector.
func within(line map[string]any) bool {
	received, _ := line["received"].(float64)
	size, _ := line["size"].(float64)
	return line["event"] == "working" && received > 0 && received < size
}

// killTries is how often a test tries to kill enough processes at the right moment: on a busy
// machine a signal may come too late after the line that triggered the signal.
const killTries = 10

// TestKillDense kills devices in the middle of their uploads, and the coordinator between the
// phases of a round. The result is bit-identical to the result of an undisturbed run.
func TestKillDense(t *testing.T) {
	t.Parallel()
	within, between := 0, 0
	for range killTries {
		k := killDense(t, plan.ScaffoldPoint, 6, 3)
		if within, between = within+k.within, between+k.between; within >= 2 && between >= 1 {
			return
		}
	}
	t.Errorf("%d were killed within an upload, %d between phases: too few to show anything", within,
		between)
}

// TestKillVariate kills devices in the middle of their uploads. A device then does not lose its
// control variates, although no checkpoint has them yet: the result is bit-identical to the result
// of an undisturbed run.
func TestKillVariate(t *testing.T) {
	t.Parallel()
	within := 0
	for range killTries {
		if within += killDense(t, plan.ScaffoldMean, 6, 0).within; within >= 3 {
			return
		}
	}
	t.Errorf("%d were killed within an upload, too few to show anything", within)
}

// killDense compares an undisturbed run with a run in which the test kills the given numbers of
// devices and coordinators.
func killDense(t *testing.T, control plan.Control, devices, coordinators int) *denseKill {
	t.Helper()
	calm := func(*party, map[string]any) bool { return false }
	want := denseEmbedded(t, denseKillPlan(t, control), calm).finish()

	var mu sync.Mutex
	// remaining kills: of devices (true) and of coordinators (false)
	killed, left := map[string]bool{}, map[bool]int{true: devices, false: coordinators}
	k := denseEmbedded(t, denseKillPlan(t, control), func(p *party, line map[string]any) bool {
		mu.Lock()
		defer mu.Unlock()
		what := fmt.Sprint(p.name, line["event"], line["round"], line["vector"])
		if killed[what] || !within(line) && line["event"] != "phase" || left[within(line)] == 0 {
			return false
		}
		killed[what] = true
		left[within(line)]--
		return true
	})
	if got := k.finish(); got != want {
		t.Errorf("the disturbed run ended with digest %s, want the undisturbed run's %s", got, want)
	}
	t.Logf("%d killed within an upload, %d between phases", k.within, k.between)
	return k
}

// TestKillSurrogate kills each device between rounds. A device loses the points since its last
// checkpoint, and continues with fewer points. The model differs from the model of an undisturbed
// run, but all replicas agree, and the model trains as well.
func TestKillSurrogate(t *testing.T) {
	t.Parallel()
	calm := denseEmbedded(t, surrogatePlan(t), func(*party, map[string]any) bool { return false })
	calm.finish()

	var mu sync.Mutex
	killed := map[string]bool{}
	k := denseEmbedded(t, surrogatePlan(t), func(p *party, line map[string]any) bool {
		mu.Lock()
		defer mu.Unlock()
		round, _ := line["round"].(float64)
		if killed[p.name] || p.name == "coordinator" || round < float64(5+len(killed)) {
			return false
		}
		killed[p.name] = true
		return true
	})
	k.finish()
	if k.killed < denseDevices {
		t.Errorf("%d processes were killed, want each of %d devices", k.killed, denseDevices)
	}
	if t.Logf("losses %v undisturbed, %v", calm.loss, k.loss); !(k.loss < 1.2*calm.loss) {
		t.Errorf("the disturbed run ended with loss %v, the undisturbed one with %v", k.loss,
			calm.loss)
	}
}
