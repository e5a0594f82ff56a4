package logs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
	"github.com/zofl/zofl/plan"
)

// Stats is `zofl stats`.
func Stats() *cobra.Command {
	var choice logChoice
	var out string
	asJSON := false
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show the statistics of the columns of all devices' data",
		Long: `Shows count, mean, standard deviation, min and max of each column of the data of all
devices. In a run whose plan has columns=N devices find them before round 1, by sums over the
broker, and scale their columns by them. With secure=sum the coordinator sees only the sums,
and there are no min and max.

The JSON of --json and --out is what the plan field stats takes, for another run on the same
scale: zofl plan --set stats="$(zofl stats --store rooms.log --json)".`,
		Example: `  zofl stats --url nats://127.0.0.1:4222 --run rooms
  zofl stats --store rooms.log --out rooms.stats.json`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out != "" {
				if err := cli.CheckNew("--out", out); err != nil {
					return err
				}
			}
			p, err := choice.head(cmd.Context())
			if err != nil {
				return err
			}
			switch {
			case p.Columns == 0 && len(p.Stats) == 0:
				return fmt.Errorf("run %s has no columns: make a plan with --set columns=N, the number of "+
					"columns of the devices' data", p.Run)
			case len(p.Stats) == 0:
				return fmt.Errorf("run %s has no statistics yet: devices find them when %d have joined; "+
					"`zofl status` says for whom the run waits", p.Run, p.Members)
			case out != "":
				return vector.Create(out, func(file *os.File) error {
					return json.NewEncoder(file).Encode(p.Stats)
				})
			case asJSON:
				return json.NewEncoder(cmd.OutOrStdout()).Encode(p.Stats)
			}
			printStats(cmd.OutOrStdout(), p.Stats)
			return nil
		},
	}
	choice.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "write JSON to this new file, and print nothing")
	f.BoolVar(&asJSON, "json", false, "print a JSON list, an object for each column")
	return cmd
}

// head returns the plan after the log's last record.
func (l *logChoice) head(ctx context.Context) (*plan.Plan, error) {
	src, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	at, from := runlog.Position{}, uint64(1)
	if base, _ := src.Base(); base != nil {
		if at, err = base.Position(); err != nil {
			return nil, err
		}
		from = base.N + 1
	}
	var fault error
	err = src.Read(ctx, from, func(_ uint64, record []byte) bool {
		_, fault = at.Apply(record)
		return fault == nil
	})
	switch {
	case fault != nil:
		err = fault
	case err == nil && at.N == 0:
		err = source.ErrEmpty
	}
	return &at.Plan, cli.Classify(err)
}

func printStats(w io.Writer, columns []plan.Column) {
	t := cli.NewTable(w, "Column", "Count", "Missing", "Mean", "Std", "Min", "Max")
	for i, c := range columns {
		t.AppendRow([]any{i, c.Count, c.Missing, sixDigits(c.Mean), sixDigits(c.Std), extreme(c.Min),
			extreme(c.Max)})
	}
	t.Render()
}

func sixDigits(v float64) string { return fmt.Sprintf("%.6g", v) }

// extreme returns the text of a min or max, which may be unknown.
func extreme(v *float64) string {
	if v == nil {
		return "-"
	}
	return sixDigits(*v)
}
