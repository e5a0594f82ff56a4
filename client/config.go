package client

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// ErrConfig: a field of Config cannot be used; the text says which, and what to
// do about it.
var ErrConfig = errors.New("bad config")

// Config is what a client needs.
type Config struct {
	// Conn is the app's connection; the client never dials or closes it. For
	// a device on a bad network set nats.MaxReconnects(-1),
	// nats.RetryOnFailedConnect(true) and nats.ReconnectBufSize(-1).
	Conn *nats.Conn
	// Bus replaces Conn, for tests and simulations. One of the two is needed.
	Bus bus.Bus
	// Run is the name of the run.
	Run string
	// ID names this device among the others, for ever: letters, digits, '-'
	// and '_', at most 32. Every byte of it is paid in every reply.
	ID string
	// Objective is the app's loss. What else it implements of [Streaming],
	// [Evaluator], [Sampler] and [Policy] is used.
	Objective Objective
	// Initial are the first parameters of a plan that has them given. They
	// are copied when the plan arrives, and again where the device has to
	// start over, and never changed. Others: nil.
	Initial []float32
	// Recorder receives progress; nil: nobody does.
	Recorder Recorder
	// Logger receives what an operator would want to know; nil: nobody does.
	Logger *slog.Logger
	// RequestTimeout bounds each request to the coordinator; 0 is 5 s.
	RequestTimeout time.Duration
	// RetryMax bounds the pause between attempts to join, which starts at
	// RetryMax/32 and doubles; 0 is 30 s.
	RetryMax time.Duration
}

// withDefaults returns a config in which everything is set, and the number of
// parameters.
func (c Config) withDefaults() (Config, int, error) {
	if c.Bus == nil && c.Conn != nil {
		c.Bus = bus.NATS(c.Conn)
	}
	if err := c.check(); err != nil {
		return c, 0, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	dim := c.Objective.Dim()
	if dim < 1 {
		return c, 0, fmt.Errorf("%w: Objective.Dim() = %d: a model has at least one parameter", ErrConfig, dim)
	}
	if c.Recorder == nil {
		c.Recorder = RecorderFunc(func(Progress) error { return nil })
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.RequestTimeout == 0 {
		c.RequestTimeout = 5 * time.Second
	}
	if c.RetryMax == 0 {
		c.RetryMax = 30 * time.Second
	}
	c.Logger = c.Logger.With("run", c.Run, "id", c.ID)
	return c, dim, nil
}

func (c *Config) check() error {
	switch {
	case c.Bus == nil:
		return errors.New("Conn is nil: connect with nats.Connect first")
	case wire.CheckName(c.Run) != nil:
		return fmt.Errorf("Run: name the run that the coordinator's plan names: %w", wire.CheckName(c.Run))
	case wire.CheckName(c.ID) != nil:
		return fmt.Errorf("ID: give each device a name of its own: %w", wire.CheckName(c.ID))
	case c.Objective == nil:
		return errors.New("Objective is nil: give the loss, for instance client.Func(dim, loss)")
	case c.RequestTimeout < 0:
		return fmt.Errorf("RequestTimeout = %v: give a positive duration, or 0 for 5 s", c.RequestTimeout)
	case c.RetryMax < 0 || c.RetryMax > 0 && c.RetryMax < time.Millisecond:
		return fmt.Errorf("RetryMax = %v: give at least 1 ms, or 0 for 30 s", c.RetryMax)
	}
	return nil
}
