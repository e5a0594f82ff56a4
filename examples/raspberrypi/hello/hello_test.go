//go:build linux && !race

package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

const patience = 3 * time.Minute

// build builds a program of a module.
func build(t *testing.T, module string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	out, err := exec.Command("go", "build", "-C", module, "-o", program, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// write writes readings of a day with a period of 24, and of noise.
func write(t *testing.T, name string, phase float64) {
	t.Helper()
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%.3f\n", 20+5*math.Sin(phase+2*math.Pi*float64(i)/24))
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

var said = regexp.MustCompile(`(?m)^record (\d+, digest [0-9a-f]+)$
^error ([0-9.]+), of the last reading as a forecast ([0-9.]+)$
^next reading ([0-9.]+)$`)

// TestHello runs the README's commands: two devices train a forecast that is better than the last
// reading, and end with the same model.
func TestHello(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	hello, zofl := build(t, "."), build(t, "../../../coordinator/zofl")
	dir, address := t.TempDir(), freeport.Address(t)
	start := func(program string, args ...string) (*exec.Cmd, *bytes.Buffer) {
		t.Helper()
		out := &bytes.Buffer{}
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		t.Cleanup(func() {
			late.Stop()
			_ = cmd.Process.Kill() // it may have ended
			if t.Failed() {
				t.Logf("%v\n%s", args, out)
			}
		})
		return cmd, out
	}
	plan, out := start(zofl, "plan", "--preset", "decomfl-adam", "--run", "hello", "--dim",
		fmt.Sprint(lags), "--set", "members=2", "--set", "target=2", "--set", "quorum=2", "--set",
		"rounds=600", "--set", "server_step=0.02", "--write", "hello.json")
	if err := plan.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	start(zofl, "serve", "hello.json", "--store", "hello.log", "--listen", address)
	var outs []*bytes.Buffer
	var devices []*exec.Cmd
	for i, name := range []string{"a", "b"} {
		write(t, filepath.Join(dir, name+".txt"), float64(i))
		cmd, out := start(hello, "nats://"+address, "hello", name, name+".txt")
		devices, outs = append(devices, cmd), append(outs, out)
	}
	var ends []string
	for i, cmd := range devices {
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, outs[i])
		}
		m := said.FindStringSubmatch(outs[i].String())
		if m == nil {
			t.Fatalf("it said\n%s", outs[i])
		}
		t.Logf("%s", outs[i])
		ends = append(ends, m[1])
		var err, last, next float64
		if _, e := fmt.Sscan(m[2]+" "+m[3]+" "+m[4], &err, &last, &next); e != nil {
			t.Fatal(e)
		}
		want := 20 + 5*math.Sin(float64(i)+2*math.Pi*300/24)
		if err > last/10 || math.Abs(next-want) > 0.5 {
			t.Errorf("%s: next %v, want %.2f, and a tenth of the error", m[0], next, want)
		}
	}
	if ends[0] != ends[1] {
		t.Errorf("models differ: %q", ends)
	}
}
