package logs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/logkind"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// A historyChoice holds the flags that say which history to show, and how.
type historyChoice struct {
	place
	csv, asJSON bool
	from        uint64
}

// History is `zofl history`.
func History() *cobra.Command {
	var c historyChoice
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Show the losses, metrics and costs of a run's rounds",
		Long: `Shows what a run's rounds were like: loss, metrics, devices, seconds, bytes, evaluations;
and when it was paused, changed or rolled back. A coordinator keeps this beside its log: of
the last 4096 rounds at least it keeps all, of earlier ones fewer and fewer. Rounds just
before a crash may be missing.

With --url and --run the run's coordinator is asked; add --jetstream to read from JetStream
while no coordinator runs. --store reads a directory, also while a coordinator has it open.

A table shows the last 20 rounds, or all from record --from on. --csv and --json show all
rounds in full. Bytes and evaluations are what one device has that takes part in every
round, as zofl plan prices them.`,
		Example: `  zofl history --store kitchen.log
  zofl history --url nats://127.0.0.1:4222 --run kitchen --csv > kitchen.csv`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.csv && c.asJSON {
				return cli.Usage(errors.New("--csv and --json: give one of them"))
			}
			points, marks, err := c.history(cmd.Context(), c.from)
			if err != nil {
				return cli.Classify(err)
			}
			switch out := cmd.OutOrStdout(); {
			case c.asJSON:
				return json.NewEncoder(out).Encode(map[string]any{"points": points, "marks": marks})
			case c.csv:
				return printCSV(out, points)
			default:
				return c.print(cmd, out, points, marks)
			}
		},
	}
	c.flags(cmd, "directory of the log")
	f := cmd.Flags()
	f.Uint64Var(&c.from, "from", 0, "the first record to show")
	f.BoolVar(&c.csv, "csv", false, "print a line of comma-separated values for each round")
	f.BoolVar(&c.asJSON, "json", false, "print one JSON object, of points and marks")
	return cmd
}

// history returns the points and marks of the history that the flags name, from a record on.
func (l *place) history(ctx context.Context, from uint64) ([]history.Point, []history.Mark, error) {
	if err := l.check(); err != nil {
		return nil, nil, err
	}
	if l.store != "" {
		if err := logkind.MustExist(l.store); err != nil {
			return nil, nil, err
		}
		return stored(ctx, from, history.DirToRead(l.store))
	}
	nc, err := l.dial("zofl history")
	if err != nil {
		return nil, nil, err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(ctx, connect.AskWithin)
	defer cancel()
	if l.jetstream {
		return stored(ctx, from, history.Jet(nc, l.run, 0, 0))
	}
	points, marks, err := operate.History(ctx, nc, l.run, from)
	if errors.Is(err, operate.ErrNobody) || errors.Is(err, operate.ErrSilent) {
		err = fmt.Errorf("%w If no coordinator runs: --jetstream, or --store", err)
	}
	return points, marks, err
}

// stored returns the points and marks in a store, from a record on.
func stored(ctx context.Context, from uint64, s history.Store) ([]history.Point,
	[]history.Mark, error) {
	h, damaged, err := history.Read(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	if damaged > 0 {
		fmt.Fprintf(os.Stderr, "zofl: %d damaged lines of the history are left out\n", damaged)
	}
	points, marks := h.Snapshot(from)
	return points, marks, nil
}

// mostRows bounds the rounds that print shows in a table without --from.
const mostRows = 20

// print prints the history as a table.
func (c *historyChoice) print(cmd *cobra.Command, out io.Writer, points []history.Point,
	marks []history.Mark) error {
	all := len(points)
	if !cmd.Flags().Changed("from") && all > mostRows {
		points = points[all-mostRows:]
		for len(marks) > 0 && marks[0].N < points[0].N {
			marks = marks[1:]
		}
	}
	printHistory(out, points, marks)
	if n := all - len(points); n > 0 {
		fmt.Fprintf(out, "%d earlier rounds: --from 0 shows all\n", n)
	}
	return nil
}
