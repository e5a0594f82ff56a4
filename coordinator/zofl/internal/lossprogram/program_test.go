package lossprogram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/zofl/zofl/client/objective"
)

const patience = time.Minute

// A record keeps log lines.
type record struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(b)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.String()
}

// says waits for a text in the log.
func (r *record) says(t *testing.T, text string) {
	t.Helper()
	for began := time.Now(); !strings.Contains(r.String(), text); time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("the log does not say %q: %s", text, r)
		}
	}
}

// config is that of a program that behaves in a way.
func config(t *testing.T, how string) (Config, *record) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(asProgram, how)
	log := &record{}
	return Config{Command: []string{self}, Patience: 100 * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(log, nil))}, log
}

func startTest(t *testing.T, how string) (*Program, *record) {
	t.Helper()
	cfg, log := config(t, how)
	p, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, log
}

// ask asks for losses at five points.
func ask(ctx context.Context, p *Program) ([]float64, error) {
	var all [][]float32
	for i := range 5 {
		all = append(all, []float32{float32(i), 1, 2})
	}
	losses := make([]float64, len(all))
	b := objective.Batch{N: 3, Step: 1, Size: 8, Seed: 1 << 63}
	return losses, p.Objective("pi-1").LossesAt(ctx, objective.NewPoints(all...), b, losses)
}

// well waits until the program answers rightly.
func well(t *testing.T, p *Program) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		losses, err := ask(t.Context(), p)
		if err == nil {
			if got := fmt.Sprint(losses); got != "[214 215 216 217 218]" {
				t.Fatalf("losses %s", got)
			}
			return
		}
		if time.Since(began) > patience {
			t.Fatal(err)
		}
	}
}

// TestLosses: points beyond what the program takes at once come in several requests.
func TestLosses(t *testing.T) {
	p, log := startTest(t, "well")
	well(t, p)
	log.says(t, "computing pi-1")
	o := p.Objective("pi-1")
	if _, ok := o.(objective.Evaluator); ok || o.Dim() != testDim {
		t.Errorf("an evaluator %v, dim %d", ok, o.Dim())
	}
	if !o.(objective.Policy).MayWork(objective.Work{}) {
		t.Error("it may not work")
	}
}

func TestEvaluateAndGradient(t *testing.T) {
	p, _ := startTest(t, "evaluates")
	o := p.Objective("pi-1")
	if n := o.(objective.Sampler).Samples(); n != 11 {
		t.Errorf("%d samples, want 11", n)
	}
	m, samples, err := o.(objective.Evaluator).Evaluate(t.Context(), []float32{4, 1, 2})
	if err != nil || samples != 7 || fmt.Sprint(m) != "[4 0.5]" {
		t.Errorf("metrics %v of %d samples: %v", m, samples, err)
	}
	g := make([]float32, testDim)
	loss, err := o.(objective.Differentiable).Gradient(t.Context(), []float32{4, 1, 2},
		objective.Batch{}, g)
	if err != nil || loss != 2.5 || fmt.Sprint(g) != "[1 10 100]" {
		t.Errorf("loss %v, gradient %v: %v", loss, g, err)
	}
}

// TestWrongAnswers: what a program answers wrongly costs a request and says so. Where it is out
// of step it starts again, and then does as it should.
func TestWrongAnswers(t *testing.T) {
	for how, want := range map[string]string{
		"nan": "nan", "short": "answered 0 numbers after loss, and was asked for 2",
		"half": "the program ended", "cuts": "shorter: open it for update",
		"error": "the camera is off", "garbage": `answered "epoch 1 done": answer loss, or error`,
		"long": "over 1048576 bytes", "twice": `said "loss 2", unasked`, "dies": "exit status 7",
	} {
		t.Run(how, func(t *testing.T) {
			once := filepath.Join(t.TempDir(), "once")
			if err := os.WriteFile(once, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("ZOFL_TEST_ONCE", once)
			p, log := startTest(t, how)
			_, err := ask(t.Context(), p)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), want) { // a restart has the reason of a death
				log.says(t, strings.ReplaceAll(want, `"`, `\"`))
			}
			well(t, p)
		})
	}
}

// TestFileGone: systems clean up. A program whose file was removed gets another one.
func TestFileGone(t *testing.T) {
	p, _ := startTest(t, "well")
	well(t, p)
	if err := os.Remove(p.file.file.Name()); err != nil {
		t.Fatal(err)
	}
	well(t, p)
	if _, err := os.Stat(p.file.file.Name()); err != nil {
		t.Error(err)
	}
}

// TestErr: from when a program ends until it runs again there is a reason.
func TestErr(t *testing.T) {
	once := filepath.Join(t.TempDir(), "once")
	for range 10 {
		if err := os.WriteFile(once, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("ZOFL_TEST_ONCE", once)
		p, _ := startTest(t, "dies")
		if _, err := ask(t.Context(), p); err == nil || strings.Contains(err.Error(), "nil") {
			t.Errorf("a program that died: %v", err)
		}
		for err := p.Err(); err != nil; err = p.Err() {
			if _, ask := p.now(); ask != nil && strings.Contains(ask.Error(), "nil") {
				t.Fatal(ask)
			}
		}
		well(t, p)
	}
}

// TestHangs: a program that is silent after the end of its round is killed, with its children.
func TestHangs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no process groups")
	}
	dir := t.TempDir()
	once, pids := filepath.Join(dir, "once"), filepath.Join(dir, "pids")
	if err := os.WriteFile(once, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ZOFL_TEST_ONCE", once)
	t.Setenv("ZOFL_TEST_PIDS", pids)
	p, log := startTest(t, "hangs")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for _, err := os.Stat(pids); err != nil; _, err = os.Stat(pids) {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err := ask(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the end of the round", err)
	}
	log.says(t, "did not answer within 100ms after the end of a round")
	well(t, p)
	var pid, child int
	for pid == 0 || child == 0 { // until it is written whole
		raw, err := os.ReadFile(pids)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Sscan(string(raw), &pid, &child)
	}
	for _, id := range []int{pid, child} {
		if !gone(id) {
			t.Errorf("process %d lives", id)
		}
	}
}

// gone waits until a process has ended. One that nobody has waited for counts as ended.
func gone(pid int) bool {
	for began := time.Now(); time.Since(began) < patience; time.Sleep(time.Millisecond) {
		if syscall.Kill(pid, 0) != nil {
			return true
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && strings.Contains(string(stat), ") Z ") {
			return true
		}
	}
	return false
}

// TestLate: an answer that comes after its round is not taken for the next one's.
func TestLate(t *testing.T) {
	cfg, _ := config(t, "late")
	cfg.Patience = patience
	p, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := ask(ctx, p); err == nil {
		t.Fatal("no error from an answer that takes 300 ms")
	}
	well(t, p)
	if p.Err() != nil {
		t.Error(p.Err())
	}
}

// TestStartFails: what is wrong at the start is said at once.
func TestStartFails(t *testing.T) {
	for how, want := range map[string]string{
		"silent": "did not answer hello within", "chatty": `answered "Welcome to my model!"`,
		"exits": "the program ended: exit status 3", "any": "give the plan's dim with --dim",
	} {
		cfg, _ := config(t, how)
		cfg.Startup = patience
		if how == "silent" {
			cfg.Startup = 100 * time.Millisecond
		}
		if _, err := Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", how, err, want)
		}
	}
	cfg, _ := config(t, "well")
	cfg.Dim = testDim + 1
	if _, err := Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "dim is 4") {
		t.Errorf("another dim: %v", err)
	}
	cfg.Command = []string{filepath.Join(t.TempDir(), "nothing")}
	if _, err := Start(t.Context(), cfg); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such program: %v", err)
	}
}

// TestDimFromFlag: a program that takes any dim has the one that was given.
func TestDimFromFlag(t *testing.T) {
	cfg, _ := config(t, "any")
	cfg.Dim = testDim
	p, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	well(t, p)
}

// TestChanges: a program that says another hello when it starts again is not taken.
func TestChanges(t *testing.T) {
	p, log := startTest(t, "changes")
	if _, err := ask(t.Context(), p); err == nil {
		t.Error("no error")
	}
	log.says(t, "said another hello than before")
	if p.Objective("pi-1").(objective.Policy).MayWork(objective.Work{}) {
		t.Error("a device without a program may work")
	}
}

// TestClose: a program that does not end with its input is killed.
func TestClose(t *testing.T) {
	cfg, _ := config(t, "stubborn")
	p, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	well(t, p)
	file := p.file.file.Name()
	p.Close()
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its file: %v, want none", err)
	}
}

// TestAttached: without a command, requests go to the process that started this one. When that
// ends, so do the losses.
func TestAttached(t *testing.T) {
	in, answers := io.Pipe()
	requests, out := io.Pipe()
	go func() {
		buf := make([]byte, 4096)
		for _, answer := range []string{"hello 1 dim=3 points=5\n", "ok\n", "loss 1 2 3 4 5\n"} {
			_, _ = requests.Read(buf)
			_, _ = io.WriteString(answers, answer)
		}
		_, _ = requests.Read(buf)
		answers.Close()
	}()
	p, err := Start(t.Context(), Config{In: in, Out: out, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if losses, err := ask(t.Context(), p); err != nil || fmt.Sprint(losses) != "[1 2 3 4 5]" {
		t.Errorf("losses %v: %v", losses, err)
	}
	if _, err := ask(t.Context(), p); err == nil {
		t.Error("no error at the end")
	}
	select {
	case <-p.Ended():
	case <-time.After(patience):
		t.Fatal("it has not ended")
	}
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("Err() = %v", err)
	}
}

// TestSweep: files of processes that were killed go, those in use stay.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	used, err := shareIn(dir, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer used.close()
	left := filepath.Join(dir, prefix+"1")
	if err := os.WriteFile(left, make([]byte, 8), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep(dir)
	if _, err := os.Stat(left); err != nil {
		t.Errorf("a file that was made just now: %v", err)
	}
	if err := os.Chtimes(left, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	sweep(dir)
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file that was left: %v", err)
	}
	if _, err := os.Stat(used.file.Name()); err != nil {
		t.Error(err)
	}
	if _, err := newSharedFile(1<<31-1, mostPoints*1024*1024); err == nil {
		t.Error("a file of 2^63 bytes")
	}
}

func TestParseHello(t *testing.T) {
	for line, want := range map[string]string{
		"hello 2 dim=3": "speaks version 2", "hello 1": "say dim=D", "hello 1 dim=x": "dim=x",
		"hello 1 dim=-1": "dim=-1", "hello 1 dim=3 points=0": "points=0", "": "answered",
		"hello 1 dim=3 evaluate=maybe": "evaluate=maybe", "hello 1 dim=3 samples=0": "samples=0",
	} {
		if _, err := parseHello(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add("hello 1 dim=3 points=2 evaluate=1")
	f.Add("metrics 0.5 nan samples=3")
	f.Fuzz(func(t *testing.T, line string) {
		if h, err := parseHello(line); err == nil && (h.dim < 0 || h.points < 1 || h.samples < 0) {
			t.Errorf("%q: %+v", line, h)
		}
		if m, n, err := parseMetrics(strings.Fields(line)); err == nil {
			if n < 1 {
				t.Errorf("%q: %v, %d", line, m, n)
			}
		}
	})
}
