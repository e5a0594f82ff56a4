package main

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
	"github.com/zofl/zofl/coordinator/zofl/internal/demo"
	"github.com/zofl/zofl/coordinator/zofl/internal/lossprogram"
	"github.com/zofl/zofl/coordinator/zofl/internal/objective"
	"github.com/zofl/zofl/wire"
)

// lossFlags say where the devices of `zofl simulate` and `zofl tune` have their losses from: the
// program has some built in, and another program may compute them.
type lossFlags struct {
	objective string
	data      demo.Config // data and split; number of devices; seed
	exec      string
	asked     programFlags

	command []string             // of the program, without --stdio
	program *lossprogram.Program // while it runs
}

// lossFlagNames are the names of its flags, without that of the seed and of the number of devices.
var lossFlagNames = []string{"objective", "data", "split", "exec", "stdio", "startup", "patience"}

func (l *lossFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&l.objective, "objective", "digits", "the loss: "+objective.Names())
	f.StringVar(&l.data.Data, "data", "",
		"directory of the four MNIST files (IDX, gzipped or not); default: drawn digits")
	f.StringVar(&l.data.Split, "split", l.data.Split,
		"how digits are shared out: iid, shards or dirichlet")
	f.StringVar(&l.exec, "exec", "", "a program that computes the losses of all devices, with its "+
		"arguments: a `command` that is split at spaces. Or give it after --")
	l.asked.shared(cmd)
}

// split takes the program off a command line, and checks the flags of losses. It returns the
// arguments before the program's.
func (l *lossFlags) split(cmd *cobra.Command, args []string) ([]string, error) {
	l.command = strings.Fields(l.exec)
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		if len(l.command) > 0 {
			return nil, usageError{fmt.Errorf("--exec %q and %q after --: give one of both", l.exec,
				strings.Join(args[dash:], " "))}
		}
		if len(args) == dash {
			return nil, usageError{errors.New("nothing is after --: name a program there, as in " +
				"-- python3 loss.py")}
		}
		args, l.command = args[:dash], args[dash:]
	}
	if len(given(cmd, "exec")) > 0 && len(l.command) == 0 {
		return nil, usageError{errors.New("--exec is empty: name a program, as in " +
			"--exec 'python3 loss.py'")}
	}
	if l.external() {
		return args, useless(cmd, "the loss is a program's", "objective", "data", "split")
	}
	if err := useless(cmd, "no program computes the loss: name one with --exec", "startup",
		"patience"); err != nil {
		return nil, err
	}
	if l.objective != "digits" {
		return args, useless(cmd, "only --objective digits has data", "data", "split")
	}
	return args, nil
}

// external reports whether another program computes the losses.
func (l *lossFlags) external() bool { return len(l.command) > 0 || l.asked.stdio }

// start starts the program, if there is one, for a model of dim parameters. The context that it
// returns ends when the program does so for good. Until stop, which may be called at any time, the
// program is asked.
func (l *lossFlags) start(cmd *cobra.Command, dim uint64) (ctx context.Context, stop func(),
	err error) {
	if !l.external() {
		return cmd.Context(), func() {}, nil
	}
	l.asked.dim = int(dim)
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if l.program, err = l.asked.start(cmd, l.command, logger); err != nil {
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

// Starting again takes a program longer each time. longestWait is when to give up.
const (
	lookEvery   = 20 * time.Millisecond
	longestWait = time.Minute
)

// ready waits until a program that ended runs again.
func (l *lossFlags) ready(ctx context.Context) error {
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

// losses returns the losses of so many devices with a plan.
func (l *lossFlags) losses(p *wire.Plan, devices int, seed uint64) (
	list []clientobjective.Objective, err error) {
	switch {
	case l.program != nil:
		for i := range devices {
			list = append(list, l.program.Objective(fmt.Sprint("d", i)))
		}
		return list, nil
	case l.objective == "digits":
		data := l.data
		data.Clients, data.Seed = devices, seed
		return demo.Losses(data, p.Dim)
	}
	for i := range devices {
		o, err := objective.New(l.objective, fmt.Sprint("d", i), int(p.Dim))
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}
