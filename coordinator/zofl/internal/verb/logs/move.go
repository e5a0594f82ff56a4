package logs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/logkind"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/wire"
)

func moveCommand() *cobra.Command {
	var c connect.Connection
	var run, from, to string
	replicas := 1
	var maxBytes cli.ByteCount
	wait := 20 * time.Second
	asJSON := false
	cmd := &cobra.Command{
		Use:   "move",
		Short: "Copy a run's log from a directory to JetStream, or back",
		Long: `Copies a run's log from a directory to the broker's JetStream, or from there to a
directory: all records, all members, the history and, with transport=dense, the vectors that
the log keeps.

Stop the run's coordinators first. The copy is verified. If it is interrupted, start the
same command again: it continues where it stopped. The old log is left as it is. Then start
zofl serve with the new one.`,
		Example: `  zofl log move --from kitchen.log --to jetstream --run kitchen --url tls://broker`,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case (from == logkind.JetStream) == (to == logkind.JetStream):
				return cli.Usage(errors.New("--from and --to: give a directory for one, " +
					"and \"jetstream\" for the other"))
			}
			if to != logkind.JetStream {
				if err := cli.Useless(cmd, "a directory has one copy and no limit: leave it out", "replicas",
					"max-bytes"); err != nil {
					return err
				}
			}
			if replicas != 1 && replicas != 3 && replicas != 5 {
				return cli.Usage(fmt.Errorf("--replicas %d: choose 1, 3 or 5", replicas))
			}
			if wait <= 0 {
				return cli.Usage(fmt.Errorf("--wait %v: give more than 0", wait))
			}
			if err := cli.CheckRun(run); err != nil {
				return err
			}
			nc, err := c.Dial("zofl log move", connect.InboxOf(grant.Coordinator, run))
			if err != nil {
				return err
			}
			defer nc.Close()
			n, err := move(cmd.Context(), nc, run, from, to, replicas, int64(maxBytes), wait)
			switch {
			case err != nil:
				return cli.Classify(err)
			case asJSON:
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{
					"run": run, "records": n, "from": from, "to": to,
				})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "run %s is in %s, up to record %d\n", run, to, n)
			return nil
		},
	}
	c.Flags(cmd)
	f := cmd.Flags()
	f.StringVar(&run, "run", "", "name of the run")
	f.StringVar(&from, "from", "", `log to copy: a directory, or "jetstream"`)
	f.StringVar(&to, "to", "", `place of the copy: "jetstream", or a directory`)
	f.IntVar(&replicas, "replicas", 1, "number of servers that store the log in JetStream")
	f.Var(&maxBytes, "max-bytes", "how many bytes each stream of a new log may have, such as "+
		"64MiB, for accounts that demand a limit; default: any number")
	f.Lookup("max-bytes").DefValue = ""
	f.DurationVar(&wait, "wait", wait,
		"how long to wait for a stopped coordinator's lease to end; longer than its --lease")
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of a line")
	return cmd
}

// move copies a log and returns how many records it has.
func move(ctx context.Context, nc *nats.Conn, run, from, to string, replicas int,
	maxBytes int64, wait time.Duration) (n uint64, err error) {
	src, err := logkind.OpenExisting(ctx, logkind.Spec{Place: from, Conn: nc, Run: run})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	if start := runlog.Start(src); start > 0 {
		return 0, cli.Usage(fmt.Errorf("--from %s: it begins with the state after record %d, and "+
			"JetStream keeps whole logs only: go on with it in a directory", from, start))
	}
	if err := isOf(ctx, src, run); err != nil {
		return 0, err
	}
	into := logkind.Spec{Place: to, Conn: nc, Run: run, Replicas: replicas, MaxBytes: maxBytes}
	dst, err := logkind.Open(ctx, into)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	for _, log := range []runlog.Log{src, dst} {
		if err := unled(ctx, log, wait); err != nil {
			return 0, err
		}
	}
	bar := terminal.NewBar(os.Stderr, "record", src.Last())
	defer bar.Finish()
	if err := runlog.Copy(ctx, dst, src, bar.Set); err != nil {
		return src.Last(), err
	}
	err = history.Copy(ctx,
		logkind.History(into),
		logkind.History(logkind.Spec{Place: from, Conn: nc, Run: run}))
	if err != nil { // the run can go on without its history
		fmt.Fprintln(os.Stderr, "zofl: the history of the run was not moved:", err)
	}
	return src.Last(), nil
}

// isOf returns an error if the log belongs to another run. Records that were copied to
// JetStream cannot be removed again.
func isOf(ctx context.Context, log runlog.Log, run string) error {
	src := source.Stored(log, nil)
	var err error
	failed := src.Read(ctx, 1, func(_ uint64, record []byte) bool {
		var first wire.Record
		if first, err = wire.DecodeRecord(record); err == nil && first.Kind == wire.KindPlan &&
			first.Plan.Run != run {
			err = cli.Usage(fmt.Errorf("--run %s: the log belongs to run %s: give --run %[2]s",
				run, first.Plan.Run))
		}
		return false
	})
	return errors.Join(failed, err)
}

// unled takes over the lead of a log, so that no coordinator appends records during the copy.
func unled(ctx context.Context, log runlog.Log, wait time.Duration) error {
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	_, err := log.Begin(within)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("a coordinator still leads the run after %v: stop it first (%w)", wait,
			err)
	}
	return err
}
