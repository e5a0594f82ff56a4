//go:build !race

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// elements are the elements of an iteration, according to the kernels' sources.
var elements = map[bool][]float64{
	true:  {4, 4, 4, 4, 8, 4, 64},
	false: {2, 2, 2, 2, 8, 4, 64},
}

// tested returns the targets that check.sh compiles for anyway, one with 64 bits and one with 32
// bits. With ZOFL_QEMU set, tested returns all targets, and go compiles the standard library for
// each target.
func tested(t *testing.T) []target {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles the standard library")
	}
	if os.Getenv("ZOFL_QEMU") != "" {
		return targets
	}
	return slices.DeleteFunc(slices.Clone(targets), func(t target) bool {
		return t.name != "amd64" && t.name != "386"
	})
}

func TestKernelsOfTheRealPackage(t *testing.T) {
	for _, target := range tested(t) {
		t.Run(target.name, func(t *testing.T) {
			costs, err := target.measure()
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range costs {
				if want := elements[target.wide][i]; c.Elements != want {
					t.Errorf("%s: got %v elements an iteration, want %v", c.Kernel, c.Elements, want)
				}
				// Each element of a loop takes at least a load, a computation and a store.
				if least := 3 / kernelWidth(kernels[i]); c.PerElement < least || c.PerElement > 60 {
					t.Errorf("%s: got %v instructions an element", c.Kernel, c.PerElement)
				}
			}
		})
	}
}

// kernelWidth returns how many seed-elements share a store.
func kernelWidth(k kernel) float64 { return max(1, 1/k.floats) }

func TestJSON(t *testing.T) {
	targets := tested(t)
	var out bytes.Buffer
	if err := command(&out, targets, true); err != nil {
		t.Fatal(err)
	}
	var costs []cost
	if err := json.Unmarshal(out.Bytes(), &costs); err != nil {
		t.Fatal(err)
	}
	if want := len(kernels) * len(targets); len(costs) != want {
		t.Errorf("got %d costs, want %d", len(costs), want)
	}
	out.Reset()
	print(&out, targets, costs)
	if got, want := strings.Count(out.String(), "\n"), 2+len(kernels); got != want {
		t.Errorf("got %d lines, want %d:\n%s", got, want, &out)
	}
}

// sample has three loops: an outer loop of 32 bytes, an inner loop of 16 bytes with two stores, of
// which one stores a pair, and a loop of 8 bytes that stores only on the stack.
const sample = `p.f STEXT size=44 args=0x0
	0x0000 00000 (a.go:1)	TEXT	p.f(SB), $0
	0x0000 00000 (a.go:2)	PCDATA	$1, 8
	0x0000 00000 (a.go:2)	MOVD	$p.x(SB), R1
	0x0008 00008 (a.go:3)	FADDS	F1, F2, F1
	0x000c 00012 (a.go:3)	FMOVS	F1, (R1)(R2<<2)
	0x0010 00016 (a.go:3)	NOP
	0x0010 00016 (a.go:3)	FSTPS	(F1, F2), 4(R1)
	0x0014 00020 (a.go:4)	BLT	8
	0x0018 00024 (a.go:5)	FMOVS	F1, p.y-4(SP)
	0x001c 00028 (a.go:5)	BNE	24
	0x0020 00032 (a.go:6)	JMP	0
	0x0024 00036 (a.go:7)	CALL	p.g(SB)
	0x0028 00040 (a.go:7)	RET	(R30)
	0x0000 03 00 00 00 03 00 00 00 01 00 03 00 00 00 01 00  ................
	0x0010 03 00 00 00 03 00 00 00                          ........
`

func TestHotLoop(t *testing.T) {
	functions, err := parse(sample)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		size sizer
		want int
	}{"fixed": {fixed, 4}, "compressed": {compressed, 5}, "listed": {listed, 4}} {
		n, stores, err := functions["p.f"].hotLoop(test.size)
		if err != nil || n != test.want || stores != 3 {
			t.Errorf("%s: got %d instructions, %d stores, %v; want %d, 3", name, n, stores, err, test.want)
		}
	}
}

func TestHotLoopRefuses(t *testing.T) {
	for name, change := range map[string][2]string{
		"a call":      {"FADDS\tF1, F2, F1", "CALL\tp.g(SB)"},
		"no store":    {"(R1)", "(RSP)"},
		"two loops":   {"p.y-4(SP)", "(R3)"},
		"no function": {"p.f STEXT", "p.h STEXT"},
	} {
		functions, err := parse(strings.ReplaceAll(sample, change[0], change[1]))
		if err != nil {
			t.Fatal(err)
		}
		if n, stores, err := functions["p.f"].hotLoop(fixed); err == nil {
			t.Errorf("%s: got %d instructions, %d stores, want an error", name, n, stores)
		}
	}
}
