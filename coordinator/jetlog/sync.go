package jetlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// answersWithin is how long CheckSync waits for the next server's answer.
const answersWithin = time.Second

// CheckSync asks the servers of a cluster whether each of them writes messages to its disk before
// it acknowledges them, as a [Log] needs. The error names the servers that do not. Servers answer
// this only to their system account, so system must be a connection of one of its users. names are
// the servers that answered; CheckSync cannot check the others. If none answered, the error matches
// [nats.ErrNoResponders] if the user is of another account, and [nats.ErrTimeout] if servers may
// still be starting.
func CheckSync(ctx context.Context, system *nats.Conn) (names []string, err error) {
	sub, err := system.SubscribeSync(system.NewInbox())
	if err == nil {
		defer func() { _ = sub.Unsubscribe() }() // fails only where the connection is gone
		err = system.PublishRequest("$SYS.REQ.SERVER.PING.JSZ", sub.Subject, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("jetlog: check sync: %w", err)
	}
	var late []string
	var silent error
	for {
		name, always, err := nextSync(ctx, sub)
		if errors.Is(err, errNoMore) {
			silent = err
			break
		} else if err != nil {
			return names, fmt.Errorf("jetlog: check sync: %w", err)
		}
		names = append(names, name)
		if !always {
			late = append(late, name)
		}
	}
	slices.Sort(names)
	slices.Sort(late)
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("jetlog: check sync: no server with a JetStream answers: "+
			"connect as a user of the system account (%w)", silent)
	case late != nil:
		return names, fmt.Errorf("jetlog: check sync: set jetstream { sync_interval: always } on "+
			"server %s: "+
			"it acknowledges records that a power cut can take away", strings.Join(late, ", "))
	}
	return names, nil
}

// errNoMore: every server has answered.
var errNoMore = errors.New("no more answers")

// nextSync reads the answer of one server that has a JetStream.
func nextSync(ctx context.Context, sub *nats.Subscription) (name string, always bool, err error) {
	once, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	for {
		m, err := sub.NextMsgWithContext(once)
		switch {
		case ctx.Err() != nil:
			return "", false, ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			return "", false, fmt.Errorf("%w: %w", errNoMore, nats.ErrTimeout)
		case errors.Is(err, nats.ErrNoResponders):
			return "", false, fmt.Errorf("%w: %w", errNoMore, err)
		case err != nil:
			return "", false, err
		}
		var reply struct {
			Server struct {
				Name string `json:"name"`
			} `json:"server"`
			Data *struct {
				Disabled bool `json:"disabled"`
				Config   struct {
					SyncAlways bool `json:"sync_always"`
				} `json:"config"`
			} `json:"data"`
		}
		if err := json.Unmarshal(m.Data, &reply); err != nil {
			return "", false, err
		}
		if reply.Data != nil && !reply.Data.Disabled {
			return reply.Server.Name, reply.Data.Config.SyncAlways, nil
		}
	}
}
