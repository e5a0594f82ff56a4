//go:build linux && !race

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A pi is a processor of Raspberry Pis, and how to run its programs here.
type pi struct {
	name string
	env  []string
	exec []string
}

// pis are this machine, and with ZOFL_QEMU the processors of all Pis.
func pis() []pi {
	list := []pi{{name: "a"}, {name: "b"}}
	if os.Getenv("ZOFL_QEMU") != "" {
		list = append(list,
			pi{"zero", []string{"GOARCH=arm", "GOARM=6"}, []string{"qemu-arm-static", "-cpu", "arm1176"}},
			pi{"two", []string{"GOARCH=arm", "GOARM=7"}, []string{"qemu-arm-static"}},
			pi{"five", []string{"GOARCH=arm64"}, []string{"qemu-aarch64-static"}})
	}
	return list
}

// build builds the program of a folder.
func build(t *testing.T, folder string, env ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command("go", "build", "-C", folder, "-o", program, ".")
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", env, err, out)
	}
	return program
}

// record writes readings of a sensor with a period of 24.
func record(t *testing.T, file string, phase int) {
	t.Helper()
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%.3f\n", reading(phase+i))
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func reading(i int) float64 { return 20 + 5*math.Sin(2*math.Pi*float64(i)/24) }

// lead serves the README's plan until the test ends, and returns the broker's URL.
func lead(ctx context.Context, t *testing.T, dir string, members int) string {
	t.Helper()
	zofl := build(t, "../../coordinator/zofl")
	plan := exec.CommandContext(ctx, zofl, "plan", "--run", "garden", "--dim", fmt.Sprint(dim),
		"--set", "rounds=200", "--set", fmt.Sprint("members=", members), "--write", "garden.json")
	plan.Dir = dir
	if out, err := plan.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	serve := exec.CommandContext(ctx, zofl, "serve", "garden.json", "--store", "log",
		"--listen", "127.0.0.1:0")
	serve.Dir = dir
	said, err := serve.StderrPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Kill() // it may have ended
		_ = serve.Wait()
	})
	broker := regexp.MustCompile(`broker=(nats://[0-9.:]+)`)
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if m := broker.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, said) }()
			return m[1]
		}
	}
	t.Fatal("the coordinator ended before it named its broker")
	return ""
}

// TestDevices runs the README's commands: devices with the same kind of sensor, on every processor
// of a Pi where it can be emulated, end with one model, which forecasts each one's next reading.
func TestDevices(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	dir, all, native := t.TempDir(), pis(), build(t, ".")
	url := lead(ctx, t, dir, len(all))
	var outs []*bytes.Buffer
	var devices []*exec.Cmd
	for i, p := range all {
		record(t, filepath.Join(dir, p.name+".txt"), 5*i)
		program := native
		if p.env != nil {
			program = build(t, ".", p.env...)
		}
		args := append(p.exec, program, url, "garden", p.name, p.name+".txt")
		device, out := exec.CommandContext(ctx, args[0], args[1:]...), &bytes.Buffer{}
		device.Dir, device.Stdout, device.Stderr = dir, out, out
		if err := device.Start(); err != nil {
			t.Fatal(err)
		}
		devices, outs = append(devices, device), append(outs, out)
	}
	models := map[string]bool{}
	for i, device := range devices {
		if err := device.Wait(); err != nil {
			t.Fatalf("%s: %v\n%s", all[i].name, err, outs[i])
		}
		model, forecast, _ := strings.Cut(outs[i].String(), "\nnext reading ")
		models[model] = true
		var next float64
		if _, err := fmt.Sscan(forecast, &next); err != nil {
			t.Fatalf("%v in\n%s", err, outs[i])
		}
		if want := reading(5*i + 300); math.Abs(next-want) > 0.3 {
			t.Errorf("%s: next reading %.2f, want %.2f", all[i].name, next, want)
		}
	}
	if len(models) != 1 {
		t.Errorf("%d models, want one: %v", len(models), models)
	}
}
