//go:build linux && !race

package fleet

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// buildZofl builds the program once for all tests of this package.
var buildZofl = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "zofl-fleet-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "zofl")
	out, err := exec.Command("go", "build", "-C", "../../coordinator/zofl", "-o", path,
		".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
})

func zofl(t *testing.T) string {
	t.Helper()
	path, err := buildZofl()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := buildZofl(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// A party is a process of the program that can be killed and restarted at any moment.
type party struct {
	t    *testing.T
	name string
	args []string

	mu    sync.Mutex
	cmd   *exec.Cmd
	done  chan struct{} // closed when the process has ended
	code  int
	last  map[string]any // JSON of the last line printed
	kills int
	tail  bytes.Buffer // standard error since the last start

	// If each is not nil, the test calls each with every line that the process prints. The process
	// waits until each returns.
	each func(p *party, line map[string]any)
}

func newParty(t *testing.T, name string, args ...string) *party {
	p := &party{t: t, name: name, args: args}
	p.begin()
	return p
}

// begin starts a party, which runs until the test ends.
func (p *party) begin() {
	p.start()
	p.t.Cleanup(func() {
		p.kill()
		if p.t.Failed() {
			p.t.Logf("%s ended with %d:\n%s", p.name, p.code, tailOf(p.tail.Bytes()))
		}
	})
}

func tailOf(b []byte) []byte { return b[max(0, len(b)-2000):] }

func (p *party) start() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tail.Reset()
	cmd := exec.Command(zofl(p.t), p.args...)
	cmd.Stderr = &p.tail
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.cmd, p.done = cmd, make(chan struct{})
	go p.follow(cmd, out, p.done)
}

// follow reads the output of a process until it ends.
func (p *party) follow(cmd *exec.Cmd, out io.Reader, done chan struct{}) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var v map[string]any
		if json.Unmarshal(lines.Bytes(), &v) == nil {
			p.mu.Lock()
			p.last = v
			each := p.each
			p.mu.Unlock()
			if each != nil {
				each(p, v)
			}
		}
	}
	_ = cmd.Wait() // a killed process returns an error here
	p.mu.Lock()
	p.code = cmd.ProcessState.ExitCode()
	p.mu.Unlock()
	close(done)
}

// kill sends SIGKILL and waits for the end. It reports whether the process was running.
func (p *party) kill() bool {
	p.mu.Lock()
	cmd, done := p.cmd, p.done
	p.mu.Unlock()
	select {
	case <-done:
		return false
	default:
	}
	_ = cmd.Process.Kill() // the process may just have ended
	<-done
	p.mu.Lock()
	p.kills++
	p.mu.Unlock()
	return true
}

// ended reports whether the process ended by itself without an error.
func (p *party) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return p.code == 0
	default:
		return false
	}
}

// gaveUp returns the exit code and the output of a process that ended by itself with an error. For
// any other process gaveUp returns 0.
func (p *party) gaveUp() (code int, text []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		return p.code, tailOf(p.tail.Bytes())
	default:
		return 0, nil
	}
}

// report returns the last JSON that the process printed.
func (p *party) report() map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// command runs the program to its end and decodes its JSON.
func command(t *testing.T, v any, args ...string) {
	t.Helper()
	var errs bytes.Buffer
	cmd := exec.Command(zofl(t), args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("zofl %v: %v\n%s", args, err, errs.Bytes())
	}
	if err := json.Unmarshal(out, v); err != nil {
		t.Fatalf("zofl %v printed %q: %v", args, out, err)
	}
}

// memory returns the peak resident memory of the process in KiB.
func (p *party) memory() int {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	kib := 0
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			if _, err := fmt.Sscan(rest, &kib); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	return kib
}
