package coordinator

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// A Coordinator runs one run.
//
// Invariants:
//  1. Only the goroutine of Run steps the core, and only under mu.
//  2. Subscriptions do nothing but fill queues, and never wait.
type Coordinator struct {
	cfg      Config
	run      string
	shards   uint32
	linger   time.Duration
	began    time.Time
	arrivals chan arrival
	requests chan bus.Message // catch-up
	called   chan struct{}    // has a token when commands is not empty
	overflow atomic.Uint64
	served   atomic.Uint64 // catch-ups
	garbled  atomic.Uint64 // catch-up requests that are none, and frames too long to queue

	mu       sync.Mutex // guards what follows
	core     *core
	commands []input
	subs     []bus.Subscription
	running  bool
}

// arrival is a message that waits for the core.
type arrival struct {
	kind inputKind
	msg  bus.Message
}

// New returns a coordinator that begins the run of a plan, or continues the
// one of a log. Nothing is sent or stored before Run.
//
// Errors match [ErrConfig], [ErrPlan], [ErrCorrupt], or are a
// [*wire.PlanError].
func New(cfg Config) (*Coordinator, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	core, err := newCore(cfg.Plan, cfg.Log)
	if err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	c := &Coordinator{
		cfg:      cfg,
		run:      core.plan.Run,
		shards:   core.plan.Shards,
		linger:   cfg.Linger,
		began:    time.Now(),
		arrivals: make(chan arrival, cfg.Queue),
		requests: make(chan bus.Message, min(cfg.Queue, 1024)),
		called:   make(chan struct{}, 1),
		core:     core,
	}
	if c.linger == 0 {
		c.linger = time.Duration(core.plan.Reannounce) * time.Millisecond * 3 / 2
	}
	c.cfg.Logger = cfg.Logger.With("run", c.run)
	return c, nil
}

// Run runs rounds until the run ended and Config.Linger has passed, and then
// returns nil, or until ctx ends, and then returns its cause (nil if the run
// has ended). Other errors are those of the bus when it is closed for good, and
// whatever the Recorder returns. A log that takes no record pauses the run.
//
// No goroutine outlives Run. It can be called again after it returned; a new
// Coordinator with the same log continues as well.
func (c *Coordinator) Run(ctx context.Context) error {
	if !c.begin() {
		return fmt.Errorf("coordinator: %w", ErrRunning)
	}
	defer c.finish()
	if err := c.subscribe(); err != nil {
		return fmt.Errorf("coordinator: %w", err)
	}
	quit := make(chan struct{})
	var serving sync.WaitGroup
	serving.Go(func() { c.serveCatchUps(quit) })
	defer serving.Wait()
	defer close(quit)
	if err := c.loop(ctx); err != nil {
		return fmt.Errorf("coordinator: %w", err)
	}
	return nil
}

func (c *Coordinator) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		return false
	}
	c.running, c.subs = true, nil
	return true
}

func (c *Coordinator) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.subs {
		if err := s.Unsubscribe(); err != nil {
			c.cfg.Logger.Warn("unsubscribe", "err", err)
		}
	}
	c.running = false
}

// subscribe fills the queues from the bus. What is longer than a frame waits in
// no queue, so that their memory is bounded.
func (c *Coordinator) subscribe() error {
	queue := func(kind inputKind) func(bus.Message) {
		return func(m bus.Message) {
			if len(m.Data) > wire.MaxFrame {
				c.garbled.Add(1)
				return
			}
			select {
			case c.arrivals <- arrival{kind, m}:
			default:
				c.overflow.Add(1)
			}
		}
	}
	serve := func(m bus.Message) {
		if len(m.Data) > wire.MaxFrame {
			c.garbled.Add(1)
			return
		}
		select {
		case c.requests <- m:
		default:
			c.overflow.Add(1)
		}
	}
	for _, s := range []struct {
		subject string
		handle  func(bus.Message)
	}{
		{wire.AllReplies(c.run), queue(inReply)},
		{wire.AllJoins(c.run), queue(inJoin)},
		{wire.AllCatchUps(c.run), serve},
	} {
		sub, err := c.cfg.Bus.Subscribe(s.subject, s.handle)
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.subs = append(c.subs, sub)
		c.mu.Unlock()
	}
	return nil
}

// Pause opens no more rounds until Resume; devices are told why. What the open
// round has collected is kept. It returns before the pause begins.
func (c *Coordinator) Pause(reason string) { c.command(input{kind: inPause, text: reason}) }

// Resume goes on after a pause, whatever caused it: with another attempt at
// the same record.
func (c *Coordinator) Resume() { c.command(input{kind: inResume}) }

// End ends the run for good as soon as what the log was given is stored; text
// says why.
func (c *Coordinator) End(text string) { c.command(input{kind: inEnd, text: text}) }

func (c *Coordinator) command(in input) {
	c.mu.Lock()
	c.commands = append(c.commands, in)
	c.mu.Unlock()
	select {
	case c.called <- struct{}{}:
	default:
	}
}

// Status returns what the coordinator is doing now.
func (c *Coordinator) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.core.status()
	s.Counters.CatchUps = c.served.Load()
	s.Counters.Malformed += c.garbled.Load()
	s.Counters.Overflow += c.overflow.Load()
	for _, sub := range c.subs {
		s.Counters.Overflow += uint64(sub.Dropped())
	}
	return s
}
