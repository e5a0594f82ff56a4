//go:build linux

// Command doors measures the ways into a run for an app: Go, client/mobile, zofl exec, Python, the
// core in C and libzofl. It builds a device of each, and prints a table of what each takes:
//
//	go -C testing run ./cmd/doors                # all of them
//	go -C testing run ./cmd/doors go libzofl     # these
//
// It needs gcc, and for Python an interpreter with numpy, PYTHON or python3. The figures are of a
// run with 1,000 parameters and 11 losses a round, whose loss is cheap.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

func main() {
	rounds := flag.Uint64("rounds", 1000, "rounds of a run")
	flag.Parse()
	if flag.Arg(0) == "device" { // doors starts itself so
		if err := bound(flag.Args()[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "device:", err)
			os.Exit(1)
		}
		return
	}
	if err := table(*rounds, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "doors:", err)
		os.Exit(1)
	}
}

// table measures doors, all if none is named, and prints a line of each.
func table(rounds uint64, wanted []string) error {
	dir, err := os.MkdirTemp("", "doors-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w := &workshop{dir: dir}
	if w.root, err = w.repository(); err != nil {
		return err
	}
	fmt.Print("| door | bytes on disk | resident, idle | at work | threads | CPU a loss |\n" +
		"|---|---|---|---|---|---|\n")
	for _, d := range doors {
		if len(wanted) > 0 && !slices.Contains(wanted, d.name) {
			continue
		}
		made, err := d.make(w)
		if err != nil {
			fmt.Printf("| %s | not here: %v |\n", d.name, firstLine(err))
			continue
		}
		f, err := measure(made, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		fmt.Printf("| %s | %s | %s | %s | %d | %.1f us |\n", d.name, grouped(f.disk),
			megabytes(f.idle.resident), megabytes(f.work.resident), f.work.threads, f.loss)
	}
	return nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// grouped writes a number with commas between thousands.
func grouped(n int64) string {
	if n == 0 {
		return "-" // no files of its own
	}
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
