// Command sensor is an agent for devices with sensors. The agent reads the sensors, and the
// readings do not leave the device. Together with the other devices, the agent trains a small
// network that forecasts the next readings. The devices share only losses. The agent reports
// readings far from their forecasts as unusual.
//
//	zofl-sensor FILE [field=value...]        the agent; FILE is its configuration
//	zofl-sensor plan FILE [field=value...]   prints a plan for such devices' run
//	zofl-sensor enroll LINE|CREDS|- [FILE]   keeps what zofl device add gave this device
//	zofl-sensor fields                       lists the fields of FILE
//	zofl-sensor version                      prints the version
//
// See README.md.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/examples/sensor/internal/config"
	"github.com/zofl/zofl/plan"
)

// Exit codes besides 0. The unit file does not restart the agent after exitUsage, which is
// EX_CONFIG of sysexits. exitUsage is not 2, because a Go program that panics or runs out of
// memory exits with 2, and systemd should restart such an agent.
const (
	exitFailure = 1
	exitUsage   = 78
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), ends()...)
	defer stop()
	log := newLog(os.Stderr, toJournal())
	if err := run(ctx, os.Args[1:], os.Stdout, log); err != nil {
		log.Error("zofl-sensor", "err", err)
		stop()
		os.Exit(exitCode(err))
	}
}

// ends returns the signals that end the agent, after which it saves its window. Closing the
// terminal is such a signal, except under nohup.
func ends() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{os.Interrupt, syscall.SIGTERM}
	}
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
}

var errUsage = errors.New("usage: zofl-sensor FILE [field=value...], zofl-sensor plan FILE " +
	"[field=value...], zofl-sensor enroll LINE|CREDS|- [FILE], zofl-sensor fields or " +
	"zofl-sensor version")

// exitCode distinguishes errors that a person must fix from errors that may pass.
func exitCode(err error) int {
	if errors.Is(err, errUsage) || errors.As(err, new(*config.FieldError)) ||
		errors.As(err, new(*plan.Error)) ||
		errors.Is(err, replica.ErrDim) || errors.Is(err, replica.ErrForeign) ||
		errors.Is(err, plan.ErrRunKey) {
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
		return config.Print(out)
	case len(args) == 1 && args[0] == "version":
		_, err := fmt.Fprintln(out, "zofl-sensor", cmp.Or(version(), "of no version"))
		return err
	case (len(args) == 2 || len(args) == 3) && args[0] == "enroll":
		return config.Enroll(args[1], append(args, config.EnrolledTo)[2], out)
	case len(args) >= 2 && args[0] == "plan":
		cfg, err := config.Read(args[1], anywhere)
		if err != nil {
			return err
		}
		p, err := makePlan(cfg, args[2:])
		if err != nil {
			return err
		}
		return writePlan(out, p)
	case len(args) >= 1 && args[0] != "plan" && args[0] != "enroll":
		cfg, err := config.Read(args[0], args[1:])
		if err != nil {
			return err
		}
		return serve(ctx, cfg, log)
	}
	return errUsage
}

// anywhere are settings for making a plan on any machine, where the names and files of the
// devices do not exist.
var anywhere = []string{"id=any", "state=any", "creds=", "secret=", "url=plaintext=yes",
	"mqtt=plaintext=yes password= ca="}
