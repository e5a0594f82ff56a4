//go:build unix

package jetstream

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
)

// holderSpec is the environment variable that makes the test program a process that holds a
// coordinator's log. The test can kill and stop that process.
const holderSpec = "ZOFL_TEST_HOLDER"

// A holding says what the process does: the process leads, reports that it leads, appends record 1
// and waits until it has lost the lease. Then the process appends record 2.
type holding struct {
	URL, Run string
	Replicas int
}

// A report is the output of the process, one a line.
type report struct {
	Epoch uint64 // the process leads with this epoch
	Lost  bool
	Error string // the last error
	Is    string // the package's error that it matches
}

func hold(spec string) int {
	out := json.NewEncoder(os.Stdout)
	if err := holdLease(spec, func(r report) { _ = out.Encode(r) }); err != nil {
		_ = out.Encode(report{Error: err.Error()})
		return 1
	}
	return 0
}

func holdLease(spec string, say func(report)) error {
	var h holding
	if err := json.Unmarshal([]byte(spec), &h); err != nil {
		return err
	}
	nc, err := nats.Connect(h.URL, nats.Timeout(patience), nats.MaxReconnects(-1),
		nats.ReconnectBufSize(-1), nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		return err
	}
	ctx := context.Background()
	log, err := jetlog.Open(ctx, jetlog.Config{
		Conn: nc, Run: h.Run, Replicas: h.Replicas, LeaseTTL: leaseTTL, Name: "the holder"})
	if err != nil {
		return err
	}
	epoch, err := log.Begin(ctx)
	if err != nil {
		return err
	}
	c := newChain(nil, h.Run)
	if err := log.Append(ctx, 1, c.add(c.next(1))); err != nil {
		return err
	}
	say(report{Epoch: epoch})
	<-log.Lost()
	r := report{Lost: true, Error: "none"}
	if err := log.Append(ctx, 2, c.next(2)); err != nil {
		r.Error = err.Error()
		if errors.Is(err, runlog.ErrDeposed) {
			r.Is = "deposed"
		}
	}
	say(r)
	if epoch, err = log.Begin(ctx); err != nil { // stands by until then
		return err
	}
	say(report{Epoch: epoch})
	return log.Close()
}

// A holder is the process that holds the log.
type holder struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startHolder(t *testing.T, p place, run string) *holder {
	t.Helper()
	spec, err := json.Marshal(holding{p.url, run, p.replicas})
	if err != nil {
		t.Fatal(err)
	}
	h := &holder{t: t, cmd: exec.Command(os.Args[0])}
	h.cmd.Env = append(os.Environ(), holderSpec+"="+string(spec))
	h.cmd.Stderr = os.Stderr
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.lines = bufio.NewScanner(out)
	t.Cleanup(func() {
		h.signal(syscall.SIGKILL)
		_ = h.cmd.Wait() // usually a kill
	})
	return h
}

func (h *holder) signal(s syscall.Signal) { _ = h.cmd.Process.Signal(s) } // it may have ended

// next returns the next report of the process.
func (h *holder) next() (r report) {
	h.t.Helper()
	if !h.lines.Scan() {
		h.t.Fatal("the holder of the lease ended")
	}
	if err := json.Unmarshal(h.lines.Bytes(), &r); err != nil {
		h.t.Fatalf("%q: %v", h.lines.Bytes(), err)
	}
	return r
}

// TestTakeover checks that the lease of a killed or stopped coordinator expires. A stopped
// coordinator that continues learns that it lost the lease, appends nothing, and can stand by.
func TestTakeover(t *testing.T) {
	t.Parallel()
	for name, start := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
				t.Run(signal.String(), func(t *testing.T) { takeover(t, p, signal) })
			}
		})
	}
}

func takeover(t *testing.T, p place, signal syscall.Signal) {
	run := fmt.Sprint("taken_", int(signal))
	h := startHolder(t, p, run)
	first := h.next()
	h.signal(signal)
	began := time.Now()
	log := p.openFor(t, run, leaseTTL)
	second := begin(t, log)
	t.Logf("took over after %v, with a lease of %v", time.Since(began), leaseTTL)
	if first.Epoch == 0 || second <= first.Epoch {
		t.Errorf("took over with epoch %d, want one after %d", second, first.Epoch)
	}
	c := newChain(t, run)
	c.add(c.next(1))
	c.appendTo(log, 3)
	if signal == syscall.SIGSTOP {
		h.signal(syscall.SIGCONT)
		if r := h.next(); !r.Lost || r.Is != "deposed" {
			t.Errorf("the former holder reports %+v, want that it is deposed", r)
		}
		closeLog(t, log)
		if r := h.next(); r.Epoch <= second {
			t.Errorf("the former holder leads again with epoch %d after %d", r.Epoch, second)
		}
	}
	c.check(p.open(t, run))
}
