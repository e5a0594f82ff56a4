package connect

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// toldOnce marks the flags that only the help of the topic describes, for all commands.
const toldOnce = "told once"

// topic is the name of the command whose help describes the flags marked with toldOnce.
const topic = "connection"

// tellOnce marks all flags of a connection except --url with toldOnce.
func tellOnce(flags *pflag.FlagSet) {
	for _, name := range append(FlagNames, "context") {
		if err := flags.SetAnnotation(name, toldOnce, nil); err != nil {
			panic("connect: internal error: " + err.Error()) // no such flag
		}
	}
}

// Topic is `zofl help connection`: its help describes --url and the related flags, once for all
// commands.
func Topic() *cobra.Command {
	cmd := &cobra.Command{
		Use:   topic,
		Short: "The flags that say how to reach a broker, and as whom",
		Long: `Commands that need a broker take these flags. --url names it, or --context says all.
The other flags are for brokers that speak TLS, and that let in only users they know.`,
		Example: `  zofl status --run kitchen --url tls://broker:4222 --creds operator.creds`,
		Args:    cli.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	(&Connection{}).Flags(cmd)
	return cmd
}

// TellOnce changes the help of each command below root, except that of Topic. Instead of the flags
// that Topic describes, the help names the topic.
func TellOnce(root *cobra.Command) {
	usual := (&cobra.Command{}).UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		var left []*pflag.Flag // hidden only here, because shells complete them
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if _, marked := f.Annotations[toldOnce]; marked && cmd.Name() != topic {
				left = append(left, f)
			}
		})
		for _, f := range left {
			f.Hidden = true
			defer func() { f.Hidden = false }()
		}
		if err := usual(cmd); err != nil || len(left) == 0 {
			return err
		}
		cmd.Print("\nConnection flags, such as --creds, --tls-ca and --context: " +
			"see zofl help connection\n")
		return nil
	})
}
