package jetlog

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/runlog"
)

// A silence is the error of a call to which no server answered. Its text takes the place of the
// text of a timeout, which says neither who was silent nor what to do.
type silence struct {
	cause error
	what  string
}

func (s *silence) Error() string { return s.what }

func (s *silence) Unwrap() []error { return []error{runlog.ErrUnavailable, s.cause} }

// unheard says what it means for people that no server answered. Other errors it returns as they
// are.
func unheard(nc *nats.Conn, err error) error {
	if err == nil || errors.Is(err, runlog.ErrUnavailable) || !silent(err) {
		return err
	}
	what := "there is no connection to the broker"
	if nc.IsConnected() {
		what = runlog.ErrUnavailable.Error() + ": start them; a stream needs more than half of its " +
			"servers. The log of a server says why it does not start, or \"snapshot corrupt\": then " +
			"move its store aside, and start all servers, those with a whole store first"
	}
	return &silence{err, what}
}

// silent says that no server answered, or only one that does not lead.
func silent(err error) bool {
	for _, s := range []error{
		context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders,
		jetstream.ErrNoStreamResponse, nats.ErrDisconnected, nats.ErrReconnectBufExceeded,
		nats.ErrConnectionReconnecting, nats.ErrStaleConnection, nats.ErrNoServers, errAlone,
	} {
		if errors.Is(err, s) {
			return true
		}
	}
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == noMetaLeader
}

// noMetaLeader: the servers have not elected the one that leads JetStream.
const noMetaLeader = 10008
