// Command raspberrypi is an agent for devices with sensors. It reads them and keeps the
// readings to itself. Together with the other devices it trains a small network, sharing
// losses alone, to forecast the next readings. Readings far from their forecasts are
// reported as unusual.
//
//	raspberrypi FILE [field=value...]        the agent; FILE is its configuration
//	raspberrypi plan FILE [field=value...]   prints a plan for such devices' run
//	raspberrypi fields                       lists the fields of FILE
//
// See README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// Exit codes besides 0. The unit file does not restart the agent after exitUsage, which is
// EX_CONFIG of sysexits. It is not 2, because a Go program that panics or runs out of
// memory exits with 2 and should be restarted.
const (
	exitFailure = 1
	exitUsage   = 78
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), ends()...)
	defer stop()
	log := newLog(os.Stderr, toJournal())
	if err := run(ctx, os.Args[1:], os.Stdout, log); err != nil {
		log.Error("raspberrypi", "err", err)
		stop()
		os.Exit(exitCode(err))
	}
}

// ends returns the signals that end the agent, after which it saves its window. Closing the
// terminal is one of them, except under nohup.
func ends() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}

var errUsage = errors.New("usage: raspberrypi [plan] FILE [field=value...], or raspberrypi fields")

// exitCode distinguishes what a person has to fix from what may pass by itself.
func exitCode(err error) int {
	if errors.Is(err, errUsage) || errors.As(err, new(*FieldError)) ||
		errors.As(err, new(*wire.PlanError)) ||
		errors.Is(err, replica.ErrDim) || errors.Is(err, replica.ErrForeign) ||
		errors.Is(err, wire.ErrRunKey) {
		return exitUsage
	}
	return exitFailure
}

func run(ctx context.Context, args []string, out io.Writer, log *slog.Logger) error {
	switch {
	case len(args) == 1 && (args[0] == "-h" || args[0] == "--help" || args[0] == "help"):
		_, err := fmt.Fprintln(out, errUsage)
		return err
	case len(args) == 1 && args[0] == "fields":
		return printFields(out)
	case len(args) >= 2 && args[0] == "plan":
		cfg, err := readConfig(args[1], anywhere)
		if err != nil {
			return err
		}
		p, err := makePlan(cfg, args[2:])
		if err != nil {
			return err
		}
		return writePlan(out, p)
	case len(args) >= 1 && args[0] != "plan":
		cfg, err := readConfig(args[0], args[1:])
		if err != nil {
			return err
		}
		return serve(ctx, cfg, log)
	}
	return errUsage
}

// anywhere are settings for making a plan on any machine, where the names and files of the
// devices do not exist.
var anywhere = []string{"id=any", "state=any", "ca=", "creds=", "secret=", "plaintext=yes"}

// printFields lists the fields of a configuration.
func printFields(out io.Writer) error {
	for _, f := range fields {
		if _, err := fmt.Fprintf(out, "%-10s %-22s %s\n", f.name, f.fallback, f.meaning); err != nil {
			return err
		}
	}
	return nil
}
