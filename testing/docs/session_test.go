package docs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// patience limits each wait; a test that passes does not wait that long.
const patience = 3 * time.Minute

// root is the repository.
const root = "../.."

// A session is a reader who types the blocks of a page, one after another, into one shell in an
// empty folder.
type session struct {
	t       *testing.T
	dir     string
	address string // in the place of 127.0.0.1:4222, which other tests may have
	url     string // of the broker there, for an operator
	// operators are, by run, the flags that say who asks; by default anybody, at url
	operators map[string][]string
	shell     *exec.Cmd
	next      *os.File      // the shell reads names of scripts from it
	done      *bufio.Reader // and says when it has run one
	output    *os.File
}

// driver is the shell program of a session: it stops at the first command that fails.
const driver = `set -eEuo pipefail
trap 'echo "failed: $BASH_COMMAND" >&2' ERR
while read -r script <&3; do
	source "$script" 3<&- 4>&-
	echo done >&4
done`

// begin starts a session, until the test ends.
func begin(t *testing.T, zofl string) *session {
	t.Helper()
	s := &session{t: t, dir: t.TempDir(), address: freeport.Address(t),
		operators: map[string][]string{}}
	s.url = "nats://" + s.address
	s.standIns(zofl)
	scripts, next := pipe(t)
	done, says := pipe(t)
	s.next, s.done = next, bufio.NewReader(done)
	s.output = s.file("output")
	s.shell = exec.Command("bash", "-c", driver)
	s.shell.Dir = filepath.Join(s.dir, "work")
	s.shell.Env = append(os.Environ(), "PATH="+filepath.Join(s.dir, "bin")+":"+os.Getenv("PATH"))
	s.shell.ExtraFiles = []*os.File{scripts, says}
	s.shell.Stdout, s.shell.Stderr = s.output, s.output
	s.shell.SysProcAttr = ofGroup()
	if err := s.shell.Start(); err != nil {
		t.Fatal(err)
	}
	scripts.Close()
	says.Close()
	t.Cleanup(s.end)
	return s
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// end kills the shell and its background processes.
func (s *session) end() {
	killGroup(s.shell.Process)
	_ = s.shell.Wait()
	s.next.Close()
	if s.t.Failed() {
		b, _ := os.ReadFile(s.output.Name())
		s.t.Logf("the session's output:\n%s", b[max(0, len(b)-6000):])
	}
	s.output.Close()
}

// standIns are programs that replace the pages' commands: a zofl that uses a port of this session,
// and the two commands of the README. The first of the two is shortened, and the second is the
// program that runs this test.
func (s *session) standIns(zofl string) {
	for _, dir := range []string{"bin", "work"} {
		if err := os.Mkdir(filepath.Join(s.dir, dir), 0o755); err != nil {
			s.t.Fatal(err)
		}
	}
	s.script("bin/zofl", fmt.Sprintf(`arguments=("${@//127.0.0.1:4222/%[1]s}")
arguments=("${arguments[@]//127.0.0.1:4223/%[3]s}")
case "${1:-} $*" in serve*--url* | serve*--listen*) ;; serve*) arguments+=(--listen %[1]s) ;; esac
exec %[2]s "${arguments[@]}"`, s.address, zofl, freeport.Address(s.t)))
	s.script("bin/go", fmt.Sprintf(`case "$*" in
"-C coordinator/zofl install .") ;;
"-C coordinator/zofl run . demo") exec %s demo --rounds 20 ;;
*) echo "the checks have no stand-in for: go $*" >&2; exit 1 ;;
esac`, zofl))
	s.script("work/check.sh", "exit 0")
}

func (s *session) script(name, text string) {
	s.t.Helper()
	file := filepath.Join(s.dir, name)
	if err := os.WriteFile(file, []byte("#!/usr/bin/env bash\n"+text+"\n"), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) file(name string) *os.File {
	s.t.Helper()
	f, err := os.Create(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return f
}

var (
	runFlag = regexp.MustCompile(`--run (\w+)`)
	runName = regexp.MustCompile(`Run: +"(\w+)"`)
	ofUsers = regexp.MustCompile(`zofl serve.* --auth (\S+)`)
	creds   = regexp.MustCompile(`zofl status --url (\S+) --creds (\S+) --run (\w+)`)
)

// typed runs a shell block, and waits until the programs that the block started are ready, as a
// reader would.
func (s *session) typed(b Block) {
	s.t.Helper()
	script := filepath.Join(s.dir, fmt.Sprintf("block-%d.sh", b.Line))
	if err := os.WriteFile(script, []byte(b.Text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintln(s.next, script)
	answer := make(chan error, 1)
	go func() {
		_, err := s.done.ReadString('\n')
		answer <- err
	}()
	select {
	case err := <-answer:
		if err != nil {
			s.t.Fatalf("line %d: the block failed", b.Line)
		}
	case <-time.After(patience):
		s.t.Fatalf("line %d: the block takes more than %v: put & behind what stays",
			b.Line, patience)
	}
	if m := ofUsers.FindStringSubmatch(b.Text); m != nil {
		s.until("the broker has no users", func() bool {
			_, err := os.Stat(filepath.Join(s.dir, "work", m[1], "nats.conf"))
			return err == nil
		})
	}
	if m := creds.FindStringSubmatch(b.Text); m != nil {
		s.operators[m[3]] = []string{"--url", m[1], "--creds", filepath.Join(s.dir, "work", m[2])}
	}
	for _, m := range runFlag.FindAllStringSubmatch(b.Text, -1) {
		if strings.Contains(b.Text, "zofl client") && strings.Contains(b.Text, "&\n") {
			s.contributed(m[1])
		}
	}
}

// status is what the coordinator of a run says of it.
type status struct {
	Rounds    uint64
	Reference struct{ N uint64 }
}

// status asks the coordinator for the run's status. It returns the zero status if nobody answers.
func (s *session) status(run string) (v status) {
	operator := s.operators[run]
	if operator == nil {
		operator = []string{"--url", s.url}
	}
	out, err := exec.Command(filepath.Join(s.dir, "bin/zofl"), append([]string{"status", "--run", run,
		"--json"}, operator...)...).Output()
	if err != nil || json.Unmarshal(out, &v) != nil {
		return status{}
	}
	return v
}

// contributed waits until a run has finished a round.
func (s *session) contributed(run string) {
	s.t.Helper()
	s.until(fmt.Sprintf("no round of run %s was made", run), func() bool {
		return s.status(run).Rounds > 0
	})
}

func (s *session) until(failure string, true func() bool) {
	s.t.Helper()
	again, late := time.Tick(100*time.Millisecond), time.After(patience)
	for !true() {
		select {
		case <-again: // the answer is another process's
		case <-late:
			s.t.Fatalf("%s within %v", failure, patience)
		}
	}
}
