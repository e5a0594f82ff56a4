package broker

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/bus/bustest"
)

// The NATS bus must pass what every bus must, over both kinds of connection.
func TestBusOverNATS(t *testing.T) {
	for name, cfg := range kinds {
		t.Run(name, func(t *testing.T) {
			b := run(t, cfg)
			bustest.Run(t, func(t *testing.T) bus.Bus {
				nc, _ := dial(t, b, t.Name(), nats.ReconnectBufSize(-1))
				return bus.NATS(nc)
			})
		})
	}
}
