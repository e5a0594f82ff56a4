package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A program is a Go program of a page, as a process.
type program struct {
	cmd    *exec.Cmd
	output *os.File
	ended  chan struct{}
}

// compile builds a program from the root of the repository, as its reader does.
func (s *session) compile(name, text string) string {
	s.t.Helper()
	source := filepath.Join(s.dir, name+".go")
	text = strings.ReplaceAll(text, "127.0.0.1:4222", s.address)
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	binary := filepath.Join(s.dir, name)
	cmd := exec.Command("go", "build", "-o", binary, source)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("go build: %v\n%s", err, out)
	}
	return binary
}

// start starts a program in the session's folder, until the test ends.
func (s *session) start(binary string) *program {
	s.t.Helper()
	output := s.file(filepath.Base(binary) + ".output")
	p := &program{cmd: exec.Command(binary), output: output, ended: make(chan struct{})}
	p.cmd.Dir = filepath.Join(s.dir, "work")
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.SysProcAttr = attributes()
	if err := p.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // a kill is an error here
		close(p.ended)
	}()
	s.t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.ended
		p.output.Close()
	})
	return p
}

// wait waits for a program's end, and reports whether the program succeeded.
func (s *session) wait(p *program) bool {
	s.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		s.t.Fatalf("%s has not ended within %v", p.cmd.Path, patience)
	}
	return p.cmd.ProcessState.Success()
}

// said returns the output of a program.
func (p *program) said() string {
	b, err := os.ReadFile(p.output.Name())
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// programmed compiles a Go block and runs it: a device until the device has contributed to a round,
// any other program until the page is finished. through checks such a program.
func (s *session) programmed(b Block) (through func()) {
	s.t.Helper()
	p := s.start(s.compile(fmt.Sprintf("block-%d", b.Line), b.Text))
	if !strings.Contains(b.Text, "client.New(") {
		return func() {
			if !s.wait(p) {
				s.t.Errorf("line %d: the program failed:\n%s", b.Line, p.said())
			}
		}
	}
	m := runName.FindStringSubmatch(b.Text)
	if m == nil {
		s.t.Fatalf(`line %d: the device has no Run: "name"`, b.Line)
	}
	s.contributed(m[1])
	return func() {
		select {
		case <-p.ended:
			if !p.cmd.ProcessState.Success() {
				s.t.Errorf("line %d: the device failed:\n%s", b.Line, p.said())
			}
		default: // its run goes on
		}
	}
}

// TestMistakesAreSeen makes typical mistakes in the README's program, and checks the messages that
// the program prints.
func TestMistakesAreSeen(t *testing.T) {
	t.Parallel()
	zofl := built(t)
	page, err := Read(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := page.Only("go")
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t, zofl)
	for _, block := range page.Blocks {
		if block.Kind == "sh" && strings.Contains(block.Text, "zofl serve") {
			s.typed(block)
		}
	}
	for i, c := range []struct{ right, wrong, says string }{
		{"dim = 2", "dim = 3", "the plan has 2, this model 3"},
		{"Initial: nil,", "Initial: nil, RunKey: make([]byte, 32),", "wrong run key"},
		{`ID: "pi-1"`, `ID: "pi 1"`, "give each device a name of its own"},
	} {
		text := strings.Replace(b.Text, c.right, c.wrong, 1)
		if text == b.Text {
			t.Fatalf("the program has no %q", c.right)
		}
		p := s.start(s.compile(fmt.Sprintf("mistake-%d", i), text))
		if s.wait(p) || !strings.Contains(p.said(), c.says) {
			t.Errorf("%s: the program said\n%swant an error with %q", c.wrong, p.said(), c.says)
		}
	}
}
