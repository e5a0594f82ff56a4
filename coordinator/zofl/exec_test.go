package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
)

// languages are the programs of examples/exec. With ZOFL_LANGUAGES=all, a missing language fails
// the test.
func languages(t *testing.T) map[string][]string {
	t.Helper()
	programs := map[string][]string{
		"python": {"python3", "../../examples/exec/loss.py"},
		"node":   {"node", "../../examples/exec/loss.mjs"},
		"shell":  {"sh", "../../examples/exec/loss.sh"},
		"c":      {"gcc"},
	}
	for name, command := range programs {
		if _, err := exec.LookPath(command[0]); err != nil {
			if os.Getenv("ZOFL_LANGUAGES") == "all" {
				t.Fatal(err)
			}
			delete(programs, name)
		}
	}
	if _, ok := programs["c"]; ok {
		binary := filepath.Join(t.TempDir(), "loss")
		out, err := exec.Command("gcc", "-Wall", "-Werror", "-o", binary,
			"../../examples/exec/loss.c").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		programs["c"] = []string{binary}
	}
	return programs
}

// calm is a plan whose run goes on with any device absent, although the losses of the devices
// differ a lot.
var calm = []string{"--preset", "decomfl", "--set", "step=0.001", "--set", "mu=0.01", "--set",
	"diverge=0"}

// exec starts a device with a program.
func (k *kitchen) exec(id string, command []string, flags ...string) *process {
	k.t.Helper()
	args := append([]string{"exec", "--url", k.url, "--run", "kitchen", "--id", id, "--json",
		"--dim", fmt.Sprint(kitchenDim)}, flags...)
	return start(k.t, append(append(args, "--"), command...)...)
}

// TestExec: devices with losses in several languages and a device with a loss in Go train one
// model, and all end with the same model. (The programs are in examples/exec. The loss in Go
// differs by device.)
func TestExec(t *testing.T) {
	programs := languages(t)
	if len(programs) == 0 {
		t.Skip("no other language is here")
	}
	n := fmt.Sprint(len(programs) + 1)
	k := newKitchenOf(t, append(calm, "--set", "members="+n, "--set", "target="+n, "--set",
		"quorum="+n, "--set", "rounds=30", "--set", "deadline=20000", "--set", "reannounce=1000"))
	inGo := k.device("in-go")
	devices := map[string]*process{}
	model := filepath.Join(t.TempDir(), "model.npy")
	for name, command := range programs {
		var flags []string
		if name == "shell" {
			flags = []string{"--out", model}
		}
		devices[name] = k.exec(name, command, flags...)
	}
	for name, d := range devices {
		if code := d.exited(); code != 0 {
			t.Errorf("%s: exit code %d: %s", name, code, d.stderr.String())
		}
	}
	waitFor(t, inGo, `"event":"stopped"`)
	want := end(t, inGo.out.String())
	if want.N < 30 {
		t.Errorf("the device in Go ended with %+v", want)
	}
	for name, d := range devices {
		if got := end(t, d.out.String()); got != want {
			t.Errorf("%s ended with %+v, the device in Go with %+v", name, got, want)
		}
		if c := strings.Count(d.out.String(), `"loss":`); c < 20 {
			t.Errorf("%s took part in %d of 30 rounds: %s", name, c, d.stderr.String())
		}
	}
	if programs["shell"] == nil {
		return
	}
	if x, err := vector.Read(model); err != nil || len(x) != kitchenDim {
		t.Errorf("the model of --out: %d numbers, %v", len(x), err)
	}
}

// An ending is the last line of a device with --json.
type ending struct {
	N      uint64
	Digest string
}

func end(t *testing.T, out string) (last ending) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	decode(t, lines[len(lines)-1], &last)
	return last
}

// kills bounds the kills of TestExecKill: a program that is killed before it computes anything
// starts again after a pause that doubles each time.
const kills = 8

// TestExecKill: a device or a program that is killed takes part again after its restart, and has
// the same model as the other devices.
func TestExecKill(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	k := newKitchenOf(t, calm)
	inGo := k.device("in-go")
	random := rand.New(rand.NewPCG(1, 2))
	command := []string{"sh", "-c", "echo pid $$ >&2; exec python3 ../../examples/exec/loss.py"}
	store := []string{"--store", filepath.Join(k.dir, "killed")}
	d := k.exec("killed", command, store...)
	for range kills {
		d.contributes()
		d.goesOn(random.IntN(10)) // anywhere in a round
		program := d.pid()
		if random.IntN(2) == 0 {
			if p, err := os.FindProcess(program); err == nil { // else it has ended
				if err = p.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
					t.Fatal(err)
				}
			}
			continue
		}
		if err := d.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-d.done
		await.That(t, "its program ends", func() bool { return await.Ended(program) })
		d = k.exec("killed", command, store...)
	}
	d.contributes()
	if _, err := k.ask("stop"); err != nil {
		t.Fatal(err)
	}
	if code := d.exited(); code != 0 {
		t.Errorf("exit code %d: %s", code, d.stderr.String())
	}
	waitFor(t, inGo, `"event":"stopped"`)
	if got, want := end(t, d.out.String()), end(t, inGo.out.String()); got != want {
		t.Errorf("it ended with %+v, the other device with %+v", got, want)
	}
}

// contributes waits until a device takes part in a round from now on.
func (p *process) contributes() {
	p.t.Helper()
	p.prints(`"loss":`, 1)
}

// goesOn waits until a device has printed the given number of further progress lines. A round has
// several lines.
func (p *process) goesOn(steps int) {
	p.t.Helper()
	p.prints("\n", steps)
}

// prints waits until a device prints a text n times more.
func (p *process) prints(text string, n int) {
	p.t.Helper()
	want := n + strings.Count(p.out.String(), text)
	if !p.out.Until(func(out string) bool { return strings.Count(out, text) >= want }) {
		p.t.Fatalf("no %q in %v: %s%s", text, patience, p.out.String(), p.stderr.String())
	}
}

// pid returns the process id of a device's last program.
func (p *process) pid() (pid int) {
	p.t.Helper()
	for line := range strings.Lines(p.stderr.String()) {
		if _, text, ok := strings.Cut(line, `msg="pid `); ok {
			_, _ = fmt.Sscan(strings.ReplaceAll(text, `"`, " "), &pid)
		}
	}
	if pid == 0 {
		p.t.Fatal("no program said its pid:", p.stderr.String())
	}
	return pid
}

// TestExecStdio: the program that started zofl computes the loss. When that program ends, the
// device ends.
func TestExecStdio(t *testing.T) {
	k := newKitchenOf(t, calm)
	k.device("in-go")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "exec", "--stdio", "--json", "--url", k.url, "--run", "kitchen",
		"--id", "attached")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var stderr await.Text
	cmd.Stderr = &stderr
	answers, err1 := cmd.StdinPipe()
	requests, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	answered := 0
	lines := bufio.NewScanner(requests)
	for answered < 10 && lines.Scan() {
		answer := "error unknown"
		switch verb, rest, _ := strings.Cut(lines.Text(), " "); verb {
		case "hello":
			answer = fmt.Sprint("hello 1 dim=", kitchenDim)
		case "map":
			answer = "ok"
		case "loss":
			answer, answered = "loss 1.5", answered+1
			if !strings.Contains(rest, "device=attached ") || !strings.Contains(rest, " points=1 ") {
				t.Errorf("request %q", lines.Text())
			}
		}
		if _, err := io.WriteString(answers, answer+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	answers.Close()
	_, _ = io.Copy(io.Discard, requests)
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, stderr.String())
	}
	if answered < 10 || !strings.Contains(stderr.String(), `"event":"stopped"`) {
		t.Errorf("%d requests; standard error: %s", answered, stderr.String())
	}
}

// TestExecRefuses: exec refuses a wrong command line, and a program whose hello contradicts the
// plan.
func TestExecRefuses(t *testing.T) {
	k := newKitchen(t)
	device := []string{"exec", "--url", k.url, "--run", "kitchen", "--id", "wrong"}
	for want, args := range map[string][]string{
		"the program is missing": {},
		"give one of both":       {"--stdio", "--", "true"},
		"--dim -1":               {"--dim", "-1", "--", "true"},
		"--startup 0s":           {"--startup", "0", "--", "true"},
		"--grace 0s":             {"--grace", "0", "--", "true"},
	} {
		if _, err := zofl(t, append(device, args...)...); !errors.As(err, new(cli.UsageError)) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
	if _, err := zofl(t, append(device, "--", "true")...); err == nil ||
		!strings.Contains(err.Error(), "the program ended: exit status 0") {
		t.Errorf("a program that ends at once: %v", err)
	}
	sh := []string{"--dim", fmt.Sprint(kitchenDim + 1), "--", "sh", "../../examples/exec/loss.sh"}
	if _, err := zofl(t, append(device, sh...)...); !errors.As(err, new(cli.UsageError)) ||
		!strings.Contains(err.Error(), fmt.Sprint("dim=", kitchenDim+1)) {
		t.Errorf("another dim than the plan's: %v", err)
	}
}
