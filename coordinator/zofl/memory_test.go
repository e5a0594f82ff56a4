//go:build linux && !race

package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/plan/cost"
)

// largeDim is the dim of a model whose vectors, of 32 MB each, stand out in a process.
const largeDim = 8_000_000

// zeros makes a file of a model of zeros, in the format of its ending. A .f32 begins with a 1.
func zeros(t *testing.T, name string) string {
	t.Helper()
	var header []byte
	size := int64(4 * largeDim)
	switch filepath.Ext(name) {
	case ".f32":
		header, size = []byte{0, 0, 0x80, 0x3f}, size-4
	case ".npy":
		header = fmt.Appendf(nil, "\x93NUMPY\x01\x00%c\x00%-117s\n", 118,
			fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }", largeDim))
	case ".safetensors": // halves, in two tensors
		text := fmt.Sprintf(`{"b":{"dtype":"BF16","shape":[%d],"data_offsets":[0,%d]},`+
			`"a":{"dtype":"F16","shape":[%[1]d],"data_offsets":[%[2]d,%[3]d]}}`, largeDim/2, largeDim,
			2*largeDim)
		header = append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
		size = 2 * largeDim
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, header, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(header))+size); err != nil {
		t.Fatal(err)
	}
	return path
}

// peak runs the program to its end, and returns the most memory that it held.
func peak(t *testing.T, args ...string) (out string, bytes uint64) {
	t.Helper()
	p := start(t, args...)
	status := fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid)
	for look := time.NewTicker(2 * time.Millisecond); ; {
		select {
		case <-p.done:
			look.Stop()
			if code := p.exited(); code != 0 {
				t.Fatalf("zofl %v: exit code %d: %s", args, code, p.stderr.String())
			}
			return p.out.String(), bytes
		case <-look.C:
		}
		bytes = max(bytes, held(status))
	}
}

// held returns the most memory that a process held so far, or 0 if it has ended.
func held(status string) (bytes uint64) {
	text, err := os.ReadFile(status)
	if err != nil {
		return 0
	}
	if _, line, ok := strings.Cut(string(text), "VmHWM:"); ok {
		fmt.Sscan(line, &bytes)
	}
	return bytes << 10
}

// A large run is one whose model has largeDim parameters, in a folder of its own.
type largeRun struct {
	t       *testing.T
	given   []string // the flags of the model's file
	process cost.Process
	serve   *process
	url     string

	contributions uint64 // bytes of the coordinator for a round
}

// startLarge makes a plan and serves it. begins is the file of the first model; "": zeros.
func startLarge(t *testing.T, begins string, set []string) *largeRun {
	t.Helper()
	t.Setenv("GOMAXPROCS", "2") // Go needs memory for each processor
	t.Setenv("GOGC", "")
	t.Chdir(t.TempDir())
	address := freeport.Address(t)
	l := &largeRun{t: t, url: "nats://" + address}
	args := []string{"plan", "--json", "--preset", "decomfl", "--run", "large", "--write", "plan.json"}
	for _, s := range append([]string{"members=1", "target=1", "quorum=1", "rounds=3",
		"perturbations=2", "deadline=60000"}, set...) {
		args = append(args, "--set", s)
	}
	if begins != "" {
		l.given = []string{"--initial", zeros(t, begins)}
	} else {
		args = append(args, "--dim", fmt.Sprint(largeDim))
	}
	out, bytes := peak(t, append(args, l.given...)...)
	var said struct {
		Process cost.Process
		Cost    cost.Round
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatal(err)
	}
	l.process, l.contributions = said.Process, said.Cost.Coordinator
	if bytes > cost.ProgramBytes && l.contributions < largeDim { // for vectors it makes one
		t.Errorf("zofl plan: %d bytes, want at most %d", bytes, cost.ProgramBytes)
	}
	l.serve = start(t, "serve", "plan.json", "--store", "log", "--listen", address)
	return l
}

// device checks that a command takes part with the memory that the plan says, or up to three
// quarters of a vector less.
func (l *largeRun) device(most uint64, command string, args ...string) {
	l.t.Helper()
	flags := []string{command, "--url", l.url, "--run", "large", "--id", "d0", "--store", "d0"}
	_, bytes := peak(l.t, slices.Concat(flags, l.given, args)...)
	l.t.Logf("zofl %s: %d bytes of %d", command, bytes, most)
	if bytes > most || bytes < most-3*largeDim {
		l.t.Errorf("zofl %s: %d bytes, want %d, or up to %d less", command, bytes, most, 3*largeDim)
	}
}

// coordinator checks that the coordinator holds its contributions. With vectors it holds up to
// seven more: the mean, its bytes, those that it sends, and those that grow as they arrive.
func (l *largeRun) coordinator() {
	l.t.Helper()
	bytes := held(fmt.Sprintf("/proc/%d/status", l.serve.cmd.Process.Pid))
	most := uint64(cost.ProgramBytes)
	if l.contributions > largeDim { // vectors
		most += l.contributions + 7*4*largeDim
	}
	l.t.Logf("zofl serve: %d bytes of %d", bytes, most)
	if bytes > most {
		l.t.Errorf("zofl serve: %d bytes, want at most %d", bytes, most)
	}
}

// export checks that the model is written with the memory of one replica.
func (l *largeRun) export(out string) {
	l.t.Helper()
	if code := l.serve.interrupt(); code != 0 {
		l.t.Fatalf("zofl serve: exit code %d", code)
	}
	_, bytes := peak(l.t, append([]string{"export", "--store", "log", "--out", out}, l.given...)...)
	if most := l.process.Exec - 4*largeDim; bytes > most {
		l.t.Errorf("zofl export: %d bytes, want at most %d", bytes, most)
	}
}

// TestProcessMemory: the process of a device takes the memory that `zofl plan` says, from its start
// to its end. The model that was given and the model that is written take none. The commands that
// read and write models hold the model once, or not at all.
func TestProcessMemory(t *testing.T) {
	for _, c := range []struct {
		begins, out string
		set         []string
	}{
		{"m.f32", "end.f32", []string{"eval_every=1", "eval_count=1", `metrics=["loss"]`}},
		{"m.npy", "end.npy", []string{"rule=momentum", "beta=0.9"}},
		{"m.safetensors", "end.safetensors", []string{"steps=2"}},
		{"m.npy", "end.npy", []string{"transport=dense", "dense_keep=2"}},
	} {
		t.Run(fmt.Sprint(c.begins, c.set), func(t *testing.T) {
			if testing.Short() && c.begins != "m.safetensors" {
				t.Skip("it takes two seconds")
			}
			l := startLarge(t, c.begins, c.set)
			if err := os.WriteFile("loss.sh", []byte(firstElement), 0o600); err != nil {
				t.Fatal(err)
			}
			l.device(l.process.Exec, "exec", "--out", c.out, "--", "sh", "loss.sh")
			l.coordinator()
			l.export("again" + filepath.Ext(c.out))
		})
	}
	t.Run("a flat loss", func(t *testing.T) {
		l := startLarge(t, "", nil)
		l.device(l.process.Flat-cost.AppBytes+cost.ProgramBytes, "client", "--out", "end.f32",
			"--objective", "none", "--dim", fmt.Sprint(largeDim))
		l.export("again.f32")
	})
}

// firstElement is a program whose loss is the model's first parameter.
const firstElement = `while read -r verb args; do
	case $verb in
	hello) echo "hello 1 dim=8000000 evaluate=1" ;;
	map) path=${args##*path=} && echo ok ;;
	evaluate) echo metrics 1 ;;
	loss) echo "loss" $(od -A n -t f4 -N 4 "$path") ;;
	esac
done
`
