package soak

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus/bustest"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator/zofl/broker"
)

// Delays after which parties reconnect to a server. Phones wait longer; with these delays more
// happens in an hour.
const (
	reconnectMin = 50 * time.Millisecond
	reconnectMax = 500 * time.Millisecond
)

// A server is a nats-server that stops and returns at the same address.
type server struct {
	address string

	mu     sync.Mutex // guards broker
	broker *broker.Broker
}

// startServer listens at a port below the ports that systems give to outgoing connections: an
// outgoing connection could otherwise take the port while the server is stopped.
func startServer() (*server, error) {
	var err error
	for range 100 {
		s := &server{address: fmt.Sprint("127.0.0.1:", 20000+rand.IntN(12000))}
		if err = s.start(); err == nil {
			return s, nil
		}
	}
	return nil, err
}

func (s *server) start() error {
	b, err := broker.Run(broker.Config{Listen: s.address})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broker = b
	return nil
}

func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broker.Shutdown()
}

// connect connects a party through its proxy. connect may return before the connection exists.
func connect(p *bustest.Proxy, id string) (*nats.Conn, error) {
	return nats.Connect("nats://"+p.Address(), append(client.ConnectOptions(id),
		nats.IgnoreDiscoveredServers(),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // faults are expected
		nats.Timeout(2*time.Second),
		nats.PingInterval(time.Second),
		nats.CustomReconnectDelay(func(int) time.Duration {
			return reconnectMin + rand.N(reconnectMax-reconnectMin)
		}))...)
}
