// Footprint measures what a device costs: the size of its program, its memory, the allocations of a
// round, and the time until the device contributes. Every device is a process with nothing but the
// client. The broker, with TLS, and the coordinator run in this process.
//
//	go -C testing run ./cmd/footprint [--json] [--only size,memory,alloc,start]
//	    [--runs 3] [--rounds 200]
//
// Memory is Linux's accounting of the process. VmHWM is the peak resident memory. RssFile is the
// part of the resident memory that processes share and the kernel may drop, at most the program's
// size. A figure for memory is the largest of --runs processes. Any other figure is the median.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// options are the command line.
type options struct {
	json   bool
	only   string
	runs   int
	rounds int
}

func main() {
	var o options
	flag.BoolVar(&o.json, "json", false, "print JSON")
	flag.StringVar(&o.only, "only", "size,memory,alloc,start", "what to measure")
	flag.IntVar(&o.runs, "runs", 3, "processes for each figure")
	flag.IntVar(&o.rounds, "rounds", 200, "rounds of each after warm-up")
	flag.Parse()
	if err := command(os.Stdout, &o); err != nil {
		fmt.Fprintln(os.Stderr, "footprint:", err)
		os.Exit(1)
	}
}

// parts are the measurements that can be made.
var parts = map[string]func(*lab, *options) ([]figure, error){
	"size": sizes, "memory": memories, "alloc": allocations, "start": starts,
}

func command(out io.Writer, o *options) error {
	if flag.NArg() > 0 || o.runs < 1 || o.rounds < 1 {
		return fmt.Errorf("want no arguments but flags, and --runs and --rounds from 1 on, got "+
			"%q, %d, %d", flag.Args(), o.runs, o.rounds)
	}
	l, err := newLab()
	if err != nil {
		return err
	}
	defer l.close()
	var all []figure
	for name := range strings.SplitSeq(o.only, ",") {
		measure := parts[name]
		if measure == nil {
			return fmt.Errorf("--only %q: give size, memory, alloc or start", name)
		}
		figures, err := measure(l, o)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, figures...)
	}
	if o.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "\t")
		return e.Encode(all)
	}
	printTable(out, all)
	return nil
}
