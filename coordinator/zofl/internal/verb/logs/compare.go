package logs

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/results"
	"github.com/zofl/zofl/internal/chart"
)

// Compare is `zofl compare`.
func Compare() *cobra.Command {
	var out, metric string
	asJSON := false
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two runs: their plans, outcomes and costs",
		Long: `Compares the runs in two directories of logs: the fields in which their plans differ, how
they ended, what each had spent when it first had a value of a metric, and which value each
had at equal rounds, queries and bytes of a device. Without --metric that is the accuracy, or
the first metric that both runs have, or the smoothed training loss.

Queries and bytes are of a device that took part in every round, as the plan prices them.
--out writes a page with the curves.`,
		Example: `  zofl compare one.log two.log
  zofl compare one.log two.log --metric accuracy --out compare.html`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usage(fmt.Errorf("%d directories: name the logs of two runs", len(args)))
			}
			var runs [2]*results.Run
			for i, dir := range args {
				choice := logChoice{place: place{store: dir}}
				run, err := choice.result(cmd.Context())
				if err != nil {
					return fmt.Errorf("%s: %w", dir, err)
				}
				runs[i] = run
			}
			c, err := results.Compare(runs[0], runs[1], metric)
			if err != nil {
				return cli.Usage(err)
			}
			if out != "" {
				if err := writeNew("--out", out, c.Page); err != nil {
					return err
				}
			}
			return printComparison(cmd.OutOrStdout(), c, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "also write a page to this file, which must not exist yet")
	f.StringVar(&metric, "metric", "", "metric to compare by")
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of tables")
	return cmd
}

func printComparison(out io.Writer, c *results.Comparison, asJSON bool) error {
	differences, err := c.Differences()
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(out).Encode(map[string]any{"a": c.A.From, "b": c.B.From,
			"differences": differences, "outcomes": c.Outcomes(), "measure": c.Measure,
			"reached": c.Reached(), "equal": c.Equal()})
	}
	t := cli.NewTable(out, "field", "A: "+c.A.From, "B: "+c.B.From)
	for _, d := range differences {
		t.AppendRow(table.Row{d.Field, orUnset(d.A), orUnset(d.B)})
	}
	t.Render()
	t = cli.NewTable(out, "outcome", "A: "+c.A.From, "B: "+c.B.From)
	for _, p := range c.Outcomes() {
		t.AppendRow(table.Row{p.Name, p.A, p.B})
	}
	t.Render()
	t = cli.NewTable(out, c.Measure, "rounds A", "rounds B", "queries A", "queries B", "bytes A",
		"bytes B")
	for _, r := range c.Reached() {
		row := table.Row{chart.Number(r.Value)}
		for _, of := range []func(*results.Sample) float64{
			func(s *results.Sample) float64 { return s.Round },
			func(s *results.Sample) float64 { return s.Queries },
			func(s *results.Sample) float64 { return s.Bytes },
		} {
			row = append(row, spent(r.A, of), spent(r.B, of))
		}
		t.AppendRow(row)
	}
	t.Render()
	t = cli.NewTable(out, "at equal", "spent", c.Measure+" A", c.Measure+" B")
	for _, e := range c.Equal() {
		t.AppendRow(table.Row{e.Of, fmt.Sprintf("%.0f", e.Spent), chart.Number(e.A),
			chart.Number(e.B)})
	}
	t.Render()
	return nil
}

func orUnset(value string) string {
	if value == "" {
		return "unset"
	}
	return results.Short(value)
}

// spent returns the cost of a run up to a sample, or "never" if the run did not reach the value.
func spent(s *results.Sample, of func(*results.Sample) float64) string {
	if s == nil {
		return "never"
	}
	return fmt.Sprintf("%.0f", of(s))
}
