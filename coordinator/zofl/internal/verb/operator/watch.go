package operator

import (
	"errors"
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/coordinator/zofl/internal/watchtui"
)

func watchCommand() *cobra.Command {
	var o operator
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Watch and steer a run on the whole terminal",
		Long: `Shows a run on the whole terminal: state, speed, losses, metrics and their curves, what
happened, and the devices, which can be sorted and filtered. Keys pause, resume and end the
run, after a question; ? explains all keys.

The coordinator is asked once a second for what is new. While it is away the screen says so
and stays. To quit does nothing to the run. Set NO_COLOR to a text for a screen without colors.

Without a terminal, use zofl status, or zofl history --json.`,
		Example: `  zofl watch --url nats://127.0.0.1:4222 --run kitchen`,
		Args:    cli.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.watch(cmd) },
	}
	o.Connection.Flags(cmd)
	cmd.Flags().StringVar(&o.run, "run", "", "name of the run")
	return cmd
}

// watch shows a run until the person quits.
func (o *operator) watch(cmd *cobra.Command) error {
	if !terminal.NewLive(os.Stdout).Moves() || !terminal.NewLive(os.Stdin).Moves() {
		return cli.Usage(fmt.Errorf("watch needs a terminal as input and output, and TERM other than " +
			"dumb: without one, use `zofl status` or `zofl history --json`"))
	}
	nc, err := o.open("watch")
	if err != nil {
		return err
	}
	defer nc.Close()
	ctx := cmd.Context()
	m := watchtui.New(watchtui.Remote(ctx, nc, o.run), o.run, terminal.Colors())
	err = watchtui.Run(ctx, m)
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return nil // an interrupt only ends the display, and the run goes on
	}
	return err
}
