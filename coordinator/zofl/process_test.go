package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// asProgram makes the test's binary behave as the program.
const asProgram = "ZOFL_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == asLoss {
		answerLosses(os.Args[2:])
		return
	}
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A process is the program, run by the operating system.
type process struct {
	t           *testing.T
	args        []string
	cmd         *exec.Cmd
	out, stderr await.Text
	done        chan struct{} // closed when it has ended
}

// start starts the program. It is killed when the test ends.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startWith(t, nil, args...)
}

// startWith is start with a standard input; nil: it is empty.
func startWith(t *testing.T, in *os.File, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, args: args, done: make(chan struct{})}
	p.cmd = exec.CommandContext(context.Background(), self, args...)
	p.cmd.Env = append(os.Environ(), asProgram+"=1")
	if in != nil {
		p.cmd.Stdin = in
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); close(p.done) }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.done })
	return p
}

// exited returns the exit code, once the program has ended.
func (p *process) exited() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatalf("zofl %v has not ended in %v: %s", p.args, patience, p.stderr.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// says waits until a line of one of the program's streams has all the texts.
func (p *process) says(stream *await.Text, texts ...string) string {
	p.t.Helper()
	said := ""
	if !stream.Until(func(text string) bool {
		for line := range strings.Lines(text) {
			if hasAll(line, texts) {
				said = line
				return true
			}
		}
		return false
	}) {
		p.t.Fatalf("zofl %v did not say %q:\n%s", p.args, texts, stream.String())
	}
	return said
}

func hasAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// interrupt stops the program as Ctrl-C does, and returns its exit code.
func (p *process) interrupt() int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
	return p.exited()
}

// runs runs the program to its end.
func runs(t *testing.T, args ...string) (code int, out, stderr string) {
	t.Helper()
	p := start(t, args...)
	code = p.exited()
	return code, p.out.String(), p.stderr.String()
}

// lines counts the lines of a text that have a part.
func lines(text, part string) (n int) {
	for _, line := range bytes.Split([]byte(text), []byte{'\n'}) {
		if bytes.Contains(line, []byte(part)) {
			n++
		}
	}
	return n
}
