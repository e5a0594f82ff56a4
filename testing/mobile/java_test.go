package mobile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// bound returns the folder that hostjvm.sh made, or skips the test if there is none.
func bound(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("ZOFL_JVM")
	if dir == "" {
		t.Skip("ZOFL_JVM is not set: run android/hostjvm.sh, and set it to the folder " +
			"that it made")
	}
	if !filepath.IsAbs(dir) {
		t.Fatalf("ZOFL_JVM is %s: give a path from the root", dir)
	}
	for _, name := range []string{"gobind.jar", "libgojni.so"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Fatalf("ZOFL_JVM is %s: %v: run android/hostjvm.sh again", dir, err)
		}
	}
	return dir
}

// compile compiles the programs in java once for all tests of this package.
var compile = sync.OnceValues(func() (dir string, err error) {
	sources, err := filepath.Glob("java/*.java")
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "zofl-mobile-"); err != nil {
		return "", err
	}
	made = dir
	args := []string{"--release", "8", "-Xlint:all,-options", "-Werror", "-d", dir,
		"-cp", filepath.Join(os.Getenv("ZOFL_JVM"), "gobind.jar")}
	if out, err := exec.Command("javac", append(args, sources...)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

var made string // the folder of their classes, once it exists

func TestMain(m *testing.M) {
	code := m.Run()
	if made != "" {
		os.RemoveAll(made)
	}
	os.Exit(code)
}

// A line is a line of a program's output; its field "event" is the kind of line.
type line = map[string]any

// A program is a process in a JVM.
type program struct {
	t     *testing.T
	name  string
	cmd   *exec.Cmd
	lines chan line // closed at its end
	err   bytes.Buffer
	ended chan struct{}
}

// java starts a program from folder java, with its settings as name=value arguments. It
// runs until the test ends.
func java(t *testing.T, name string, settings map[string]any, jvm ...string) *program {
	t.Helper()
	dir := bound(t)
	return javaOf(t, name, compiled(t)+":"+filepath.Join(dir, "gobind.jar"), settings, jvm...)
}

// compiled returns the folder of the programs' classes.
func compiled(t *testing.T) string {
	t.Helper()
	classes, err := compile()
	if err != nil {
		t.Fatal(err)
	}
	return classes
}

// javaOf starts a program from a class path, with the heap of an app on a small phone.
func javaOf(t *testing.T, name, classpath string, settings map[string]any, jvm ...string) *program {
	t.Helper()
	args := append([]string{"-Xmx256m", "-Djava.library.path=" + bound(t)}, jvm...)
	args = append(args, "-cp", classpath, name)
	for k, v := range settings {
		args = append(args, fmt.Sprintf("%s=%v", k, v))
	}
	return start(t, name, exec.Command("java", args...))
}

// start starts a process that prints JSON.
func start(t *testing.T, name string, cmd *exec.Cmd) *program {
	t.Helper()
	p := &program{t: t, name: name, cmd: cmd, lines: make(chan line, 10_000),
		ended: make(chan struct{})}
	cmd.Stderr = &p.err
	cmd.SysProcAttr = attributes()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.follow(out)
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s, %v:\n%s", name, cmd.ProcessState, tail(p.err.Bytes()))
		}
	})
	return p
}

func tail(b []byte) []byte { return b[max(0, len(b)-4000):] }

// follow reads the program's output. follow drops lines that the test does not read.
func (p *program) follow(out io.Reader) {
	scanner := bufio.NewScanner(out)
	for scanner.Scan() {
		v := line{}
		if err := json.Unmarshal(scanner.Bytes(), &v); err != nil {
			v = line{"event": "noise", "text": scanner.Text()}
		}
		select {
		case p.lines <- v:
		default:
		}
	}
	_ = p.cmd.Wait() // a kill is an error here
	close(p.lines)
	close(p.ended)
}

// kill sends SIGKILL and waits for the end.
func (p *program) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// next returns the next line with an event.
func (p *program) next(event string) line {
	p.t.Helper()
	return p.find(event, func(v line) bool { return v["event"] == event })
}

// find returns the next line for which wanted is true.
func (p *program) find(what string, wanted func(line) bool) line {
	p.t.Helper()
	late := time.After(patience)
	for {
		select {
		case v, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("%s ended before it printed %q", p.name, what)
			}
			if wanted(v) {
				return v
			}
		case <-late:
			p.t.Fatalf("%s did not print %q within %v", p.name, what, patience)
		}
	}
}

// done waits until the program has ended without an error.
func (p *program) done() {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatalf("%s did not end within %v", p.name, patience)
	}
	if !p.cmd.ProcessState.Success() {
		p.t.Fatalf("%s ended with %v", p.name, p.cmd.ProcessState)
	}
}
