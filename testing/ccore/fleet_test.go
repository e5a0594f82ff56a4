//go:build !race

package ccore

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/bus/bustest"
)

// A mixed is a run of devices of C, Go and Python beside one coordinator, as processes.
type mixed struct {
	t       *testing.T
	dir     string
	run     string
	dim     int
	zofl, c string
	address string         // of the broker, which the coordinator starts
	proxy   *bustest.Proxy // between the broker and some devices
	lead    *exec.Cmd
	said    bytes.Buffer // by the coordinators
	digests sync.Map     // by device
}

const pythonDevice = `
import sys
import zofl
url, run, name, dim = sys.argv[1:]
def loss(x):
    return float(((x - 1) ** 2).mean())
print("digest", zofl.Device(url, run, name, loss=loss, dim=int(dim)).run().digest)
`

var digestOf = regexp.MustCompile(`digest(?: of the state)?[ │]+([0-9a-f]{64})`)

func (m *mixed) tool(name string, args ...string) string {
	m.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("%s %v: %v\n%s", filepath.Base(name), args, err, out)
	}
	return string(out)
}

// build makes the programs, in the run's folder.
func (m *mixed) build() {
	m.zofl = filepath.Join(m.dir, "zofl")
	m.tool("go", "build", "-C", filepath.Join(root, "coordinator/zofl"), "-o", m.zofl, ".")
	m.buildC()
}

func (m *mixed) buildC() {
	m.c = filepath.Join(m.dir, "device")
	amalgam := m.tool(filepath.Join(root, "c/amalgamate.sh"))
	if err := os.WriteFile(filepath.Join(m.dir, "zofl.c"), []byte(amalgam), 0o600); err != nil {
		m.t.Fatal(err)
	}
	example := filepath.Join(root, "c/examples/posix")
	m.tool("gcc", "-std=c99", "-O1", "-I"+filepath.Join(root, "c"), "-o", m.c,
		filepath.Join(example, "device.c"), filepath.Join(example, "bowl.c"),
		filepath.Join(m.dir, "zofl.c"), "-lm")
}

func (m *mixed) coordinate() {
	m.lead = exec.Command(m.zofl, "serve", m.run+".json", "--store", m.run+".log", "--listen",
		m.address)
	m.lead.Dir, m.lead.Stdout, m.lead.Stderr = m.dir, &m.said, &m.said
	if err := m.lead.Start(); err != nil {
		m.t.Fatal(err)
	}
}

// A device is a process that a test kills and begins again.
type device struct {
	name string
	args []string
	cmd  *exec.Cmd
	out  *bytes.Buffer
	done chan struct{}
}

// start begins the device. Its digest is what it prints last.
func (m *mixed) start(d *device) {
	m.t.Helper()
	d.cmd, d.out, d.done = exec.Command(d.args[0], d.args[1:]...), &bytes.Buffer{},
		make(chan struct{})
	d.cmd.Stdout, d.cmd.Stderr, d.cmd.Dir = d.out, d.out, m.dir
	d.cmd.Env = append(os.Environ(), "ZOFL="+m.zofl, "PYTHONPATH="+absolute(m.t,
		filepath.Join(root, "python/src")))
	if err := d.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	cmd, out, done := d.cmd, d.out, d.done
	go func() {
		cmd.Wait()
		if found := digestOf.FindAllStringSubmatch(out.String(), -1); found != nil {
			m.digests.Store(d.name, found[len(found)-1][1])
		}
		close(done)
	}()
	m.t.Cleanup(func() { cmd.Process.Kill(); <-done })
}

func (m *mixed) restart(d *device) {
	d.cmd.Process.Kill()
	<-d.done
	m.start(d)
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// interpreter returns a Python with numpy. Without one the run has devices of C and Go alone.
func interpreter(t *testing.T) string {
	for _, path := range []string{absolute(t, filepath.Join(root, "python/_venv/bin/python")),
		"/usr/bin/python3", "python3"} {
		if exec.Command(path, "-c", "import numpy").Run() == nil {
			return path
		}
	}
	t.Log("no Python with numpy: devices of C and Go alone")
	return ""
}

func (m *mixed) devices(python string) (all []*device) {
	address := func(i int) string {
		if i%2 == 0 {
			return m.proxy.Address()
		}
		return m.address
	}
	for i := range 4 {
		host, port, _ := net.SplitHostPort(address(i))
		name := fmt.Sprint("c", i)
		all = append(all, &device{name: name, args: []string{m.c, host, port, m.run, name}})
	}
	for i := range 4 {
		name := fmt.Sprint("g", i)
		args := []string{m.zofl, "client", "--url", "nats://" + address(i), "--run", m.run, "--id",
			name, "--objective", "bowl", "--dim", fmt.Sprint(m.dim)}
		if i < 2 {
			args = append(args, "--store", name+".state")
		}
		all = append(all, &device{name: name, args: args})
	}
	for i := 0; python != "" && i < 2; i++ {
		name := fmt.Sprint("p", i)
		all = append(all, &device{name: name, args: []string{python, "-c", pythonDevice,
			"nats://" + address(i), m.run, name, fmt.Sprint(m.dim)}})
	}
	return all
}

// record is the run's last record, and what zofl status says.
func (m *mixed) record() (n int, status []byte) {
	status, _ = exec.Command(m.zofl, "status", "--url", "nats://"+m.address, "--run",
		m.run).CombinedOutput()
	if found := regexp.MustCompile(`record\s+│\s+(\d+)`).FindSubmatch(status); found != nil {
		fmt.Sscan(string(found[1]), &n)
	}
	return n, status
}

// patience is how long a run may stand still. Machines may be busy.
const patience = 5 * time.Minute

// goesOn fails the test when the run has had no record for too long. It is called again and again,
// with the time of the last record and with that record.
func (m *mixed) goesOn(since *time.Time, last *int) {
	m.t.Helper()
	n, status := m.record()
	if n != *last {
		*since, *last = time.Now(), n
	}
	if time.Since(*since) > patience {
		m.lead.Process.Kill()
		m.lead.Wait()
		m.t.Fatalf("no record after %d for %v\n%s\n%s", *last, patience, status, m.said.String())
	}
}

func (m *mixed) reach(n int) {
	m.t.Helper()
	for since, last := time.Now(), 0; last < n; time.Sleep(300 * time.Millisecond) {
		m.goesOn(&since, &last)
	}
}

// end waits until all devices have ended.
func (m *mixed) end(all []*device) {
	m.t.Helper()
	since, last := time.Now(), 0
	for _, d := range all {
		for ended := false; !ended; {
			select {
			case <-d.done:
				ended = true
			case <-time.After(2 * time.Second):
				m.goesOn(&since, &last)
			}
		}
	}
}

// TestDeviceSaysWhy: the example in C says why it cannot begin, and what it waits for.
func TestDeviceSaysWhy(t *testing.T) {
	m := &mixed{t: t, dir: t.TempDir()}
	m.buildC()
	refused := exec.Command(m.c, "127.0.0.1", "1", "bowl", "c 1")
	if said, err := refused.CombinedOutput(); err == nil ||
		!strings.Contains(string(said), "run and id have 1 to 32 of the characters") {
		t.Errorf("a wrong id: %v\n%s", err, said)
	}
	alone := exec.Command(m.c, "127.0.0.1", "1", "bowl", "c-1") // nothing listens at port 1
	out, err := alone.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := alone.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	alone.Process.Kill()
	alone.Wait()
	if !strings.Contains(line, "no connection to 127.0.0.1 1, trying again") {
		t.Errorf("without a broker: %v\n%s", err, line)
	}
}

// TestMixedFleet: ten devices of C, Go and Python end with the digest of the log, though some join
// late, are killed and begun anew with and without a state, lose their connections, and though the
// run is rolled back and its coordinator is killed and begun again.
func TestMixedFleet(t *testing.T) {
	if testing.Short() {
		t.Skip("a run of processes")
	}
	python := interpreter(t)
	programs := mixed{t: t, dir: t.TempDir()}
	programs.build()
	for _, test := range []struct{ preset, sets string }{
		{"zofl", "digest_every=8"},
		{"decomfl", "steps=3 rule=momentum beta=0.9 prox=0.5 late=1 digest_every=8"},
	} {
		t.Run(test.preset, func(t *testing.T) {
			t.Parallel() // they wait more than they compute
			m := &mixed{t: t, dir: t.TempDir(), run: "mixed", dim: 12, zofl: programs.zofl,
				c: programs.c}
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			m.address = listener.Addr().String()
			listener.Close()
			m.play(strings.Fields(test.sets), test.preset, python)
		})
	}
}

func (m *mixed) play(sets []string, preset, python string) {
	t := m.t
	args := []string{"plan", "--run", m.run, "--preset", preset, "--dim", fmt.Sprint(m.dim),
		"--write", filepath.Join(m.dir, m.run+".json"), "--set", "rounds=60", "--set", "members=4",
		"--set", "target=4", "--set", "quorum=2", "--set", "deadline=3000", "--set", "reannounce=1000",
		"--set", "diverge=0"} // losses of devices in Go are ten times those in C
	for _, s := range sets {
		args = append(args, "--set", s)
	}
	m.tool(m.zofl, args...)
	m.proxy = bustest.NewProxy(t, m.address)
	m.coordinate()
	t.Cleanup(func() { m.lead.Process.Kill(); m.lead.Wait() })
	all := m.devices(python)
	late := all[3]
	for _, d := range all {
		if d != late {
			m.start(d)
		}
	}
	m.reach(10)
	m.start(late)
	m.restart(all[0]) // of C, without a state
	m.restart(all[4]) // of Go, with its state
	m.proxy.Break()
	m.reach(20)
	m.tool(m.zofl, "rollback", "12", "--url", "nats://"+m.address, "--run", m.run)
	m.reach(30)
	m.proxy.Swallow(false)
	m.lead.Process.Kill()
	m.lead.Wait()
	m.restart(all[1])
	m.coordinate()
	m.end(all)
	m.lead.Process.Kill()
	m.lead.Wait()
	want := digestOf.FindStringSubmatch(m.tool(m.zofl, "verify", "--store",
		filepath.Join(m.dir, m.run+".log")))
	if want == nil {
		t.Fatal("zofl verify prints no digest")
	}
	for _, d := range all {
		if got, ok := m.digests.Load(d.name); !ok || got != want[1] {
			t.Errorf("%s has digest %v, and the log %s\n%s", d.name, got, want[1], d.out)
		}
	}
}
