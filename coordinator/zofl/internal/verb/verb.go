// Package verb puts the program together: it has the commands of its folders.
package verb

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
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
parameters. It needs no gradients, and its data stay with it.

To see it work, run zofl demo: it needs nothing else. For a run of your own, write a plan
with zofl plan, start the coordinator with zofl serve, and start devices with zofl client
or with the library in an app. The coordinator writes each round to a log; every device
computes the same model from that log.

Exit codes:
  0    done; also for serve, client and follow when SIGINT or SIGTERM stops them
  1    failed
  2    the command line or the plan is wrong
  3    no broker answers, or no coordinator of the run does
  4    a log is damaged, or replicas of the model disagree
  130  interrupted before the command was done`,
		Example:       `  zofl demo`,
		Version:       version.String(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.Flags().Bool("version", false, "print the version of this program") // without -v
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usage(fmt.Errorf("%w; see %s --help", cli.FlagValue(err), cmd.CommandPath()))
	})
	addGroup(cmd, "Try it:", lab.Demo(), lab.Bench())
	addGroup(cmd, "Train:", plan.Command(), lab.Simulate(), lab.Tune(), serve.Command(),
		device.Client(), device.Exec(), device.Follow())
	addGroup(cmd, "Command a running coordinator:", operator.Commands()...)
	addGroup(cmd, "Say who may take part:", access.Device(), access.Permissions())
	addGroup(cmd, "Read a run's log:", logs.Log(), logs.History(), logs.Report(), logs.Compare(),
		logs.Dashboard(), logs.Verify(), logs.Export(), logs.Recover())
	cmd.AddCommand(connect.Topic())
	connect.TellOnce(cmd)
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
