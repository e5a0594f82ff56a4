package pull

import (
	"context"
	"errors"
	"net"

	"github.com/zofl/zofl/bus"
)

// nowhere is a network that nothing passes. Settings are tried on it.
type nowhere struct{}

var errNowhere = errors.New("nowhere")

func (nowhere) Publish(string, []byte) error { return bus.ErrOffline }

func (nowhere) Request(context.Context, string, []byte) ([]byte, error) {
	return nil, bus.ErrOffline
}

func (nowhere) Subscribe(string, func(bus.Message)) (bus.Subscription, error) {
	return nil, bus.ErrOffline
}

func (nowhere) Dial(string, string) (net.Conn, error) { return nil, errNowhere }
