package serve

import (
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// Topics of the flags of `zofl serve`: of a log in JetStream, and of the broker that serve starts.
var (
	JetStream = &cli.Topic{Name: "jetstream", Title: "JetStream", Shown: []string{"jetstream"},
		Says: "several coordinators and servers"}
	Broker = &cli.Topic{Name: "broker", Title: "Broker", Shown: []string{"listen"},
		Says: "users, TLS, browsers, who may join"}
)

var (
	jetStreamFlags = []string{"jetstream", "run", "replicas", "lease", "max-bytes", "system-url",
		"system-creds", "allow-unsynced"}
	brokerFlags = []string{"listen", "auth", "tls", "host", "websocket", "origin", "allow",
		"join-rate"}
)

// Topics are `zofl help jetstream` and `zofl help broker`.
func Topics() []*cobra.Command {
	return []*cobra.Command{
		topic(Broker, brokerFlags, "The flags of zofl serve for the broker that it starts",
			`Without --url, zofl serve starts a broker for devices on this machine. With --tls and --auth it
takes devices on other machines too, which zofl device lets in. With --websocket, pages of --origin
reach it from browsers. --allow and --join-rate say who may join, at any broker.`,
			"  zofl serve kitchen.json --store kitchen.log --listen :4222 --tls --auth kitchen.auth"),
		topic(JetStream, jetStreamFlags, "The flags of zofl serve for a log in JetStream",
			`The log of a run is a directory (--store), or a stream in the broker's JetStream (--jetstream).
Coordinators can share a log in JetStream: one leads, the others stand by. With transport=dense,
vectors are stored beside the log, in the bucket ZO_<run>_OBJECTS.

With --url too, serve asks the servers whether they sync every message to disk before they
acknowledge it (jetstream { sync_interval: always }). It refuses servers that do not: if a power
cut took a record that devices have applied, their histories would diverge. Servers tell this only
to a user of their system account: name one with --system-url or --system-creds.`,
			"  zofl serve kitchen.json --jetstream --url tls://broker:4222 --replicas 3"),
	}
}

func topic(t *cli.Topic, flags []string, short, long, example string) *cobra.Command {
	cmd, leads := t.Command(short, long, example), Command().Flags()
	for _, name := range flags {
		cmd.Flags().AddFlag(leads.Lookup(name))
	}
	return cmd
}
