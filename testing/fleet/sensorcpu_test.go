//go:build linux && !race

package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// cpus are the processors of TestSensorProcessors, one for each room.
var cpus = []target{
	{name: "native"},
	{name: "armv6", env: []string{"GOARCH=arm", "GOARM=6"},
		exec: []string{"qemu-arm-static", "-cpu", "arm1176"}},
	{name: "arm64", env: []string{"GOARCH=arm64"}, exec: []string{"qemu-aarch64-static"}},
}

// TestSensorProcessors trains an agent of an emulated Pi Zero, an agent of an emulated 64-bit Pi,
// and an agent of this machine in one run. No round closes before all agents have answered. All
// agents end with the model of the log. The test needs ZOFL_QEMU.
func TestSensorProcessors(t *testing.T) {
	if os.Getenv("ZOFL_QEMU") == "" {
		t.Skip("ZOFL_QEMU is not set: install qemu-user-static, and set it to 1")
	}
	const rounds = 40
	native, rooms, base := sensorRun(t)
	dir := t.TempDir()
	plan, log := filepath.Join(dir, "plan.json"), filepath.Join(dir, "log")
	var said struct{}
	command(t, &said, "plan", base, "--set", fmt.Sprint("rounds=", rounds), "--set", "quorum=3",
		"--set", fmt.Sprint("deadline=", patience.Milliseconds()), "--write", plan, "--json")
	address := freeport.Address(t)
	seen := &metricsOf{rounds: make(chan float64)}
	lead := &party{t: t, name: "coordinator",
		args: []string{"serve", plan, "--store", log, "--listen", address, "--json"}, each: seen.see}
	lead.begin()
	var all []*agent
	for i, cpu := range cpus {
		program := native
		if cpu.env != nil {
			program = sensorFor(t, cpu)
		}
		all = append(all, startAgent(t, rooms, i, address, append(slices.Clone(cpu.exec), program)...))
	}
	agree(t, all, log, lead, rounds)
}

// sensorFor builds the agent for a processor.
func sensorFor(t *testing.T, cpu target) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "sensor-"+cpu.name)
	cmd := exec.Command("go", "build", "-C", "../../examples/sensor", "-o", program, ".")
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), cpu.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build for %s: %v\n%s", cpu.name, err, out)
	}
	return program
}
