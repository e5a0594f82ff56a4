package main

import (
	"fmt"
	"net"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/broker"
)

// A network is the broker that all parties share.
type network interface {
	// connect returns a separate bus for a party, and the counter of bytes at the party's socket.
	connect(id string) (bus.Bus, *broker.Traffic, error)
	close()
}

// newNetwork starts a broker, or uses a broker that runs elsewhere.
func newNetwork(kind string) (network, error) {
	switch {
	case kind == "memory":
		return &memory{bus.NewMemory()}, nil
	case kind == "embedded":
		var b *broker.Broker
		var err error
		as(brokerPart, func() { b, err = broker.Run(broker.Config{InProcess: true}) })
		if err != nil {
			return nil, err
		}
		return &server{broker: b}, nil
	case strings.Contains(kind, "://"):
		return &server{url: kind}, nil
	}
	return nil, fmt.Errorf("--broker %q: give memory, embedded, or a URL such as "+
		"nats://127.0.0.1:4222", kind)
}

// memory is one bus for all.
type memory struct{ bus *bus.Memory }

func (m *memory) connect(string) (bus.Bus, *broker.Traffic, error) { return m.bus, nil, nil }
func (m *memory) close()                                           { m.bus.Close() }

// server is a nats-server, with a connection for each party.
type server struct {
	url    string         // of a server elsewhere
	broker *broker.Broker // in this process; nil: elsewhere
	conns  list[*nats.Conn]
}

func (s *server) connect(id string) (bus.Bus, *broker.Traffic, error) {
	t := &broker.Traffic{}
	options := client.ConnectOptions(id)
	if s.broker != nil {
		options = append(options, nats.InProcessServer(pipes{s.broker, t}))
	} else {
		options = append(options, nats.SetCustomDialer(t), nats.RetryOnFailedConnect(false))
	}
	nc, err := nats.Connect(s.url, options...)
	if err != nil {
		return nil, nil, fmt.Errorf("connect %s: %w", id, err)
	}
	s.conns.add(nc)
	return bus.NATS(nc), t, nil
}

func (s *server) close() {
	for _, nc := range s.conns.all() {
		nc.Close()
	}
	if s.broker != nil {
		s.broker.Shutdown()
	}
}

// pipes makes in-process connections. The other end of each connection belongs to the broker.
type pipes struct {
	broker  *broker.Broker
	traffic *broker.Traffic
}

func (p pipes) InProcessConn() (c net.Conn, err error) {
	as(brokerPart, func() { c, err = p.broker.InProcessConn() })
	if err != nil {
		return nil, err
	}
	return p.traffic.Count(c), nil
}
