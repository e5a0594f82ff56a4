// Package verb puts the program together: it has the commands of its folders.
package verb

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/losses"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb/access"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb/device"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb/lab"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb/logs"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb/operator"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb/plan"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb/serve"
	"github.com/zofl/zofl/coordinator/zofl/version"
)

// Root returns the command zofl, with all others below it.
func Root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "zofl",
		Short: "Train one model on many devices that can only evaluate it",
		Long: `Zofl trains one model on many devices. A device only has to compute the loss of given
parameters. It needs no gradients, and its data stay with it. Begin with zofl demo: it needs nothing
else.

Exit codes: 0 done; 1 failed; 2 the command line or the plan is wrong; 3 no broker or coordinator
answers; 4 a log is damaged, or replicas disagree; 130 interrupted.`,
		Example:       `  zofl demo`,
		Version:       version.String(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.Flags().Bool("version", false, "print the version of this program") // without -v
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		err = cli.UnknownFlag(cmd, cli.FlagValue(err))
		return cli.Usage(fmt.Errorf("%w; see %s --help", err, cmd.CommandPath()))
	})
	addGroup(cmd, "Try it:", lab.Demo(), lab.Bench())
	addGroup(cmd, "Train:", plan.Command(), lab.Simulate(), lab.Tune(), serve.Command(),
		device.Client(), device.Exec(), device.Follow())
	addGroup(cmd, "Command a running coordinator:", operator.Commands()...)
	addGroup(cmd, "Say who may take part:", access.Device(), access.Permissions())
	addGroup(cmd, "Read a run's log:", logs.Log(), logs.History(), logs.Report(), logs.Compare(),
		logs.Dashboard(), logs.Verify(), logs.Stats(), logs.Export(), logs.Recover())
	addGroup(cmd, "Read about flags:", append(serve.Topics(), connect.Topic(), losses.Topic())...)
	cli.TellOnce(cmd, connect.Help, serve.Broker, serve.JetStream, losses.Help)
	cmd.SetHelpCommand(cli.Help(cmd))
	cli.Completion(cmd)
	cli.WrapFlags(cmd)
	return cmd
}

// addGroup adds commands that the help lists under a title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, cmd := range commands {
		cmd.GroupID = title
	}
	root.AddCommand(commands...)
}
