// Package losses has the flags that say which losses devices evaluate: built-in ones, or those of
// another program.
package losses

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	clientobjective "github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/demo"
	"github.com/zofl/zofl/coordinator/zofl/internal/lossprogram"
	"github.com/zofl/zofl/coordinator/zofl/internal/objective"
	"github.com/zofl/zofl/plan"
)

// A Source holds the flags that say which losses the devices of `zofl simulate` and `zofl tune`
// evaluate: built-in losses, or the losses of another program.
type Source struct {
	Objective string
	Data      demo.Config // data and split; number of devices; seed
	exec      string
	Asked     Program

	command []string             // of the program, without --stdio
	program *lossprogram.Program // while it runs
}

// FlagNames are the names of the flags of a Source, without the flags for the seed and the number
// of devices.
var FlagNames = []string{"objective", "data", "split", "exec", "stdio", "startup", "grace"}

// Flags adds the flags of a Source to a command.
func (l *Source) Flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&l.Objective, "objective", "digits", "the loss: "+
		strings.Join(objective.Names(), ", "))
	cli.Choices(cmd, "objective", objective.Names()...)
	f.StringVar(&l.Data.Data, "data", "", "directory of the MNIST files; default: drawn digits")
	f.StringVar(&l.Data.Split, "split", l.Data.Split,
		"how digits are shared out: iid, shards or dirichlet")
	f.StringVar(&l.exec, "exec", "",
		"a `command` that computes the losses, split at spaces; or give it after --")
	Help.Mark(f, "exec")
	l.Asked.shared(cmd)
}

// Split takes the program off a command line, and checks the flags of losses. Split returns the
// arguments before the program's.
func (l *Source) Split(cmd *cobra.Command, args []string) ([]string, error) {
	l.command, l.Asked.named = strings.Fields(l.exec), "--exec"
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		if len(l.command) > 0 {
			return nil, cli.Usage(fmt.Errorf("--exec %q and %q after --: give one of both", l.exec,
				strings.Join(args[dash:], " ")))
		}
		if len(args) == dash {
			return nil, cli.Usage(errors.New("nothing is after --: name a program there, as in " +
				"-- python3 loss.py"))
		}
		args, l.command, l.Asked.named = args[:dash], args[dash:], "--"
	}
	if len(cli.Given(cmd, "exec")) > 0 && len(l.command) == 0 {
		return nil, cli.Usage(errors.New("--exec is empty: name a program, as in " +
			"--exec 'python3 loss.py'"))
	}
	if l.External() {
		return args, cli.Useless(cmd, "the loss is a program's", "objective", "data", "split")
	}
	if err := cli.Useless(cmd, "no program computes the loss: name one with --exec", "startup",
		"grace"); err != nil {
		return nil, err
	}
	if l.Objective != "digits" {
		return args, cli.Useless(cmd, "only --objective digits has data", "data", "split")
	}
	return args, nil
}

// External reports whether another program computes the losses.
func (l *Source) External() bool { return len(l.command) > 0 || l.Asked.Stdio }

// Start starts the program, if there is one, for a model of dim parameters. The returned context
// ends when the program has ended for good. The caller may call stop at any time to end the
// program.
func (l *Source) Start(cmd *cobra.Command, dim uint64) (ctx context.Context, stop func(),
	err error) {
	if !l.External() {
		return cmd.Context(), func() {}, nil
	}
	l.Asked.dim = int(dim)
	logger := cli.LogFormatOf(cmd).Logger(os.Stderr, slog.LevelInfo)
	if l.program, err = l.Asked.Start(cmd, l.command, logger); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	go func() {
		select {
		case <-l.program.Ended():
			cancel(l.program.Err())
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		l.program.Close()
	}, nil
}

// A program that ended restarts after pauses that grow. Ready checks every lookEvery whether it
// runs, and gives up after longestWait.
const (
	lookEvery   = 20 * time.Millisecond
	longestWait = time.Minute
)

// Ready waits until a program that ended runs again.
func (l *Source) Ready(ctx context.Context) error {
	if l.program == nil {
		return nil
	}
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for began := time.Now(); ; {
		err := l.program.Err()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			return nil
		case time.Since(began) > longestWait:
			return err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
		}
	}
}

// Follower returns what tells the program of progress, or nil if nobody wants to know.
func (l *Source) Follower() func(ctx context.Context, line string) (stop bool, err error) {
	if l.program == nil || !l.program.Follows() {
		return nil
	}
	return l.program.Tell
}

// Plan tells the program, if there is one, of which plan the losses are that it is asked for next.
func (l *Source) Plan(p *plan.Plan) {
	if l.program != nil {
		l.program.Plan(p)
	}
}

// Losses returns the losses of a plan's devices.
func (l *Source) Losses(p *plan.Plan, devices int, seed uint64) (
	list []clientobjective.Objective, err error) {
	switch {
	case l.program != nil:
		l.Plan(p)
		for i := range devices {
			list = append(list, l.program.Objective(fmt.Sprint("d", i)))
		}
		return list, nil
	case l.Objective == "digits":
		data := l.Data
		data.Clients, data.Seed = devices, seed
		return demo.Losses(data, p.Dim)
	}
	for i := range devices {
		o, err := objective.New(l.Objective, fmt.Sprint("d", i), int(p.Dim))
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}
