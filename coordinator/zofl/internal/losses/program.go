package losses

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/lossprogram"
)

// A Program holds the flags of the program that computes losses.
type Program struct {
	Stdio             bool
	named             string // by which flag: --exec or --
	dim               int
	startup, patience time.Duration
	// Lock is a file that the running program of a device locks; see lossprogram.Config.
	Lock string
}

// Flags adds the flags of a command that has no plan.
func (p *Program) Flags(cmd *cobra.Command) {
	p.named = "--"
	cmd.Flags().IntVar(&p.dim, "dim", 0,
		"number of parameters, for a program that says dim=0: the plan's dim")
	p.shared(cmd)
}

// shared adds the flags for commands with a plan and for commands without a plan.
func (p *Program) shared(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&p.Stdio, "stdio", false, "the program is the one that started zofl: it reads requests "+
		"from zofl's standard output and answers to its standard input; all else goes to standard error")
	f.DurationVar(&p.startup, "startup", time.Minute, "how long the program may take to say hello")
	f.DurationVar(&p.patience, "patience", 5*time.Second,
		"how long after the end of a round the program may still answer; then it is killed")
}

// Start starts the program of a command line. It moves the command's own output away from standard
// output if a loss program uses that.
func (p *Program) Start(
	cmd *cobra.Command, command []string, logger *slog.Logger,
) (*lossprogram.Program, error) {
	switch {
	case p.Stdio && len(command) > 0:
		return nil, cli.Usage(fmt.Errorf("--stdio means the program that started zofl, and %s is "+
			"another: give one of both", command[0]))
	case !p.Stdio && len(command) == 0:
		return nil, cli.Usage(errors.New("the program is missing: name it after --, as in " +
			"zofl " + cmd.Name() + " ... -- python3 loss.py"))
	case p.dim < 0:
		return nil, cli.Usage(fmt.Errorf("--dim %d: give the plan's dim", p.dim))
	case p.startup <= 0:
		return nil, cli.Usage(fmt.Errorf("--startup %v: give more than 0", p.startup))
	case p.patience <= 0:
		return nil, cli.Usage(fmt.Errorf("--patience %v: give more than 0", p.patience))
	}
	cfg := lossprogram.Config{Command: command, Dim: p.dim, Startup: p.startup,
		Patience: p.patience, Lock: p.Lock, Logger: logger}
	if p.Stdio {
		signal.Ignore(syscall.SIGPIPE) // if the reader ends first, writing returns an error
		cfg.In, cfg.Out = cmd.InOrStdin(), cmd.OutOrStdout()
		cmd.SetOut(cmd.ErrOrStderr())
	}
	program, err := lossprogram.Start(cmd.Context(), cfg)
	if err != nil && !p.Stdio {
		return nil, startFault(p.named, command[0], err)
	}
	return program, err
}

// startFault adds a remedy to the error of a program that the system could not start.
func startFault(flag, name string, err error) error {
	missing, fault := (*exec.Error)(nil), (*fs.PathError)(nil)
	switch {
	case errors.As(err, &missing):
		err = missing.Err
	case errors.As(err, &fault) && strings.HasSuffix(fault.Op, "exec"):
		err = fault.Err
	default:
		return err
	}
	remedy := "name a program that is there, and see that the interpreter in its first line is"
	if errors.Is(err, fs.ErrPermission) {
		remedy = "give this user the right to execute it, or name its interpreter first, as in " +
			"python3 loss.py"
	} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, exec.ErrNotFound) {
		remedy = "name a program for this machine, or its interpreter first, as in python3 loss.py"
	}
	return cli.Usage(fmt.Errorf("%s %s: %w: %s", flag, name, err, remedy))
}
