// Paper runs the papers' experiments with the production code, and says for each of their
// claims whether it holds here.
//
//	go -C papers run ./cmd/paper list
//	go -C papers run ./cmd/paper run ID [--short] [--seeds N] [--data DIR] [--dir DIR]
//	                              [--screen] [--json] [--csv FILE] [--plot FILE]
//	                              [--table FILE]
//
// Some experiments take more options: run defaults takes --presets NAMES, --tasks NAMES and
// --rounds N, run byzantine takes --devices N and --liars L. paper run -h lists all options.
//
// Paths are relative to papers, where go -C changes to, unless they are absolute.
//
// With --screen clients give gradients instead of losses, and an experiment takes a small part of
// the time. Paper marks such a report, because the rounds made no queries.
//
// Paper prints a line for each claim, or with --json {id, claims: [{claim, figures, holds}]}, and
// reports progress on stderr. A run that is too short for a claim says so in place of a verdict.
// With --dir Paper saves logs and curves, and after an interrupt the same command continues. A
// claim that does not hold is a finding, not a failure: the exit status is 0. The exit status is 1
// after an error or an interrupt, and 2 for a wrong command line.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(ctx, os.Stdout, os.Stderr, os.Args[1:])
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "paper:", err)
	if errors.Is(err, errUsage) {
		os.Exit(2)
	}
	os.Exit(1)
}

var errUsage = errors.New("usage")

const usage = `paper list
paper run ID [--short] [--seeds N] [--data DIR] [--dir DIR] [--screen] [--json] [--csv FILE]
             [--plot FILE] [--table FILE] [options of the experiment]
`

func command(ctx context.Context, out, progress io.Writer, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%w:\n%s", errUsage, usage)
	}
	switch args[0] {
	case "list":
		return list(out, args[1:])
	case "run":
		return run(ctx, out, progress, args[1:])
	case "-h", "--help", "help":
		_, err := io.WriteString(out, usage)
		return err
	}
	return fmt.Errorf("%w: there is no command %q:\n%s", errUsage, args[0], usage)
}
