//go:build linux && !race

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// forbidden is the exit status of boot.sh if this machine does not allow it to start a container.
const forbidden = 77

// A machine is a Debian with the package, under a systemd of its own.
type machine struct {
	t   *testing.T
	cmd *exec.Cmd
	out *bytes.Buffer
}

// boot starts a machine with a package and the given files, by name, until the test ends. The
// machine uses this machine's network.
func boot(t *testing.T, pack string, texts map[string]string) *machine {
	t.Helper()
	asRoot(t)
	need(t, "systemd-analyze")
	work, name, files := t.TempDir(), fmt.Sprintf("zofl-test-%d", os.Getpid()), t.TempDir()
	for name, text := range texts {
		name = filepath.Join(files, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	installed, say, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer installed.Close()
	c := &machine{t: t, out: &bytes.Buffer{}, cmd: exec.Command("bash", "testdata/boot.sh", "begin",
		work, name, pack, files)}
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.ExtraFiles = c.out, c.out, []*os.File{say}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID |
		syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC}
	err = c.cmd.Start()
	say.Close()
	if errors.Is(err, syscall.EPERM) {
		t.Skipf("this machine does not allow namespaces: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill() // and with it, all of its namespace
		_ = c.cmd.Wait()
		clean := exec.Command("bash", "testdata/boot.sh", "clean", work, name)
		clean.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		if out, err := clean.CombinedOutput(); err != nil && !t.Skipped() {
			t.Errorf("cgroups: %v\n%s", err, out)
		}
		if t.Failed() {
			t.Logf("%s", c.out)
		}
	})
	if n, _ := installed.Read(make([]byte, 16)); n == 0 { // it has ended
		err := c.cmd.Wait()
		if c.cmd.ProcessState.ExitCode() == forbidden {
			t.Skipf("%s", c.out)
		}
		t.Fatalf("boot.sh: %v\n%s", err, c.out)
	}
	c.until("systemd", func() error { return c.run("systemctl", "is-active", "basic.target") })
	return c
}

// run runs a command in the machine.
func (c *machine) run(args ...string) error {
	enter := []string{"--target", strconv.Itoa(c.cmd.Process.Pid), "--mount", "--pid", "--uts",
		"--ipc", "--cgroup"}
	out, err := exec.CommandContext(c.t.Context(), "nsenter", append(enter, args...)...).
		CombinedOutput()
	if err != nil {
		return fmt.Errorf("%v: %w\n%s", args, err, out)
	}
	return nil
}

// must runs a command in the machine, and fails the test if the command fails.
func (c *machine) must(args ...string) {
	c.t.Helper()
	if err := c.run(args...); err != nil {
		c.t.Fatalf("%v\n%s", err, c.read("zofl.log"))
	}
}

// until calls try until it returns no error.
func (c *machine) until(what string, try func() error) {
	c.t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Since(began) > patience {
			c.t.Fatalf("%s: %v\n%s", what, err, c.read("zofl.log"))
		}
	}
}

// read returns the content of a file in the machine, or "" if there is no such file.
func (c *machine) read(name string) string {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(c.cmd.Process.Pid), "root", name))
	return string(b)
}

// show returns a property of a unit.
func (c *machine) show(unit, property string) string {
	c.t.Helper()
	out, err := exec.Command("nsenter", "--target", strconv.Itoa(c.cmd.Process.Pid), "--mount",
		"--pid", "systemctl", "show", "--value", "--property", property, unit).Output()
	if err != nil {
		c.t.Fatalf("systemctl show %s: %v", unit, err)
	}
	return strings.TrimSpace(string(out))
}

// logged makes a unit log to a file.
const logged = "[Service]\nStandardError=append:/zofl.log\n"

// TestService installs the package in a Debian and starts its unit there, under systemd with all
// of its limits: a coordinator leads, comes back when it is killed or upgraded, stops when told to
// or removed, and is not tried again with a plan that cannot run.
func TestService(t *testing.T) {
	m := released(t)
	dir := t.TempDir()
	says(t, "tar", "-C", dir, "--strip-components=1", "-xf", m.file(t, "_linux_*.tar.gz"))
	zofl, address := filepath.Join(dir, "zofl"), freeport.Address(t)
	plan := filepath.Join(dir, "kitchen.json")
	says(t, zofl, "plan", "--run", "kitchen", "--dim", "20", "--write", plan)

	c := boot(t, m.pack(t, "zofl"), map[string]string{
		"etc/zofl/kitchen.json": read(t, plan),
		"etc/zofl/kitchen.env":  "ZOFL_FLAGS=--listen " + address + " --key coordinator.key\n",
		"etc/zofl/shed.json":    "{}\n",
		// Nobody reads a journal there.
		"etc/systemd/system/zofl@.service.d/log.conf": logged,
	})
	c.must("systemd-analyze", "verify", "zofl@kitchen.service")
	c.must("systemctl", "enable", "--now", "zofl@kitchen")
	status := func() (s struct {
		Version    string
		N, Epoch   uint64
		State, Key string
	}) {
		t.Helper()
		c.until("status", func() error {
			out, err := exec.Command(zofl, "status", "--json", "--run", "kitchen", "--url",
				"nats://"+address).Output()
			if err != nil {
				return err
			}
			if err := json.Unmarshal(out, &s); err != nil || s.N > 0 {
				return err
			}
			return errors.New("the log does not have record 1 yet")
		})
		return s
	}
	first := status()
	if first.Version != m.version || first.N != 1 || first.State != "waiting" || first.Key == "" {
		t.Errorf("status %+v, want %s waiting for devices after record 1, with a key", first,
			m.version)
	}
	if user := c.show("zofl@kitchen", "User"); user != "zofl" {
		t.Errorf("it runs as %q, want zofl", user)
	}
	// The test kills the coordinator, and then upgrades the package to the same version.
	for _, end := range [][]string{{"systemctl", "kill", "--signal=KILL", "zofl@kitchen"},
		{"systemctl", "kill", "--signal=QUIT", "zofl@kitchen"}, // it crashes
		{"dpkg", "--install", "/tmp/package.deb"}} {
		pid := c.show("zofl@kitchen", "MainPID")
		c.must(end...)
		c.until("another process", func() error {
			if now := c.show("zofl@kitchen", "MainPID"); now == pid || now == "0" {
				return errors.New("ended, and not back")
			}
			return nil
		})
		again := status()
		if again.N != 1 || again.Key != first.Key || again.Epoch <= first.Epoch {
			t.Errorf("%v: %+v, want the run and key of %+v, and a later epoch", end, again, first)
		}
		first = again
	}
	c.must("systemctl", "stop", "zofl@kitchen")
	if result := c.show("zofl@kitchen", "Result"); result != "success" {
		t.Errorf("stopped with %q", result)
	}
	if err := c.run("test", "-s", "/var/lib/zofl/kitchen/coordinator.key"); err != nil {
		t.Errorf("its key: %v", err)
	}
	_ = c.run("systemctl", "start", "zofl@shed") // Type=exec: it may have begun before it failed
	c.until("a plan that cannot run", func() error {
		if state := c.show("zofl@shed", "ActiveState"); state != "failed" {
			return errors.New(state)
		}
		return nil
	})
	n := c.show("zofl@shed", "NRestarts")
	if n != "0" || !strings.Contains(c.read("zofl.log"), "plan") {
		t.Errorf("a plan that cannot run was tried again %s times:\n%s", n, c.read("zofl.log"))
	}
	c.must("systemctl", "start", "zofl@kitchen")
	c.must("dpkg", "--remove", "zofl")
	if state := c.show("zofl@kitchen", "ActiveState"); state != "inactive" {
		t.Errorf("the coordinator of a package that was removed is %s", state)
	}
}
