package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

const pkg = "github.com/zofl/zofl/prng"

// A kernel is a loop of package prng.
type kernel struct {
	name string
	// wide is the function, on 64-bit processors, whose only loop that stores floats is the kernel.
	// narrow is that function on 32-bit processors.
	wide, narrow string
	// floats is how many floats the kernel stores for each element.
	floats float64
}

var kernels = []kernel{
	{"z", "normalTable.fill", "(*normalTable).fill", 1},
	{"x + a*z", "normalTable.perturb", "(*normalTable).perturb", 1},
	{"x + a*z and x - a*z", "normalTable.perturbPair", "(*normalTable).perturbPair", 2},
	{"uniform", "uniform", "uniform", 1},
	{"x + a*z, z = ±1", "(*signed).perturb", "(*signed).perturb", 1},
	{"x + a*z and x - a*z, z = ±1", "(*signed).perturbPair", "(*signed).perturbPair", 2},
	{"sum of 8, z = ±1", "(*groupSums).addWord", "(*groupSums).addHalf", 1. / 8},
}

// A target is a processor to compile for.
type target struct {
	name string
	env  []string
	wide bool // 64-bit
	size sizer
}

var targets = []target{
	{"arm64", []string{"GOARCH=arm64"}, true, fixed},
	{"arm v7", []string{"GOARCH=arm", "GOARM=7"}, false, fixed},
	{"arm v6", []string{"GOARCH=arm", "GOARM=6"}, false, fixed},
	{"riscv64", []string{"GOARCH=riscv64"}, true, compressed},
	{"amd64", []string{"GOARCH=amd64", "GOAMD64=v1"}, true, listed},
	{"386", []string{"GOARCH=386"}, false, listed},
}

// A cost is the measurement of a kernel for a target.
type cost struct {
	Target       string  `json:"target"`
	Kernel       string  `json:"kernel"`
	Instructions int     `json:"instructions"` // of an iteration
	Elements     float64 `json:"elements"`     // that an iteration makes
	PerElement   float64 `json:"per_element"`
}

// measure returns the costs of all kernels.
func (t target) measure() ([]cost, error) {
	text, err := t.compile()
	if err != nil {
		return nil, err
	}
	functions, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	var costs []cost
	for _, k := range kernels {
		name := k.narrow
		if t.wide {
			name = k.wide
		}
		n, stores, err := functions[pkg+"."+name].hotLoop(t.size)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", t.name, name, err)
		}
		elements := float64(stores) / k.floats
		costs = append(costs, cost{t.name, k.name, n, elements, float64(n) / elements})
	}
	return costs, nil
}

// compile returns the listing of the package.
func (t target) compile() (string, error) {
	var listing bytes.Buffer
	c := exec.Command("go", "build", "-tags=purego", "-gcflags=-S", pkg)
	c.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off"), t.env...)
	c.Stderr = &listing
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %s: %w\n%s", strings.Join(t.env, " "), c, err, &listing)
	}
	return listing.String(), nil
}
