// Kernelcost counts the machine instructions per element in the hot loops of prng's pure Go
// kernels, in the compiler's listings for several processors. Kernelcost runs without those
// processors: where we cannot measure time, the count distinguishes a better kernel from a worse
// kernel.
//
//	go -C testing run ./cmd/kernelcost [--json]
//
// A figure is the number of instructions of a loop divided by the elements that an iteration makes.
// The number of elements is the number of floats that an iteration stores divided by the floats per
// element, which is two for a pair of probes. A figure for a group of eight directions is per
// element of one direction.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	if err := command(os.Stdout, targets, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "kernelcost:", err)
		os.Exit(1)
	}
}

func command(out io.Writer, targets []target, asJSON bool) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("want no argument but --json, got %q", flag.Args())
	}
	var costs []cost
	for _, t := range targets {
		measured, err := t.measure()
		if err != nil {
			return err
		}
		costs = append(costs, measured...)
	}
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "\t")
		return e.Encode(costs)
	}
	print(out, targets, costs)
	return nil
}

// print writes a Markdown table, a row a kernel and a column a processor.
func print(out io.Writer, targets []target, costs []cost) {
	fmt.Fprint(out, "| instructions an element |")
	for _, t := range targets {
		fmt.Fprintf(out, " %s |", t.name)
	}
	fmt.Fprintf(out, "\n|---|%s\n", strings.Repeat("---|", len(targets)))
	for i, k := range kernels {
		fmt.Fprintf(out, "| %s |", k.name)
		for j := range targets {
			fmt.Fprintf(out, " %.4g |", costs[j*len(kernels)+i].PerElement)
		}
		fmt.Fprintln(out)
	}
}
