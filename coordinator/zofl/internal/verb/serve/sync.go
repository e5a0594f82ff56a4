package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
)

// syncCheck holds the flags of a check that `zofl serve --jetstream` makes: that the broker's
// servers sync every message to disk before they acknowledge it.
type syncCheck struct {
	url, creds string // of a user of the system account
	unsynced   bool   // serve without the check
}

// syncFlags are the names of the flags of a syncCheck.
var syncFlags = []string{"system-url", "system-creds", "allow-unsynced"}

func (s *syncCheck) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.url, "system-url", "",
		"address of the broker for a user of its system account; default: --url")
	f.StringVar(&s.creds, "system-creds", "", "file with that user's JWT and nkey seed")
	f.BoolVar(&s.unsynced, "allow-unsynced", false,
		"do not ask whether the servers sync each message to disk")
}

// needed says whether the check must ask the servers.
func (s *syncCheck) needed(logger *slog.Logger) (bool, error) {
	switch {
	case s.unsynced:
		logger.Warn("servers are not checked for sync: " +
			"a power cut can take records that devices have applied")
		return false, nil
	case s.url == "" && s.creds == "":
		return false, cli.Usage(errors.New("--system-url and --system-creds are missing: give one, " +
			"so that a user of the system account can ask whether the servers sync, " +
			"or give --allow-unsynced"))
	}
	return true, nil
}

// syncTries is how often ask tries servers that do not answer, two seconds apart. The servers may
// be starting.
const syncTries = 15

// check asks the servers whether they sync every message, and waits while the broker does not
// answer. way holds the flags that say how to reach --url.
func (s *syncCheck) check(ctx context.Context, way connect.Connection, replicas int,
	logger *slog.Logger) error {
	way.Creds, way.NKey = s.creds, ""
	if s.url != "" {
		way.URL = s.url
	}
	nc, err := way.Await("zofl serve: sync", "", logger)
	if err != nil {
		return err
	}
	defer nc.Close()
	names, err := s.ask(ctx, nc, logger)
	if err != nil {
		return fmt.Errorf("%w; or give --allow-unsynced", err)
	}
	if len(names) < replicas {
		logger.Warn("only some servers say that they sync", "servers", names, "replicas", replicas)
	}
	return nil
}

// ask asks the servers until they answer, at most syncTries times.
func (s *syncCheck) ask(ctx context.Context, nc *nats.Conn,
	logger *slog.Logger) (names []string, err error) {
	for tries := 0; ; {
		if nc.Status() != nats.CONNECTED {
			err = errors.New("no connection yet")
		} else if names, err = jetlog.CheckSync(ctx, nc); nc.Status() == nats.CONNECTED {
			if tries++; !errors.Is(err, nats.ErrTimeout) || tries == syncTries {
				return names, err
			}
		}
		if retrying(ctx, logger, err); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}
