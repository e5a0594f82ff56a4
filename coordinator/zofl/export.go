package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
)

func exportCommand() *cobra.Command {
	var choice logChoice
	var at uint64
	var out string
	asJSON := false
	cmd := &cobra.Command{
		Use:   "export --out FILE",
		Short: "Write the model after a record to a file",
		Long: `Replays a log up to record --at and writes the parameters to a new file: as
little-endian float32, one after the other, or as a NumPy array if the name ends
in .npy. The file is whole or not there.

In a dense run a state is made of vectors beside the log, of which it keeps
dense_keep: of records before those there is no model any more.`,
		Example: `  zofl export --store kitchen.log --out model.npy
  zofl export --url nats://127.0.0.1:4222 --run kitchen --at 500 --out model.f32`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return usageError{fmt.Errorf("--out is missing: name a file that ends in .f32 or .npy")}
			}
			if err := vector.CheckName(out); err != nil {
				return usageError{err}
			}
			r, err := choice.whole(cmd.Context(), at)
			if err != nil {
				return err
			}
			if err := vector.Write(out, r.Params()); err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{
					"run": r.Plan().Run, "n": r.N(), "parameters": len(r.Params()), "digest": digestOf(r), "file": out,
				})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %d parameters after record %d of run %s, digest of the state %s\n",
				out, len(r.Params()), r.N(), r.Plan().Run, digestOf(r))
			return nil
		},
	}
	choice.replayFlags(cmd)
	f := cmd.Flags()
	f.Uint64Var(&at, "at", 0, "record whose state is written; 0 is the last one")
	f.StringVar(&out, "out", "", "file to write, which must not exist: .f32 or .npy")
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of a line")
	return cmd
}

// whole replays the records up to at to a state that lacks no vector.
func (l *logChoice) whole(ctx context.Context, at uint64) (*replica.Replica, error) {
	model, err := l.model()
	if err != nil {
		return nil, err
	}
	src, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r, err := source.Replay(ctx, src, source.Config{Replica: model, At: at})
	if errors.As(err, new(*source.GoneError)) {
		err = usageError{fmt.Errorf("--at: %w", err)}
	}
	return r, classify(err)
}

// readInitial reads the first parameters of a run; "" are none.
func readInitial(name string) ([]float32, error) {
	if name == "" {
		return nil, nil
	}
	x, err := vector.Read(name)
	if err != nil {
		return nil, usageError{fmt.Errorf("--initial: %w", err)}
	}
	return x, nil
}
