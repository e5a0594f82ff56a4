package connect

import (
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// Help is the topic of the flags of a connection.
var Help = &cli.Topic{Name: "connection", Title: "Connection", Shown: []string{"url"},
	Says: "TLS, credentials, contexts"}

// Topic is `zofl help connection`: its help describes --url and the related flags, once for all
// commands.
func Topic() *cobra.Command {
	cmd := Help.Command("The flags that say how to reach a broker, and as whom",
		`Commands that need a broker take these flags. --url names it, or --context says all.
The other flags are for brokers that speak TLS, and that let in only users they know.`,
		"  zofl status --run kitchen --url tls://broker:4222 --creds operator.creds")
	(&Connection{}).Flags(cmd)
	cmd.Flags().Lookup("url").Usage = "address of the broker, such as tls://broker:4222, or " +
		"nats://127.0.0.1:4222 on this machine; several, separated by commas: no other servers are used"
	return cmd
}
