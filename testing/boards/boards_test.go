//go:build linux && !race

package boards

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// patience is how long a test waits for what takes a second on an idle machine.
const patience = 10 * time.Minute

// A board is a model of QEMU's, and what its firmware may take.
type board struct {
	name, machine string
	ram, stack    int // bytes: of variables and stack, and of the stack
}

var all = []board{
	{name: "microbit", machine: "microbit", ram: 16 << 10, stack: 16 << 10},
	{name: "m4f", machine: "mps2-an386", ram: 4 << 20, stack: 4 << 10},
}

// TestFirmware trains ten parameters on a board and two devices in Go, with the plan that zofl plan
// makes of nothing but their number, and with the preset zofl. No round closes before all three
// have answered. All must end with the digest of the log.
func TestFirmware(t *testing.T) {
	if os.Getenv("ZOFL_BOARDS") == "" {
		t.Skip("ZOFL_BOARDS is not set: install gcc-arm-none-eabi, libnewlib-arm-none-eabi and " +
			"qemu-system-arm, and set it to 1")
	}
	dir := t.TempDir()
	zofl := filepath.Join(dir, "zofl")
	say(t, "go", "build", "-C", "../../coordinator/zofl", "-o", zofl, ".")
	for _, b := range all {
		image := filepath.Join(dir, b.name)
		say(t, "../../c/examples/firmware/build.sh", b.name, image)
		t.Run(b.name+"/suited", func(t *testing.T) { b.run(t, zofl, image) })
		t.Run(b.name+"/zofl", func(t *testing.T) { b.run(t, zofl, image, "--preset", "zofl") })
	}
}

// TestSockets is a run of the examples for ESP-IDF and Zephyr, compiled for this machine, and of a
// device in Go.
func TestSockets(t *testing.T) {
	if os.Getenv("ZOFL_BOARDS") == "" {
		t.Skip("ZOFL_BOARDS is not set: see TestFirmware")
	}
	dir := t.TempDir()
	zofl := filepath.Join(dir, "zofl")
	say(t, "go", "build", "-C", "../../coordinator/zofl", "-o", zofl, ".")
	programs := []string{filepath.Join(dir, "espidf"), filepath.Join(dir, "zephyr")}
	for _, program := range programs {
		say(t, "../../c/test/boards/hosted.sh", filepath.Base(program), program)
	}
	l := lead(t, zofl)
	host, port, _ := net.SplitHostPort(l.address)
	t.Setenv("ZOFL_BROKER", host)
	t.Setenv("ZOFL_PORT", port)
	t.Setenv("ZOFL_RUN", "mcu")
	t.Setenv("ZOFL_ID", "zephyr-1")
	l.agree(t, l.inGo(t, "go-1"), start(t, programs[0]), start(t, programs[1]))
}

// run is a run of the board and two devices in Go, with a plan of these arguments.
func (b board) run(t *testing.T, zofl, image string, args ...string) {
	l := lead(t, zofl, args...)
	mcu := start(t, "qemu-system-arm", "-M", b.machine, "-nographic", "-monitor", "none",
		"-serial", "tcp:"+l.address, "-semihosting-config", "enable=on,target=native",
		"-kernel", image)
	l.agree(t, l.inGo(t, "go-1"), l.inGo(t, "go-2"), mcu)
	said := mcu.said()
	variables, stack := number(t, said, "variables"), number(t, said, "stack")
	t.Logf("%d bytes of variables, %d of stack; %s", variables, stack,
		strings.SplitN(said, "\n", 2)[0])
	if variables+stack > b.ram || stack >= b.stack {
		t.Errorf("%d bytes of variables and %d of stack: the limits are %d in all, and %d",
			variables, stack, b.ram, b.stack)
	}
	if n := number(t, said, "messages not used"); n != 0 {
		t.Errorf("the board could not use %d messages:\n%s", n, said)
	}
}

// A led is a run of three devices that zofl serve leads.
type led struct {
	zofl, address, log string
	process            *process
}

// lead begins a run with a plan of these arguments.
func lead(t *testing.T, zofl string, args ...string) *led {
	t.Helper()
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.json")
	say(t, zofl, append([]string{"plan", "--run", "mcu", "--dim", "10", "--write", plan,
		"--set", "members=3", "--set", "target=3", "--set", "quorum=3", "--set", "rounds=25",
		"--set", "digest_every=8"}, args...)...)
	l := &led{zofl: zofl, address: freeport.Address(t), log: filepath.Join(dir, "log")}
	l.process = start(t, zofl, "serve", plan, "--store", l.log, "--listen", l.address, "--json")
	listens(t, l.address)
	return l
}

// inGo starts a device in Go.
func (l *led) inGo(t *testing.T, id string) *process {
	t.Helper()
	return start(t, l.zofl, "client", "--url", "nats://"+l.address, "--run", "mcu", "--id", id,
		"--objective", "bowl", "--dim", "10", "--json")
}

// agree waits until all devices have ended, and compares their digests with that of the log.
func (l *led) agree(t *testing.T, devices ...*process) {
	t.Helper()
	for _, device := range devices {
		device.wait(t)
	}
	l.process.stop(t)
	var verified struct {
		Records uint64
		Digest  string
	}
	out := say(t, l.zofl, "verify", "--store", l.log, "--json")
	if err := json.Unmarshal(out, &verified); err != nil {
		t.Fatal(err)
	}
	if verified.Records < 25 || len(verified.Digest) != 64 {
		t.Fatalf("zofl verify said %s", out)
	}
	for _, device := range devices {
		if !strings.Contains(device.said(), verified.Digest) {
			t.Errorf("%s said\n%s, want %s", filepath.Base(device.cmd.Path), device.said(),
				verified.Digest)
		}
	}
}

// listens waits until a program takes connections at the address.
func listens(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// number is that behind name in what a board said.
func number(t *testing.T, said, name string) int {
	t.Helper()
	found := regexp.MustCompile(name + ` (\d+)`).FindStringSubmatch(said)
	if found == nil {
		t.Fatalf("no %q in\n%s", name, said)
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// say runs a program, and returns its output.
func say(t *testing.T, program string, args ...string) []byte {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", filepath.Base(program), err, out, said.Bytes())
	}
	return out
}

// A process runs until it ends, or the test does.
type process struct {
	cmd    *exec.Cmd
	output string // the file of what it says
	ended  chan error
}

func start(t *testing.T, program string, args ...string) *process {
	t.Helper()
	output, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	p := &process{cmd: exec.Command(program, args...), output: output.Name(),
		ended: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = output, output
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		if t.Failed() {
			t.Logf("%s said\n%s", filepath.Base(program), p.said())
		}
	})
	return p
}

func (p *process) said() string {
	text, err := os.ReadFile(p.output)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// wait waits until the process ends without an error, and returns what it said.
func (p *process) wait(t *testing.T) string {
	t.Helper()
	select {
	case err := <-p.ended:
		if err != nil {
			t.Fatalf("%v:\n%s", err, p.said())
		}
	case <-time.After(patience):
		t.Fatalf("it has not ended after %v:\n%s", patience, p.said())
	}
	return p.said()
}

// stop interrupts the process, and waits for its end.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.wait(t)
}
