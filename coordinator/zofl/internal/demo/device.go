package demo

import (
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/broker"
)

// A device is one client and its connection.
type device struct {
	conn    *nats.Conn
	traffic *broker.Traffic
	client  *client.Client
	queries atomic.Uint64
}
