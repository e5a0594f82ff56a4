// Kernelcost counts the machine instructions an element of the hot loops of prng's pure Go
// kernels, in the compiler's listing for several processors. It needs no such processor: where no
// clock can be read, the count is what tells a better kernel from a worse one.
//
//	go -C testing run ./cmd/kernelcost [--json]
//
// A figure is the instructions of a loop over the elements that an iteration makes, which is the
// number of floats that it stores over those that an element takes: two in a pair of probes. The
// figures for groups are of a seed-element, an element of one of the eight directions.
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
	if err := command(os.Stdout, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "kernelcost:", err)
		os.Exit(1)
	}
}

func command(out io.Writer, asJSON bool) error {
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
	print(out, costs)
	return nil
}

// print writes a Markdown table, a row a kernel and a column a processor.
func print(out io.Writer, costs []cost) {
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
