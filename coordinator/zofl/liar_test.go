package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
)

// asLoss makes the test's binary behave as a program of zofl exec. Two arguments follow: which
// share of the digits is the device's, and the factor by which the program multiplies its loss.
const asLoss = "loss-of-digits"

// The programs train a softmax classifier of drawn digits.
const (
	liarShares  = 5
	liarSamples = 100 // of a share
	liarDim     = 500
)

// answerLosses answers the requests on standard input.
func answerLosses(args []string) {
	share, _ := strconv.Atoi(args[0])
	factor, _ := strconv.ParseFloat(args[1], 64)
	digits := data.Digits(liarShares*liarSamples, 1).Shrink(4)
	mean, std := digits.Moments()
	model := softmax.New(digits, mean, std)
	var mine []int
	for i := range liarSamples {
		mine = append(mine, i*liarShares+share)
	}
	path, lines := "", bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case "hello":
			fmt.Printf("hello 1 dim=%d points=64\n", liarDim)
		case "map":
			_, path, _ = strings.Cut(rest, "path=")
			fmt.Println("ok")
		case "loss":
			_, points, _ := strings.Cut(rest, "points=")
			points, _, _ = strings.Cut(points, " ")
			n, _ := strconv.Atoi(points)
			file, err := os.ReadFile(path)
			if err != nil {
				fmt.Println("error", err)
				continue
			}
			answer := "loss"
			for i := range n {
				x := make([]float32, liarDim)
				for j := range x {
					x[j] = math.Float32frombits(binary.LittleEndian.Uint32(file[4*(i*liarDim+j):]))
				}
				answer += fmt.Sprint(" ", factor*model.Loss(x, mine))
			}
			fmt.Println(answer)
		}
	}
}

// A fleetOfFive is a run of five programs of zofl exec, all of them processes of their own. The
// program of d5 may lie.
type fleetOfFive struct {
	*testing.T
	dir, url, web string
	lead          *process
}

func newFleetOfFive(t *testing.T, lie string, fields ...string) *fleetOfFive {
	t.Helper()
	dir, address, web := t.TempDir(), freeport.Address(t), freeport.Address(t)
	f := &fleetOfFive{T: t, dir: dir, url: "nats://" + address, web: "http://" + web}
	file := filepath.Join(dir, "plan.json")
	args := []string{"plan", "--run", "five", "--dim", fmt.Sprint(liarDim), "--write", file}
	for _, field := range append([]string{"members=5", "batch=0"}, fields...) {
		args = append(args, "--set", field)
	}
	if code, _, stderr := runs(t, args...); code != 0 {
		t.Fatal(stderr)
	}
	f.lead = start(t, "serve", file, "--store", filepath.Join(dir, "log"), "--listen", address,
		"--http", web)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for i := range liarShares {
		factor := "1"
		if i == liarShares-1 {
			factor = lie
		}
		start(t, "exec", "--url", f.url, "--run", "five", "--id", fmt.Sprint("d", i+1), "--store",
			filepath.Join(dir, fmt.Sprint("d", i+1)), "--", self, asLoss, fmt.Sprint(i), factor)
	}
	return f
}

// ask runs an operator's command, and returns what it prints.
func (f *fleetOfFive) ask(args ...string) string {
	f.Helper()
	code, out, stderr := runs(f.T, append(args, "--url", f.url, "--run", "five")...)
	if code != 0 {
		f.Fatalf("zofl %v: exit code %d: %s", args, code, stderr)
	}
	return out
}

// status asks until the status is as it should be.
func (f *fleetOfFive) status(what string, is func(*operate.Status) bool) *operate.Status {
	f.Helper()
	var s operate.Status
	for began := time.Now(); ; {
		code, out, stderr := runs(f.T, "status", "--json", "--url", f.url, "--run", "five")
		if code == 0 {
			s = operate.Status{}
			decode(f.T, out, &s)
			if is(&s) {
				return &s
			}
		} else if code != cli.ExitAbsent {
			f.Fatal(stderr)
		}
		if time.Since(began) > patience {
			f.Fatalf("not %s: %+v\n%s", what, s, f.lead.stderr.String())
		}
	}
}

// get reads JSON from the dashboard.
func (f *fleetOfFive) get(path string, v any) {
	f.Helper()
	r, err := http.Get(f.web + path)
	if err != nil {
		f.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		f.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		f.Fatalf("%s: %v in %s", path, err, text)
	}
}

// command is a command in a text for people.
var command = regexp.MustCompile("`zofl ([^`]*)`")

// obey runs the commands in the reason of a pause, word for word.
func (f *fleetOfFive) obey(reason string) {
	f.Helper()
	for _, c := range command.FindAllStringSubmatch(reason, -1) {
		f.ask(strings.Fields(c[1])...)
	}
}

func ended(s *operate.Status) bool { return s.State == "ended" }

// TestOneLiarOfFive: of five programs, one answers -10 times its loss. The log, zofl status, zofl
// devices and the dashboard name it. Whoever follows the advice word for word has a run that
// learns, and names nobody.
func TestOneLiarOfFive(t *testing.T) {
	if testing.Short() {
		t.Skip("eleven processes")
	}
	f := newFleetOfFive(t, "-10", "rounds=300", "step=0.4", "quorum=4")
	s := f.status("named", func(s *operate.Status) bool { return len(s.Suspects) > 0 || ended(s) })
	if !strings.Contains(s.Suspects["d5"], "`zofl retire d5`") || len(s.Suspects) != 1 {
		t.Errorf("the status names %v", s.Suspects)
	}
	f.lead.says(&f.lead.stderr, "contributions stand out", "id=d5", "zofl retire d5")
	if out := f.ask("status"); !strings.Contains(out, "suspect") || !strings.Contains(out, "d5: ") {
		t.Errorf("zofl status does not name it:\n%s", out)
	}
	if out := f.ask("devices"); strings.Count(out, "suspect: ") != 1 {
		t.Errorf("zofl devices:\n%s", out)
	}
	var page struct{ Devices []operate.Device }
	f.get("/api/runs/five/devices", &page)
	for _, d := range page.Devices {
		if (d.Suspect != "") != (d.ID == "d5") {
			t.Errorf("the dashboard: %s: suspect %q", d.ID, d.Suspect)
		}
	}
	f.obey(s.Suspects["d5"])
	s = f.status("ended", ended)
	if s.Loss > 1 || s.NoFall != "" || len(s.Suspects) > 0 {
		t.Errorf("it ended at a loss of %v, which began at 2.3: %q, %v", s.Loss, s.NoFall, s.Suspects)
	}
}

// TestTooLargeAStep: a run of five honest programs that diverges because of its step names no
// device, and its pause advises a smaller step. Who follows the advice has a run that learns.
func TestTooLargeAStep(t *testing.T) {
	if testing.Short() {
		t.Skip("eleven processes")
	}
	f := newFleetOfFive(t, "1", "rounds=60", "step=8")
	s := f.status("paused", func(s *operate.Status) bool { return s.State == "paused" || ended(s) })
	if !strings.Contains(s.Reason, "`zofl change step=0.8`") || strings.Contains(s.Reason, "retire") ||
		len(s.Suspects) > 0 || strings.Contains(f.ask("devices"), "suspect") {
		t.Fatalf("%s: %q, suspects %v", s.State, s.Reason, s.Suspects)
	}
	for !ended(s) {
		f.obey(s.Reason)
		s = f.status("paused or ended", func(s *operate.Status) bool {
			return s.State == "paused" || ended(s)
		})
	}
	if s.Loss > 1.5 || len(s.Suspects) > 0 {
		t.Errorf("it ended at a loss of %v, which began at 2.3: %v", s.Loss, s.Suspects)
	}
}

// TestLiarOfADefaultPlan: with the plan that zofl plan writes, a program that lies is named while
// the run goes on.
func TestLiarOfADefaultPlan(t *testing.T) {
	if testing.Short() {
		t.Skip("eleven processes")
	}
	for _, lie := range []string{"-10", "300"} {
		f := newFleetOfFive(t, lie)
		s := f.status("named", func(s *operate.Status) bool { return len(s.Suspects) > 0 })
		if s.Suspects["d5"] == "" || len(s.Suspects) > 1 || s.Rounds > 100 {
			t.Errorf("%s: in round %d suspects are %v", lie, s.Rounds, s.Suspects)
		}
	}
}
