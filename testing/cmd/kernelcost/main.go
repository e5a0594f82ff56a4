// Kernelcost counts the machine instructions per element of the hot loops of prng's pure Go
// kernels, in the compiler's listing for several processors. It needs no such processor:
// where no timing is possible, the count distinguishes a better kernel from a worse one.
//
//	go -C testing run ./cmd/kernelcost [--json]
//
// A figure is the number of instructions of a loop divided by the elements that an
// iteration makes. These are the floats that it stores divided by the floats per element:
// two for a pair of probes. Figures for groups are per seed-element, an element of one of
// the eight directions.
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
