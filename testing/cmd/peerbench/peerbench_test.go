//go:build !race

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// fake is the environment variable that makes the test binary act as an interpreter; its value is
// the kind of interpreter.
const fake = "PEERBENCH_FAKE"

func TestMain(m *testing.M) {
	if kind := os.Getenv(fake); kind != "" {
		os.Exit(interpreter(kind))
	}
	os.Exit(m.Run())
}

func interpreter(kind string) int {
	if kind == "broken" {
		fmt.Fprintln(os.Stderr, "no encodings")
		return 1
	}
	fmt.Println(`{"versions": "Python 9", "missing": ["torch"]}`)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if kind == "dies" {
			return 1
		}
		fmt.Println(`[{"name": "numpy of a kind", "speed": 1e6}]`)
	}
	return 0
}

// run runs the program with fake interpreters of a kind.
func run(t *testing.T, kind string, args ...string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(fake, kind)
	var out strings.Builder
	err = command(t.Context(), &out, append(args, "-rounds", "2", "-python", self+",/no/such/python"))
	return out.String(), err
}

func wantText(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in:\n%s", w, text)
		}
	}
}

func TestCommand(t *testing.T) {
	out, err := run(t, "good")
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, out, "Python 9", "has no torch: "+install, "/no/such/python is left out",
		"numpy of a kind",
		"NormFloat64", "Zofl x += a*z, generic")
}

func TestBrokenInterpreter(t *testing.T) {
	out, err := run(t, "broken")
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, out, "is left out", "no encodings", install, "NormFloat64")
	if out, err := run(t, "dies"); err == nil || !strings.Contains(err.Error(), "answer") {
		t.Errorf("an interpreter that dies: %v\n%s", err, out)
	}
}

func TestCommandRefuses(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"extra"}} {
		if err := command(t.Context(), &strings.Builder{}, args); err == nil {
			t.Errorf("%q: got no error", args)
		}
	}
}

// The script runs in a real interpreter, whatever packages it has.
func TestScript(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3: apt-get install -y python3")
	}
	p, err := start(t.Context(), "python3")
	if err != nil {
		t.Fatal(err)
	}
	speeds, err := p.measure()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.close(); err != nil {
		t.Error(err)
	}
	if want := 7 - 3*count(p, "numpy") - 4*count(p, "torch"); len(speeds) != want {
		t.Errorf("got %v without %v, want %d loops", speeds, p.hello.Missing, want)
	}
	for _, s := range speeds {
		if s.Speed <= 0 {
			t.Errorf("got %+v, want a positive speed", s)
		}
	}
}

func count(p *peer, missing string) (n int) {
	for _, name := range p.hello.Missing {
		if name == missing {
			n++
		}
	}
	return n
}

// Ratios are to the yardstick of the same round, and a row shows medians.
func TestTable(t *testing.T) {
	var tab table
	for _, r := range [][2]float64{{10e6, 5}, {30e6, 10e6}, {40e6, 10e6}} {
		tab.add("py", []speed{{"a", r[0]}}, r[1])
	}
	tab.add("other", []speed{{"a", 1e6}}, 1e6)
	var out strings.Builder
	if err := tab.print(&out); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")
	if want := []string{"a", "30", "4.00", "3.00", "2000000.00", "py"}; len(rows) != 3 ||
		strings.Join(strings.Fields(rows[1]), " ") != strings.Join(want, " ") {
		t.Errorf("got\n%s\nwant the row %q of 3", out.String(), want)
	}
}
