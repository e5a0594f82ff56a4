package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

func TestJournalHasPriorities(t *testing.T) {
	var b bytes.Buffer
	log := newLog(&b, true)
	log.Info("a", "b", 1)
	log.Warn("c")
	log.Error("d")
	want := "<6>level=INFO msg=a b=1\n<4>level=WARN msg=c\n<3>level=ERROR msg=d\n"
	if b.String() != want {
		t.Errorf("wrote %q, want %q", b.String(), want)
	}
	b.Reset()
	newLog(&b, false).Info("a")
	if !strings.HasPrefix(b.String(), "time=") {
		t.Errorf("wrote %q to a terminal, want the time", b.String())
	}
}

func TestNotify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	if err := notify("READY=1"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 64)
	n, err := c.Read(b)
	if err != nil || string(b[:n]) != "READY=1" {
		t.Errorf("systemd got %q, error %v", b[:n], err)
	}
	t.Setenv("NOTIFY_SOCKET", "")
	if err := notify("READY=1"); err != nil {
		t.Errorf("without systemd: %v", err)
	}
}

func TestWatchdog(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "x": 0, "30000000": 15 * time.Second} {
		t.Setenv("WATCHDOG_USEC", text)
		if got, ok := watchdog(); ok != (want > 0) || ok && got != want {
			t.Errorf("%q: %v %v, want %v", text, got, ok, want)
		}
	}
}

func TestPlan(t *testing.T) {
	cfg := configOf(t, "model = lags=4 hidden=3")
	p, err := makePlan(cfg, []string{"members=5", "rounds=10"})
	if err != nil {
		t.Fatal(err)
	}
	if p.Dim != uint64(shapeOf(cfg).dim()) || p.Members != 5 || p.Target != 5 || p.Quorum != 3 ||
		p.EvalCount != 5 || p.Rounds != 10 {
		t.Errorf("plan %+v", p)
	}
	var b bytes.Buffer
	if err := writePlan(&b, p); err != nil {
		t.Fatal(err)
	}
	if back, err := planfile.Read(&b); err != nil || back.Dim != p.Dim {
		t.Errorf("read back: %v", err)
	}
	if q, err := makePlan(cfg, []string{"target=2", "over_sample=1.5"}); err != nil || q.Target != 2 {
		t.Errorf("%+v, %v", q, err)
	}
	for bad, want := range map[string]string{
		"members": "plan: members = nothing: write it as field=value", "members=x": "plan: members = x: ",
		"colour=red": "colour"} {
		if _, err := makePlan(cfg, []string{bad}); exitCode(err) != exitUsage ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", bad, err, want)
		}
	}
}

// A recorder logs a lasting condition once.
func TestRecorderIsBrief(t *testing.T) {
	log, told := listen()
	r := &recorder{log: log}
	for range 3 {
		for _, p := range []client.Progress{
			{State: client.Joining, Err: errDone}, {State: client.Joining, Err: errDone},
			{State: client.Waiting}, {State: client.Working}, {State: client.Waiting},
			{State: client.Waiting, Declined: wire.DeclinePolicy, Err: errDone},
			{State: client.Waiting, Declined: wire.DeclinePolicy, Err: errDone},
		} {
			if err := r.Record(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	for text, want := range map[string]int{"waiting for the run": 3, "declining a round": 1,
		"state=waiting": 1, "state=working": 0} {
		if got := strings.Count(told.String(), text); got != want {
			t.Errorf("%q is logged %d times, want %d:\n%s", text, got, want, told)
		}
	}
}

// A device that is slower than the others loses rounds all day, which is logged only now
// and then. Other problems are logged in between.
func TestRecorderIsBriefAboutLostRounds(t *testing.T) {
	log, told := listen()
	r := &recorder{log: log}
	lost, full := errors.New("a later round"), errors.New("no space")
	for n := uint64(1); n <= 3*logEvery; n++ {
		for _, err := range []error{lost, full, fmt.Errorf("record %d", n/100)} {
			if err := errors.Join(r.Record(client.Progress{State: client.Waiting, N: n, Err: err}),
				r.Record(client.Progress{State: client.Waiting, N: n, Contributed: true})); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, text := range []string{"later round", "no space"} {
		if n := strings.Count(told.String(), text); n < 3 || n > 5 {
			t.Errorf("%q is logged %d times in %d records", text, n, 3*logEvery)
		}
	}
}

func TestClientsWarningsOnly(t *testing.T) {
	log, told := listen()
	log = slog.New(newWarnings(log.Handler())).With("a", 1).WithGroup("g")
	log.Info("joined")
	log.Warn("rolling back")
	if text := told.String(); strings.Contains(text, "joined") ||
		!strings.Contains(text, "rolling back") {
		t.Errorf("told %s", text)
	}
}

// A round that is declined is tried five times a second, as long as it is open.
func TestClientsWarningsNowAndThen(t *testing.T) {
	log, told := listen()
	h := newWarnings(log.Handler())
	at := time.Now()
	for range 100 {
		for _, text := range []string{"declined", "rolling back"} {
			if err := h.WithAttrs([]slog.Attr{slog.Int("a", 1)}).Handle(t.Context(),
				slog.NewRecord(at, slog.LevelWarn, text, 0)); err != nil {
				t.Fatal(err)
			}
		}
		at = at.Add(time.Minute)
	}
	for _, text := range []string{"declined", "rolling back"} {
		if n := strings.Count(told.String(), text); n != 10 {
			t.Errorf("%q is logged %d times in 100 minutes, want 10", text, n)
		}
	}
}

// The unit does not restart the agent after a fault that a person has to fix, and after
// nothing else: a Go program that panics exits with 2.
func TestExitCodes(t *testing.T) {
	b, err := os.ReadFile("zofl-sensor.service")
	if err != nil {
		t.Fatal(err)
	}
	if line := fmt.Sprintf("\nRestartPreventExitStatus=%d\n",
		exitUsage); !strings.Contains(string(b), line) || exitUsage <= 2 {
		t.Errorf("the unit has no line %q, or that is a panic's", line)
	}
	for _, c := range []struct {
		err  error
		want int
	}{{errDone, exitFailure}, {fs.ErrNotExist, exitFailure}, {plan.ErrRunKey, exitUsage},
		{replica.ErrDim, exitUsage}, {replica.ErrForeign, exitUsage},
		{errUsage, exitUsage}} {
		if got := exitCode(fmt.Errorf("because of %w", c.err)); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
}

// systemd accepts the unit, if there is a systemd to ask.
func TestUnit(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is missing: apt-get install systemd")
	}
	b, err := os.ReadFile("zofl-sensor.service")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte("/usr/bin/zofl-sensor"), []byte(self), 1)
	path := filepath.Join(t.TempDir(), "zofl-sensor.service")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool, "verify", "--man=no", path).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

func TestArguments(t *testing.T) {
	var b bytes.Buffer
	if err := run(t.Context(), []string{"fields"}, &b, quiet); err != nil ||
		!strings.Contains(b.String(), "plaintext=yes") {
		t.Errorf("fields: %v %s", err, b.String())
	}
	for _, args := range [][]string{{}, {"plan"}, {"/nowhere.conf"}, {"plan", "/nowhere.conf"}} {
		if err := run(t.Context(), args, &b, quiet); exitCode(err) != exitUsage {
			t.Errorf("%q: %v", args, err)
		}
	}
}
