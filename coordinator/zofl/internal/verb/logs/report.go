package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/results"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
)

// Report is `zofl report`.
func Report() *cobra.Command {
	var choice logChoice
	var out, tensorboard, mlflow string
	cmd := &cobra.Command{
		Use:   "report --out FILE.html",
		Short: "Write what became of a run: a page, or files for TensorBoard and MLflow",
		Long: `Writes a page with a run's outcome, curves, costs, devices, events and plan, and the
commands that reproduce it. The page is one file that loads nothing. Curves come from
the history that a coordinator keeps beside its log: see zofl history.

--tensorboard DIR writes an event file to DIR/RUN, and --mlflow DIR a run to MLflow's file
store: docs/results.md says how to show them. Neither needs a server.`,
		Example: `  zofl report --store kitchen.log --out kitchen.html
  zofl report --store kitchen.log --tensorboard boards --mlflow mlruns`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" && tensorboard == "" && mlflow == "" {
				return cli.Usage(errors.New("nothing is to be written: give --out FILE.html, " +
					"--tensorboard DIR or --mlflow DIR"))
			}
			run, err := choice.result(cmd.Context())
			if err != nil {
				return err
			}
			if out != "" {
				if err := writeNew("--out", out, run.Report); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: run %s, %s\n", out, run.Plan.Run,
					terminal.Count(run.Rounds, "round"))
			}
			if tensorboard != "" {
				if err := run.TensorBoard(tensorboard); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "tensorboard --logdir %s\n", tensorboard)
			}
			if mlflow != "" {
				if err := run.MLflow(mlflow); err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(),
					"MLFLOW_ALLOW_FILE_STORE=true mlflow ui --backend-store-uri %s\n", mlflow)
			}
			return nil
		},
	}
	choice.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "write the page to this file, which must not exist yet")
	f.StringVar(&tensorboard, "tensorboard", "", "write an event file below this directory")
	f.StringVar(&mlflow, "mlflow", "", "write to MLflow's file store in this directory")
	return cmd
}

// result reads the run that the flags name, and its history.
func (l *logChoice) result(ctx context.Context) (*results.Run, error) {
	src, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	points, marks, err := l.history(ctx, 0)
	if err != nil {
		return nil, cli.Classify(err)
	}
	run, err := results.Load(ctx, src, points, marks)
	if err == nil && run.Now.Best != "" {
		run.Best, err = l.best(ctx, src)
	}
	if err != nil {
		return nil, cli.Classify(err)
	}
	if run.From, run.Flags = l.store, "--store "+l.store; l.store == "" {
		run.From, run.Flags = "run "+l.run, "--url URL --run "+l.run // a URL may hold a password
	}
	return run, nil
}

// writeNew writes a page to a new file that a flag names.
func writeNew(flag, name string, write func(io.Writer) error) error {
	err := cli.WriteNew(name, 0o644, write)
	if errors.As(err, new(*fs.PathError)) {
		return cli.NewFileFault(flag, name, err)
	}
	return err
}
