package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/wire"
)

func logCommand() *cobra.Command {
	var choice logChoice
	var from, to uint64
	asJSON := false
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Print the records of a run",
		Long: `Prints the records of a run, one a line: from a log on disk that no coordinator
has open, from a JetStream, or from a running coordinator.`,
		Example: `  zofl log --store kitchen.log --from 100 --to 120
  zofl log --url nats://127.0.0.1:4222 --run kitchen --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			src, err := choice.open(cmd.Context())
			if err != nil {
				return err
			}
			defer src.Close()
			plan, err := planOf(cmd.Context(), src)
			if err != nil {
				return classify(err)
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
			return classify(err)
		},
	}
	choice.flags(cmd)
	f := cmd.Flags()
	f.Uint64Var(&from, "from", 1, "first record")
	f.Uint64Var(&to, "to", 0, "last record; 0 is the last there is")
	f.BoolVar(&asJSON, "json", false, "print a JSON object a line")
	cmd.AddCommand(moveCommand())
	return cmd
}

// planOf reads the plan: how wide the scalars of rounds are, how long their vectors.
func planOf(ctx context.Context, src source.Source) (plan *wire.Plan, err error) {
	plan = &wire.Plan{}
	var failed error
	err = src.Read(ctx, 1, func(_ uint64, record []byte) bool {
		var r wire.Record
		if r, failed = wire.DecodeRecord(record); failed == nil && r.Plan != nil {
			plan = r.Plan
		}
		return false
	})
	if failed != nil {
		err = failed
	}
	return plan, err
}
