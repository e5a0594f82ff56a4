package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/internal/lossprogram"
)

// programFlags say which program computes losses.
type programFlags struct {
	stdio             bool
	dim               int
	startup, patience time.Duration
}

func (p *programFlags) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&p.dim, "dim", 0,
		"number of parameters, for a program that says dim=0: the plan's dim")
	p.shared(cmd)
}

// shared adds the flags of commands that have a plan, too.
func (p *programFlags) shared(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&p.stdio, "stdio", false, "the program is the one that started zofl: it reads requests "+
		"from zofl's standard output and answers to its standard input; all else goes to standard error")
	f.DurationVar(&p.startup, "startup", time.Minute, "how long the program may take to say hello")
	f.DurationVar(&p.patience, "patience", 5*time.Second,
		"how long after the end of a round the program may still answer; then it is killed")
}

// start starts the program of a command line. It moves what the command prints out of the way of
// a program that reads standard output.
func (p *programFlags) start(
	cmd *cobra.Command, command []string, logger *slog.Logger,
) (*lossprogram.Program, error) {
	switch {
	case p.stdio && len(command) > 0:
		return nil, usageError{fmt.Errorf("--stdio means the program that started zofl, and %s is "+
			"another: give one of both", command[0])}
	case !p.stdio && len(command) == 0:
		return nil, usageError{errors.New("the program is missing: name it after --, as in " +
			"zofl " + cmd.Name() + " ... -- python3 loss.py")}
	case p.dim < 0:
		return nil, usageError{fmt.Errorf("--dim %d: give the plan's dim", p.dim)}
	case p.startup <= 0:
		return nil, usageError{fmt.Errorf("--startup %v: give more than 0", p.startup)}
	case p.patience <= 0:
		return nil, usageError{fmt.Errorf("--patience %v: give more than 0", p.patience)}
	}
	cfg := lossprogram.Config{Command: command, Dim: p.dim, Startup: p.startup,
		Patience: p.patience, Logger: logger}
	if p.stdio {
		signal.Ignore(syscall.SIGPIPE) // whoever reads may end first: an error, not a death
		cfg.In, cfg.Out = cmd.InOrStdin(), cmd.OutOrStdout()
		cmd.SetOut(cmd.ErrOrStderr())
	}
	return lossprogram.Start(cmd.Context(), cfg)
}

func execCommand() *cobra.Command {
	var d deviceFlags
	var p programFlags
	cmd := &cobra.Command{
		Use:   "exec -- COMMAND [ARGUMENT...]",
		Short: "Take part in a run with a loss in any language",
		Long: `Takes part in a run as a device whose loss is computed by another program: a script around
an inference engine, a simulator, a test bench. The program reads parameters from a file
and answers lines; docs/exec.md has the protocol. It is started again when it ends, and
killed with its children when it hangs. Its standard error goes to the log.`,
		Example: `  zofl exec --url nats://127.0.0.1:4222 --run kitchen --id pi-3 -- python3 loss.py`,
		RunE: func(cmd *cobra.Command, command []string) error {
			logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
			program, err := p.start(cmd, command, logger)
			if err != nil {
				return err
			}
			defer program.Close()
			ctx, cancel := context.WithCancel(cmd.Context())
			defer cancel()
			go func() { // a device without a program, for good, does nothing more
				select {
				case <-program.Ended():
					cancel()
				case <-ctx.Done():
				}
			}()
			cmd.SetContext(ctx)
			err = d.take(cmd, client.Config{Objective: program.Objective(d.id)})
			if errors.Is(err, replica.ErrDim) {
				err = usageError{fmt.Errorf("%w: the program said dim=%d", err, program.Dim())}
			}
			return err
		},
	}
	d.flags(cmd)
	p.flags(cmd)
	return cmd
}
