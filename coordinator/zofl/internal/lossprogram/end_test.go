package lossprogram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// TestErr: from a program's end to its restart, Err returns a reason.
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

// TestHangs: a program that does not answer after the end of its round is killed together with its
// children.
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
		log.Says("hanging")
		cancel()
	}()
	if _, err := ask(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the end of the round", err)
	}
	says(t, log, "did not answer within 100ms after the end of a round")
	well(t, p)
	raw, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	var pid, child int
	if _, err := fmt.Sscan(string(raw), &pid, &child); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the program and its child end", func() bool {
		return await.Ended(pid) && await.Ended(child)
	})
}

// TestChanges: a program that restarts with another hello is refused.
func TestChanges(t *testing.T) {
	p, log := startTest(t, "changes")
	if _, err := ask(t.Context(), p); err == nil {
		t.Error("no error")
	}
	says(t, log, "said another hello than before")
	if p.Objective("pi-1").(objective.Policy).MayWork(objective.Work{}) {
		t.Error("a device without a program may work")
	}
}

// TestClose: Close kills a program that does not end when its input ends.
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

// TestCloseAtHello: if Close ends a program during its restart, the program does not restart again.
func TestCloseAtHello(t *testing.T) {
	t.Setenv("ZOFL_TEST_MARK", filepath.Join(t.TempDir(), "mark"))
	p, log := startTest(t, "leaves")
	if _, err := ask(t.Context(), p); err == nil {
		t.Error("no error of a program that ended")
	}
	says(t, log, "silent now")
	p.stop()
	<-p.ended
	if n := strings.Count(log.String(), "starts again"); n != 1 {
		t.Errorf("it starts again %d times, want 1: %s", n, log)
	}
}

// TestAttached: without a command, requests go to the process that started this process. When that
// process ends, requests fail.
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
	case <-time.After(await.Patience):
		t.Fatal("it has not ended")
	}
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("Err() = %v", err)
	}
}
