package coordinator

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// Errors of New and Run.
var (
	// ErrConfig: a field of Config cannot be used; the text says which.
	ErrConfig = errors.New("bad config")
	// ErrRunning: Run was called while it runs.
	ErrRunning = errors.New("already running")
)

// Config is what a coordinator needs.
type Config struct {
	// Conn is the caller's connection; the coordinator never dials or closes
	// it. Set nats.MaxReconnects(-1), or a broker that is away for long ends
	// the run.
	Conn *nats.Conn
	// Bus replaces Conn, for tests and simulations. One of the two is needed.
	Bus bus.Bus
	// Plan is what the run is to do. Nil continues the run of Log. With both,
	// the plan must be that of record 1.
	Plan *wire.Plan
	// Log stores the run: [OpenFileLog], or a [MemoryLog] for what need not
	// survive. Nobody else may append to it. It stays the caller's to close.
	Log Log
	// Recorder receives events; nil: nobody does.
	Recorder Recorder
	// Logger receives what an operator would want to know; nil: nobody does.
	Logger *slog.Logger
	// Linger is how long Run goes on to announce the end, so that devices
	// learn of it and send their last evaluations. 0 is 1.5 times the plan's
	// Reannounce: the end is said twice. Negative is until ctx ends.
	Linger time.Duration
	// Queue bounds the replies and requests that wait to be handled, of at
	// most wire.MaxFrame bytes each; what comes beyond is dropped and counted.
	// 0 is 16384.
	Queue int
}

func (c Config) withDefaults() (Config, error) {
	if c.Bus == nil && c.Conn != nil {
		c.Bus = bus.NATS(c.Conn)
	}
	switch {
	case c.Bus == nil:
		return c, fmt.Errorf("%w: Conn is nil: connect with nats.Connect first", ErrConfig)
	case c.Log == nil:
		return c, fmt.Errorf("%w: Log is nil: open one with OpenFileLog, or give &MemoryLog{}", ErrConfig)
	case c.Queue < 0:
		return c, fmt.Errorf("%w: Queue = %d: give a positive number, or 0 for the default", ErrConfig, c.Queue)
	}
	if c.Recorder == nil {
		c.Recorder = RecorderFunc(func(Event) error { return nil })
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Queue == 0 {
		c.Queue = 16384
	}
	return c, nil
}
