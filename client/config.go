package client

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/wire"
)

// ErrConfig: a field of Config cannot be used; the text says which, and what to
// do about it.
var ErrConfig = errors.New("bad config")

// runKeyLen is the bytes of a run key.
const runKeyLen = 32

// Config is what a client needs.
type Config struct {
	// Conn is the app's connection; the client never dials or closes it. For
	// a device on a bad network connect with [ConnectOptions].
	Conn *nats.Conn
	// Bus replaces Conn, for tests and simulations. One of the two is needed.
	Bus bus.Bus
	// Run is the name of the run.
	Run string
	// ID names this device among the others, for ever: letters, digits, '-'
	// and '_', at most 32. Every byte of it is paid in every reply.
	ID string
	// Objective is the app's loss, for instance [objective.Func]. The client uses what
	// else it implements: [objective.Evaluator], [objective.Sampler], [objective.Policy].
	// Nil with Passive.
	Objective objective.Objective
	// Passive makes a client that follows the run without taking part; nil: it
	// takes part.
	Passive *Passive
	// Initial are the first parameters of a plan that has them given. They
	// are copied when the plan arrives, and again where the device has to
	// start over, and never changed. Others: nil.
	Initial []float32
	// RunKey is the secret of a private run: 32 random bytes, the same for every
	// device and passive replica of the run, which the app brings to them and which
	// is never sent. The plan was made with it; whoever has it can compute the model
	// from what the network carries, and nobody else can. A wrong or missing key
	// ends Run with [wire.ErrRunKey], and so does a plan that has its key in public.
	// Nil: the run is not private.
	RunKey []byte
	// Workers is how many goroutines may make directions and replay records at
	// once; 0: as many as Go runs at once (GOMAXPROCS). Fewer leave cores to the
	// app, and cost it nothing but time: the bits are the same for any number. A
	// model of a few ten thousand parameters never uses more than one. Each takes
	// some 16 KiB.
	Workers int
	// Recorder receives progress; nil: nobody does.
	Recorder Recorder
	// Logger receives what an operator would want to know; nil: nobody does.
	Logger *slog.Logger
	// RequestTimeout bounds each request to the coordinator; 0 is 5 s.
	RequestTimeout time.Duration
	// RetryMax bounds the pause between attempts to join, which starts at
	// RetryMax/32 and doubles; 0 is 30 s.
	RetryMax time.Duration
	// Store keeps the state and the last reply for the next process; nil: the
	// memory only. The client never closes it. A store that fails, or holds
	// what cannot be used, costs a replay at most; see [ErrStore].
	Store Store
	// CheckpointEvery is how many records are applied from one checkpoint to
	// the next; 0 is 64. Within a catch-up only CheckpointInterval counts.
	CheckpointEvery uint64
	// CheckpointInterval is how long a state goes without a checkpoint; 0 is
	// 5 min. There is another when Run ends.
	CheckpointInterval time.Duration
	// Horizon is how many records are replayed at most where there is a
	// snapshot to take instead; 0: as many as cost less than the snapshot, in
	// bytes and in seconds as measured. In a run without digests nothing proves
	// a snapshot before the run ends, and the log is replayed then. A dense run's
	// records are short and are replayed, whatever this is.
	Horizon uint64
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
	dim := 0
	if c.Objective != nil {
		if dim = c.Objective.Dim(); dim < 1 {
			return c, 0, fmt.Errorf("%w: Objective.Dim() = %d: a model has at least one parameter", ErrConfig, dim)
		}
	}
	if c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
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
	if c.CheckpointEvery == 0 {
		c.CheckpointEvery = 64
	}
	if c.CheckpointInterval == 0 {
		c.CheckpointInterval = 5 * time.Minute
	}
	c.RunKey = bytes.Clone(c.RunKey)
	c.Logger = c.Logger.With("run", c.Run, "id", c.ID)
	return c, dim, nil
}

// evaluates says whether an objective has a loss, in any form.
func evaluates(o objective.Objective) bool {
	switch o.(type) {
	case objective.Flat, objective.Streaming, objective.Batched:
		return true
	}
	return false
}

func (c *Config) check() error {
	switch {
	case c.Bus == nil:
		return errors.New("Conn is nil: connect with nats.Connect first")
	case wire.CheckName(c.Run) != nil:
		return fmt.Errorf("Run: name the run that the coordinator's plan names: %w", wire.CheckName(c.Run))
	case wire.CheckName(c.ID) != nil:
		return fmt.Errorf("ID: give each device a name of its own: %w", wire.CheckName(c.ID))
	case c.Objective == nil && c.Passive == nil:
		return errors.New("Objective is nil: give the loss, for instance objective.Func(dim, loss), or Passive to follow without one")
	case c.Objective != nil && !evaluates(c.Objective):
		return fmt.Errorf("Objective is a %T without a loss: implement objective.Flat (Loss), objective.Streaming (LossAt) or objective.Batched (LossesAt)", c.Objective)
	case len(c.RunKey) != 0 && len(c.RunKey) != runKeyLen:
		return fmt.Errorf("RunKey has %d bytes: give the %d that the plan was made with, or nil for a run that is not private", len(c.RunKey), runKeyLen)
	case c.Workers < 0:
		return fmt.Errorf("Workers = %d: give a number of goroutines, 1 for the calling one only, or 0 for one a core", c.Workers)
	case c.RequestTimeout < 0:
		return fmt.Errorf("RequestTimeout = %v: give a positive duration, or 0 for 5 s", c.RequestTimeout)
	case c.RetryMax < 0 || c.RetryMax > 0 && c.RetryMax < time.Millisecond:
		return fmt.Errorf("RetryMax = %v: give at least 1 ms, or 0 for 30 s", c.RetryMax)
	case c.CheckpointInterval < 0:
		return fmt.Errorf("CheckpointInterval = %v: give a positive duration, or 0 for 5 min", c.CheckpointInterval)
	case c.Passive != nil:
		return c.checkPassive()
	}
	return nil
}
