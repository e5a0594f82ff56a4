package serve

import (
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
)

// check returns an error if the command would ignore a flag.
func (f *serveFlags) check(cmd *cobra.Command) error {
	var failed error
	refuse := func(when bool, reason string, flags ...string) {
		if when && failed == nil {
			failed = cli.Useless(cmd, reason, flags...)
		}
	}
	refuse(f.URL != "", "--url names a broker, so serve starts none: leave out --url or --listen",
		"listen")
	refuse(f.URL != "", "--url names a broker, so serve starts none, and its owner has the users: "+
		"leave out --url or these", guardFlags...)
	refuse(f.URL != "", "--url names a broker, so serve starts none: its owner opens it to browsers: "+
		"leave out --url or these", webFlags...)
	refuse(f.URL == "", "only with --url: serve knows the broker that it starts",
		connect.FlagNames...)
	refuse(!f.jetstream, "only with --jetstream: add it, or leave this out", "run", "replicas",
		"lease", "max-bytes")
	refuse(!f.jetstream || f.URL == "", "only with --jetstream and --url: a broker that serve "+
		"starts syncs", syncFlags...)
	refuse(f.jetstream && f.URL != "", "the log is in the JetStream of the broker at --url: "+
		"leave out --store or --jetstream", "store")
	refuse(f.sync.unsynced, "--allow-unsynced asks no server: leave out one of the two",
		"system-url", "system-creds")
	refuse(f.offer.file == "", "it names tensors of the file of --offer: add that, or leave this out",
		"train")
	if failed != nil {
		return failed
	}
	return f.alerts.check(cmd)
}
