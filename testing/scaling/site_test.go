//go:build linux

package scaling

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/testing/docs"
	"github.com/zofl/zofl/testing/servers"
)

// patience is the time limit of every wait.
const patience = 3 * time.Minute

const root = "../.."

// buildZofl builds the program once for all tests of this package.
var buildZofl = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "zofl-scaling-"); err != nil {
		return "", err
	}
	built = dir
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "zofl"), ".")
	cmd.Dir = filepath.Join(root, "coordinator/zofl")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build zofl: %w\n%s", err, out)
	}
	return dir, nil
})

var built string // the folder of the program, once there is one

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// A site is a reader's folder with the files of docs/scaling.md, and the processes of a section of
// that page.
type site struct {
	t         *testing.T
	dir, path string         // path: of programs
	ports     map[string]int // in the place of the page's
	processes map[string]*process
}

// newSite makes an empty folder.
// The race detector finds nothing in processes that are built without it.
func newSite(t *testing.T) *site {
	t.Helper()
	if testing.Short() {
		t.Skip("runs processes: without -short")
	}
	program, err := servers.Program()
	if err != nil {
		t.Fatal(err)
	}
	zofl, err := buildZofl()
	if err != nil {
		t.Fatal(err)
	}
	return &site{t: t, dir: t.TempDir(), ports: map[string]int{}, processes: map[string]*process{},
		path: zofl + ":" + filepath.Dir(program) + ":" + os.Getenv("PATH")}
}

// begin makes a folder with the page's configurations, and runs the commands of a section.
func begin(t *testing.T, section string) *site {
	t.Helper()
	s := newSite(t)
	page, err := docs.Read(filepath.Join(root, "docs/scaling.md"))
	if err != nil {
		t.Fatal(err)
	}
	s.number(page)
	ran := 0
	for _, b := range page.Blocks {
		name, _, _ := strings.Cut(strings.TrimPrefix(b.Text, "# "), "\n")
		switch {
		case b.Kind == "conf":
			s.write(name, b.Text)
		case b.Kind == "sh" && heading(page, b.Line) == section:
			s.typed(b.Text)
			ran++
		}
	}
	if ran == 0 {
		t.Fatalf("%s has no shell in %q", page.Name, section)
	}
	return s
}

// heading returns the last heading of the second level above a line.
func heading(p *docs.Page, line int) (h string) {
	for _, text := range p.Lines[:line] {
		if rest, ok := strings.CutPrefix(text, "## "); ok {
			h = rest
		}
	}
	return h
}

// port finds the ports in the page's blocks.
var port = regexp.MustCompile(`([: ])([1-9]\d{3})\b`)

// number gives each port of the page a free one.
func (s *site) number(p *docs.Page) {
	s.t.Helper()
	for _, b := range p.Blocks {
		for _, m := range port.FindAllStringSubmatch(b.Text, -1) {
			if s.ports[m[2]] == 0 {
				s.ports[m[2]] = freeport.Take(s.t, 1)[0]
			}
		}
	}
}

// local is a text of the page with this site's ports.
func (s *site) local(text string) string {
	return port.ReplaceAllStringFunc(text, func(m string) string {
		return m[:1] + strconv.Itoa(s.ports[m[1:]])
	})
}

func (s *site) write(name, text string) {
	s.t.Helper()
	file := filepath.Join(s.dir, name)
	if err := os.WriteFile(file, []byte(s.local(text)), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// typed runs commands, one after another. A command that ends with & keeps running; its --name, its
// --id or its first word names the process.
func (s *site) typed(text string) {
	s.t.Helper()
	variables := ""
	for _, command := range strings.Split(strings.ReplaceAll(s.local(text), "\\\n", ""), "\n") {
		command, stays := strings.CutSuffix(command, " &")
		switch {
		case command == "":
		case assignment.MatchString(command):
			variables += command + "\n"
		case stays:
			s.stay(nameOf(command), variables+"exec "+command)
		default:
			s.run(variables + command)
		}
	}
}

var (
	assignment = regexp.MustCompile(`^\w+=\S+$`)
	named      = regexp.MustCompile(`--(?:name|id) (\S+)`)
)

func nameOf(command string) string {
	if m := named.FindStringSubmatch(command); m != nil {
		return m[1]
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(command, "zofl "), " ")
	return name
}

func (s *site) command(ctx context.Context, text string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-c", text)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "PATH="+s.path)
	return cmd
}

// run runs a command to its end.
func (s *site) run(text string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	out, err := s.command(ctx, s.local(text)).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", text, err, out)
	}
	return string(out)
}

// A process is a command that stays.
type process struct {
	s      *site
	name   string
	text   string
	cmd    *exec.Cmd
	output *os.File
	ended  chan struct{}
}

func (s *site) stay(name, text string) {
	s.t.Helper()
	output, err := os.Create(filepath.Join(s.dir, name+".output"))
	if err != nil {
		s.t.Fatal(err)
	}
	p := &process{s: s, name: name, text: text, output: output}
	s.processes[name] = p
	p.start()
	s.t.Cleanup(func() {
		p.kill()
		if s.t.Failed() {
			b, _ := os.ReadFile(output.Name())
			s.t.Logf("%s:\n%s", name, b[max(0, len(b)-4000):])
		}
		output.Close()
	})
}

// start starts the process, again if it was killed.
func (p *process) start() {
	p.s.t.Helper()
	p.cmd = p.s.command(context.Background(), p.text)
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		p.s.t.Fatal(err)
	}
	ended := make(chan struct{})
	p.ended = ended
	go func(cmd *exec.Cmd) {
		_ = cmd.Wait() // a kill is how most end
		close(ended)
	}(p.cmd)
}

// kill ends the process as a crash does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.ended
}

// until waits until a condition holds.
func (s *site) until(what string, so func() bool) {
	s.t.Helper()
	servers.Eventually(s.t, what, func() error {
		for name, p := range s.processes {
			select {
			case <-p.ended:
				if name == "serve" {
					s.t.Fatalf("%s has ended", name)
				}
			default:
			}
		}
		if !so() {
			return errors.New("not yet")
		}
		return nil
	})
}
