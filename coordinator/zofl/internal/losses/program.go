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
	Stdio          bool
	named          string // by which flag: --exec or --
	dim            int
	startup, grace time.Duration
	// Lock is a file that the running program of a device locks; see lossprogram.Config.
	Lock string
}

// Flags adds the flags of a command that has no plan.
func (p *Program) Flags(cmd *cobra.Command) {
	p.named = "--"
	cmd.Flags().IntVar(&p.dim, "dim", 0,
		"number of parameters, for a program that says dim=0; default: the plan's dim")
	Help.Mark(cmd.Flags(), "dim")
	p.shared(cmd)
}

// shared adds the flags for commands with a plan and for commands without a plan.
func (p *Program) shared(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&p.Stdio, "stdio", false,
		"the program is the one that started zofl, at its standard input and output")
	f.DurationVar(&p.startup, "startup", time.Minute, "how long the program may take to say hello")
	f.DurationVar(&p.grace, "grace", 5*time.Second,
		"how long it may answer after the end of a round before it is killed")
	Help.Mark(f, "stdio", "startup", "grace")
}

// Help is the topic of the flags of a program that computes losses.
var Help = &cli.Topic{Name: "program", Title: "Loss program", Shown: []string{"exec", "dim"},
	Says: "its time limits, and --stdio"}

// Topic is `zofl help program`: its help describes the flags of a program that computes losses.
func Topic() *cobra.Command {
	topic := Help.Command("The flags of a program that computes the losses of devices",
		`The loss of exec, simulate and tune can be that of a program in any language: a script around
an inference engine, a simulator, a test bench. The program reads parameters from a file and
answers lines; docs/exec.md has the protocol. It is started again when it ends, and killed with its
children when it hangs. With --stdio it is the program that started zofl; what zofl prints goes to
standard error then.`,
		"  zofl exec --url nats://127.0.0.1:4222 --run kitchen --id pi-3 -- python3 loss.py")
	(&Program{}).shared(topic)
	return topic
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
	case p.grace <= 0:
		return nil, cli.Usage(fmt.Errorf("--grace %v: give more than 0", p.grace))
	}
	cfg := lossprogram.Config{Command: command, Dim: p.dim, Startup: p.startup,
		Patience: p.grace, Lock: p.Lock, Logger: logger}
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
