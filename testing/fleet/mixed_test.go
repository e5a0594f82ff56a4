package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker"
)

// A target is a processor that devices run on.
type target struct {
	name string
	env  []string
	exec []string // emulator and its flags
}

// natives run without an emulator on the machines that run these tests.
var natives = map[string][]target{
	"amd64": {
		{name: "amd64", env: []string{"GOARCH=amd64"}},
		{name: "386", env: []string{"GOARCH=386"}},
	},
	"arm64": {{name: "arm64", env: []string{"GOARCH=arm64"}}},
}

var emulated = []target{
	{name: "armv6", env: []string{"GOARCH=arm", "GOARM=6"},
		exec: []string{"qemu-arm-static", "-cpu", "arm1176"}},
	{name: "armv7", env: []string{"GOARCH=arm", "GOARM=7"}, exec: []string{"qemu-arm-static"}},
	{name: "arm64", env: []string{"GOARCH=arm64"}, exec: []string{"qemu-aarch64-static"}},
	{name: "riscv64", env: []string{"GOARCH=riscv64"}, exec: []string{"qemu-riscv64-static"}},
	{name: "s390x", env: []string{"GOARCH=s390x"}, exec: []string{"qemu-s390x-static"}},
}

// deviceReport is the output of a device; see cmd/device.
type deviceReport struct {
	ID            string `json:"id"`
	Arch          string `json:"arch"`
	N             uint64 `json:"n"`
	Digest        string `json:"digest"`
	Contributions int    `json:"contributions"`
}

// TestMixedArchitectures trains one model with processes of different architectures over a real
// broker. All processes must end with the bits of a replay of the log. With ZOFL_QEMU set, emulated
// processors take part too.
func TestMixedArchitectures(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a device for each architecture")
	}
	targets := natives[runtime.GOARCH]
	if os.Getenv("ZOFL_QEMU") != "" {
		targets = append(targets, emulated...)
	}
	if len(targets) == 0 {
		t.Fatalf("no target for %s: add it to natives", runtime.GOARCH)
	}
	binaries := make([]string, len(targets))
	for i, target := range targets {
		binaries[i] = build(t, target)
	}
	const rounds, dim = 10, 5000
	p := testPlan(t, "mixed", dim, uint32(len(targets)), rounds)
	p.Steps, p.Rule, p.Beta = 2, 2, 0.9
	l := startLead(t, p, broker.Config{})

	reports := make([]deviceReport, len(targets))
	var all sync.WaitGroup
	for i, target := range targets {
		all.Go(func() {
			args := append(append([]string{}, target.exec...), binaries[i],
				"-url", l.broker.URL(), "-run", "mixed", "-id", target.name, "-dim", fmt.Sprint(dim),
				"-within", patience.String())
			reports[i] = runDevice(t, args)
		})
	}
	all.Wait()
	w := l.witness("mixed")
	want := fmt.Sprintf("%x", w.Digest())
	for i, r := range reports {
		if r.Digest != want || r.N != w.N() || r.Contributions != rounds {
			t.Errorf("%s: %+v, want digest %s after record %d and %d contributions",
				targets[i].name, r, want, w.N(), rounds)
		}
	}
}

// build compiles cmd/device for a target.
func build(t *testing.T, target target) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "device-"+target.name)
	cmd := exec.Command("go", "build", "-o", binary, "../cmd/device")
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), target.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build for %s: %v\n%s", target.name, err, out)
	}
	return binary
}

func runDevice(t *testing.T, args []string) (r deviceReport) {
	var stderr bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v: %v\n%s", args, err, stderr.String())
		return r
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Errorf("%v printed %q: %v", args, out, err)
	}
	return r
}
