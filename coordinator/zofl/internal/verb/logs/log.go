// Package logs has the commands that read, check, move and recover the log of a run.
package logs

import (
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"

	"fmt"

	"github.com/spf13/cobra"
)

// Log is `zofl log`, and `zofl log move`.
func Log() *cobra.Command {
	var choice logChoice
	var from, to uint64
	asJSON := false
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Print the records of a run",
		Long: `Prints the records of a run, one per line. The log is a directory that no coordinator has
open (--store), a stream in the broker's JetStream (--url, --run and --jetstream), or that of
a running coordinator (--url and --run).`,
		Example: `  zofl log --store kitchen.log --from 100 --to 120`,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to > 0 && from > to {
				return cli.Usage(fmt.Errorf("--from %d --to %d: give a first record that is not behind "+
					"the last", from, to))
			}
			src, err := choice.open(cmd.Context())
			if err != nil {
				return err
			}
			defer src.Close()
			plan, err := source.PlanOf(cmd.Context(), src)
			if err != nil {
				return cli.Classify(err)
			}
			if base, _ := src.Base(); base != nil && from <= base.N {
				if cmd.Flags().Changed("from") {
					return cli.Usage(fmt.Errorf("--from %d: the log begins with the state after "+
						"record %d", from, base.N))
				}
				from = base.N + 1
			}
			var failed error
			err = src.Read(cmd.Context(), from, func(n uint64, record []byte) bool {
				if to > 0 && n > to {
					return false
				}
				failed = printRecord(cmd.OutOrStdout(), record, plan, asJSON)
				return failed == nil
			})
			if failed != nil {
				return failed
			}
			return cli.Classify(err)
		},
	}
	choice.flags(cmd)
	f := cmd.Flags()
	f.Uint64Var(&from, "from", 1, "number of the first record")
	f.Uint64Var(&to, "to", 0, "number of the last record; 0: the last in the log")
	f.BoolVar(&asJSON, "json", false, "print records as JSON, one object per line")
	cmd.AddCommand(moveCommand())
	return cmd
}
