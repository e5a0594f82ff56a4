//go:build linux && !race

package libzofl

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker"
)

// TestMisuse: wrong handles, settings and sizes, threads that wait while a device is closed,
// devices opened by the hundred, a forked child. testdata/misuse.c says what must come of each.
func TestMisuse(t *testing.T) {
	program := compiled(t, "testdata/misuse.c", library(t)+"/libzofl.so")
	b, err := broker.Run(broker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	for _, what := range []string{"settings", "handles", "threads", "leaks", "fork"} {
		t.Run(what, func(t *testing.T) { t.Log(run(t, program, what, b.URL())) })
	}
}

// TestUnload: a program that loads the library at run time can close it, without effect.
func TestUnload(t *testing.T) {
	run(t, compiled(t, "testdata/unload.c"), library(t)+"/libzofl.so")
}

// TestExports: the library exports what its header declares, and nothing else by that prefix. That
// the declarations agree, the compiler of shim.c says.
func TestExports(t *testing.T) {
	dir := library(t)
	header, err := os.ReadFile(dir + "/libzofl.h")
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	for _, m := range regexp.MustCompile(`(?m)^[a-z].*?(zofl_[a-z_]+)\(`).FindAllStringSubmatch(
		string(header), -1) {
		declared = append(declared, m[1])
	}
	out, err := exec.Command("nm", "-D", "--defined-only", dir+"/libzofl.so").Output()
	if err != nil {
		t.Fatal(err)
	}
	var exported []string
	for _, m := range regexp.MustCompile(`(?m) T (zofl_\w+)$`).FindAllStringSubmatch(string(out), -1) {
		exported = append(exported, m[1])
	}
	slices.Sort(declared)
	slices.Sort(exported)
	if len(declared) < 18 || !slices.Equal(declared, exported) {
		t.Errorf("declared\n%s\nexported\n%s", strings.Join(declared, " "), strings.Join(exported, " "))
	}
}
