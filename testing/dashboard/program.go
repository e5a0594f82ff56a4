package dashboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// Build compiles the program into a directory. The working directory must be in the source tree,
// and root must be the path to the top of the tree.
func Build(root, dir string) (file string, err error) {
	file = filepath.Join(dir, "zofl")
	out, err := exec.Command("go", "-C", filepath.Join(root, "coordinator/zofl"), "build", "-o", file,
		".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return file, nil
}

// A Serve is a process of `zofl serve --http`, or of `zofl dashboard`, which has only a Page.
type Serve struct {
	Run   string
	URL   string // of the broker
	Page  string // http://127.0.0.1:PORT/
	Token string
	Dir   string // of its log's directory
	PID   int

	cmd   *exec.Cmd
	ended chan struct{}
	log   *output
}

// Start runs the program with a plan, in a directory, and waits until the program leads the run.
func Start(ctx context.Context, zofl, dir string, plan *plan.Plan, more ...string) (*Serve, error) {
	file := filepath.Join(dir, "plan.json")
	b, err := planfile.Plan(*plan).MarshalJSON()
	if err == nil {
		err = os.WriteFile(file, b, 0o600)
	}
	if err != nil {
		return nil, err
	}
	store := filepath.Join(dir, "log")
	s, err := launch(ctx, zofl, append([]string{"serve", file, "--store", store, "--listen",
		"127.0.0.1:0", "--http", "127.0.0.1:0"}, more...)...)
	if err != nil {
		return nil, err
	}
	s.Run, s.Dir = plan.Run, dir
	if s.URL, err = s.await(ctx, regexp.MustCompile(`msg=leading .*broker=(\S+)`)); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	content, err := os.ReadFile(filepath.Join(store, "dashboard.token"))
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	s.Token = strings.TrimSpace(string(content))
	return s, nil
}

// Browse runs `zofl dashboard` with arguments, and waits until the program serves its page.
func Browse(ctx context.Context, zofl string, args ...string) (*Serve, error) {
	return launch(ctx, zofl, append([]string{"dashboard", "--http", "127.0.0.1:0"}, args...)...)
}

// launch starts the program, and waits until it serves its page.
func launch(ctx context.Context, zofl string, args ...string) (*Serve, error) {
	s := &Serve{ended: make(chan struct{}), log: &output{}, cmd: exec.Command(zofl, args...)}
	s.cmd.Stderr = s.log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.PID = s.cmd.Process.Pid
	go func() { _ = s.cmd.Wait(); close(s.ended) }()
	var err error
	if s.Page, err = s.await(ctx, regexp.MustCompile(`msg=dashboard url=(\S+)`)); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// await waits for a line of the log, and returns the groups of its match.
func (s *Serve) await(ctx context.Context, line *regexp.Regexp) (string, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if found := line.FindStringSubmatch(s.log.String()); found != nil {
			return found[1], nil
		}
		select {
		case <-tick.C:
		case <-s.ended:
			return "", fmt.Errorf("zofl serve ended: %s", s.log.String())
		case <-ctx.Done():
			return "", fmt.Errorf("no line %v in: %s", line, s.log.String())
		}
	}
}

// Stop ends the process, and waits for its end.
func (s *Serve) Stop() error {
	err := s.cmd.Process.Kill()
	<-s.ended
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Log is the process's standard error so far.
func (s *Serve) Log() string { return s.log.String() }

// An output collects the output of a process.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
