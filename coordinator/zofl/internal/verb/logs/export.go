package logs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/modelfile"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// Export is `zofl export`.
func Export() *cobra.Command {
	var choice logChoice
	var at uint64
	var out, like string
	asJSON, best := false, false
	cmd := &cobra.Command{
		Use:   "export --out FILE",
		Short: "Write the model after a record to a file",
		Long: `Replays a log up to record --at and writes the parameters to a new file: little-endian
float32 if its name ends in .f32, a NumPy array if it ends in .npy. For .safetensors,
.onnx or .npz it writes a copy of a model file: of --initial, with which the run began,
or of --like. In the copy the tensors that --train names are those of the run.

With --best it is the model after the record with the best value of the plan's best.

With transport=dense the log keeps the vectors of the last dense_keep records only: older models
can no longer be exported.`,
		Example: `  zofl export --store kitchen.log --at 500 --out model.npy
  zofl export --store kitchen.log --best --out model.npy
  zofl export --store kitchen.log --initial model.safetensors --train 'head.*' \
    --out adapted.safetensors`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if best && at > 0 {
				return cli.Usage(errBestAt)
			}
			to, err := modelfile.TargetOf(out, like, &choice.initial)
			if err != nil {
				return cli.Usage(err)
			}
			if err := cli.CheckNew("--out", out); err != nil { // before minutes of replay
				return err
			}
			m, err := to.Open(choice.initial.Train)
			if err != nil {
				return err
			}
			if m != nil {
				defer m.Close()
			}
			if choice.initial.File == "" && m != nil {
				choice.initial.Train = nil // of --like
			}
			if best {
				if at, err = choice.bestOf(cmd.Context()); err != nil {
					return err
				}
			}
			r, err := choice.whole(cmd.Context(), at)
			if err != nil {
				return err
			}
			err = to.Write(m, r.Params(), r.Plan())
			if errors.Is(err, fs.ErrExist) {
				return cli.Usage(fmt.Errorf("--out: %w: name a new file", err))
			}
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{
					"run": r.Plan().Run, "n": r.N(), "parameters": len(r.Params()),
					"digest": source.Digest(r), "file": out,
				})
			}
			fmt.Fprintf(cmd.OutOrStdout(),
				"%s: %s after record %d of run %s, digest of the state %s\n",
				out, terminal.Count(len(r.Params()), "parameter"), r.N(), r.Plan().Run, source.Digest(r))
			return nil
		},
	}
	choice.replayFlags(cmd)
	f := cmd.Flags()
	f.Uint64Var(&at, "at", 0, "number of the record; 0: the last one")
	f.BoolVar(&best, "best", false, "the model with the best value of the plan's best")
	f.StringVar(&out, "out", "", "new file: .f32, .npy, or as --like and --initial are")
	f.StringVar(&like, "like", "",
		"write a copy of this model file, with the trained tensors; default: --initial")
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of a line")
	return cmd
}

// whole replays the records up to at. whole returns an error if the log no longer has a vector that
// the state needs.
func (l *logChoice) whole(ctx context.Context, at uint64) (*replica.Replica, error) {
	model, err := l.model(ctx)
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
		err = cli.Usage(fmt.Errorf("--at: %w", err))
	}
	if err == nil {
		err = l.needed(r.Plan())
	}
	return r, cli.Classify(err)
}
