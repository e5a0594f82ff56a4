package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/wire"
)

// mustHaveLog refuses a directory in which there is no log: opening it would
// make one.
func mustHaveLog(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "log")); err != nil {
		return usageError{fmt.Errorf("--store %s: there is no log: %w", dir, err)}
	}
	return nil
}

func moveCommand() *cobra.Command {
	var c connection
	var run, from, to string
	replicas := 1
	wait := 20 * time.Second
	asJSON := false
	cmd := &cobra.Command{
		Use:   "move",
		Short: "Copy a run's log from a directory to a JetStream, or back",
		Long: `Copies all records and members of a run from one log to another, and of a dense
run the vectors that it keeps: from a directory to the JetStream of a broker, or
back. Stop the run's coordinators
first. The copy is verified; what was copied before an interruption is not copied
again; the log that it comes from keeps its records. Then serve the other one.`,
		Example: `  zofl log move --from kitchen.log --to jetstream --url nats://broker:4222 --run kitchen --replicas 3
  zofl log move --from jetstream --to kitchen.log --url nats://broker:4222 --run kitchen`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case (from == jetStreamName) == (to == jetStreamName):
				return usageError{errors.New(`--from and --to: one is a directory, the other is "jetstream"`)}
			}
			if err := checkRun(run); err != nil {
				return err
			}
			nc, err := c.dial("zofl log move")
			if err != nil {
				return err
			}
			defer nc.Close()
			n, err := move(cmd.Context(), nc, run, from, to, replicas, wait)
			switch {
			case err != nil:
				return classify(err)
			case asJSON:
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"run": run, "records": n, "from": from, "to": to})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d records of run %s are in %s\n", n, run, to)
			return nil
		},
	}
	c.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&run, "run", "", "name of the run")
	f.StringVar(&from, "from", "", `directory of the log, or "jetstream"`)
	f.StringVar(&to, "to", "", `"jetstream", or a directory for the log`)
	f.IntVar(&replicas, "replicas", 1, "servers that are to hold the JetStream log")
	f.DurationVar(&wait, "wait", wait, "how long to wait for a coordinator that leads the run: longer than its --lease")
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of a line")
	return cmd
}

// jetStreamName stands for the broker's JetStream where a directory could.
const jetStreamName = "jetstream"

// move copies a log and returns how many records it has.
func move(ctx context.Context, nc *nats.Conn, run, from, to string, replicas int, wait time.Duration) (n uint64, err error) {
	src, err := openExisting(ctx, logSpec{place: from, nc: nc, run: run})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	if err := isOf(ctx, src, run); err != nil {
		return 0, err
	}
	dst, err := openLog(ctx, logSpec{place: to, nc: nc, run: run, replicas: replicas})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	for _, log := range []runlog.Log{src, dst} {
		if err := unled(ctx, log, wait); err != nil {
			return 0, err
		}
	}
	bar := newCopyBar(os.Stderr, src.Last())
	defer bar.finish()
	return src.Last(), runlog.Copy(ctx, dst, src, bar.copied)
}

// isOf refuses a log of another run: a JetStream keeps for ever what it is
// given.
func isOf(ctx context.Context, log runlog.Log, run string) error {
	src := source.Stored(log, nil)
	var err error
	failed := src.Read(ctx, 1, func(_ uint64, record []byte) bool {
		var first wire.Record
		if first, err = wire.DecodeRecord(record); err == nil && first.Kind == wire.KindPlan && first.Plan.Run != run {
			err = usageError{fmt.Errorf("--run %s: the log is that of run %s: name that one", run, first.Plan.Run)}
		}
		return false
	})
	return errors.Join(failed, err)
}

// unled takes the lead of a log, so that no coordinator adds to it meanwhile.
func unled(ctx context.Context, log runlog.Log, wait time.Duration) error {
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	_, err := log.Begin(within)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("a coordinator leads the run still, after %v: stop it first (%w)", wait, err)
	}
	return err
}
