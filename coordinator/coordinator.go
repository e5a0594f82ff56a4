package coordinator

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/catchup"
	"github.com/zofl/zofl/coordinator/internal/engine"
	"github.com/zofl/zofl/coordinator/internal/leader"
	"github.com/zofl/zofl/coordinator/internal/logindex"
	"github.com/zofl/zofl/coordinator/internal/policies"
	"github.com/zofl/zofl/coordinator/internal/ratelimit"
	"github.com/zofl/zofl/coordinator/internal/signer"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

// A Coordinator runs one run. Any goroutine may call its methods.
//
// Invariants:
//  1. Only the goroutine of Run calls the core, and only under mu.
//  2. Handlers of subscriptions only fill queues, and never wait. The bus's goroutines run them.
//  3. Once lost is closed, the coordinator publishes nothing.
//  4. All goroutines end with Run: those of Run, catchUps, objects, snapshots and the keepalive.
type Coordinator struct {
	cfg       Config
	run       string
	shards    uint32
	linger    time.Duration
	began     time.Time
	lost      <-chan struct{} // closed when another coordinator may lead
	arrivals  *ratelimit.Queue[arrival]
	register  ratelimit.Register
	rejoins   *ratelimit.Buckets // only the goroutine of Run uses them
	refused   tally
	signer    *signer.Signer // nil: nothing is signed
	catchUps  *catchup.CatchUps
	objects   *catchup.Objects   // nil unless transport=dense
	vectors   runlog.Objects     // likewise
	snapshots *catchup.Snapshots // nil unless the log begins with a state
	called    chan struct{}      // holds a token while commands is not empty
	overflow  atomic.Uint64
	garbled   atomic.Uint64 // messages that were dropped before the queue
	pieces    atomic.Int64  // bytes of queued pieces of vectors

	seniority *leader.Seniority // nil where coordinators share the log

	mu       sync.Mutex // guards what follows
	core     *engine.Core
	commands []engine.Input
	subs     []bus.Subscription
	running  bool
}

// New returns a coordinator that begins the run of a plan, or continues the run that a log holds.
// Where coordinators share a log, New waits until no other coordinator leads, or until ctx ends.
// The coordinator sends nothing before Run.
//
// Errors match [ErrConfig], [runlog.ErrPlan] or [runlog.ErrCorrupt], or are a [*plan.Error]. If the
// log lost some records, the error is a [*runlog.LossError]; if the log lost all records, the error
// matches [runlog.ErrLeft]. Both of these errors match ErrCorrupt.
func New(ctx context.Context, cfg Config) (*Coordinator, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	epoch, err := lead(ctx, &cfg)
	if err != nil {
		return nil, fmt.Errorf("coordinator: log: %w", err)
	}
	lost := cfg.Log.Lost()
	if err := checkMemories(ctx, cfg.Log, cfg.AcceptLoss, cfg.Logger); err != nil {
		return nil, fmt.Errorf("coordinator: log: %w", err)
	}
	core, err := newCore(ctx, cfg, epoch)
	if err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	cfg.Logger = cfg.Logger.With("run", core.Plan.Run)
	if err := checkPayload(&cfg, &core.Plan); err != nil {
		return nil, fmt.Errorf("coordinator: %w", err)
	}
	warnUnbound(cfg.Logger, &core.Plan)
	c := &Coordinator{
		cfg:    cfg,
		run:    core.Plan.Run,
		shards: core.Plan.Shards,
		linger: cfg.Linger,
		began:  time.Now(),
		lost:   lost,
		called: make(chan struct{}, 1),
		core:   core,
	}
	c.share()
	if lost == nil {
		c.seniority = leader.New(cfg.Bus, cfg.Logger, c.run, epoch)
	}
	c.linger = cmp.Or(c.linger, time.Duration(core.Plan.Reannounce)*time.Millisecond*3/2)
	serving := catchup.Config{Bus: cfg.Bus, Logger: cfg.Logger, Patience: cfg.CatchUpPatience,
		Queue: cfg.Queue, Register: &c.register}
	if cfg.Key != nil {
		if c.signer, err = signer.New(c.run, cfg.Key); err != nil {
			return nil, fmt.Errorf("coordinator: %w: Key: %w", ErrConfig, err)
		}
		serving.Sign, serving.Vouch = c.signer.Answer, c.signer.Reference
	}
	c.catchUps = catchup.NewCatchUps(serving, cfg.Log, cfg.CatchUpCache, c.span)
	if base := runlog.BaseOf(cfg.Log); base != nil {
		c.catchUps.BeginWith(catchup.Start{First: base.First,
			LogStart: wire.LogStart{N: base.N, Hash: base.Hash}})
		c.snapshots = catchup.NewSnapshots(serving, base, cfg.Log.(runlog.Based).State())
	}
	if core.SendsVectors() {
		if c.vectors, err = runlog.ObjectsOf(cfg.Log); err != nil {
			return nil, fmt.Errorf("coordinator: %w", err)
		}
		c.objects = catchup.NewObjects(serving, c.vectors, cfg.ObjectCache, cfg.AppendTimeout,
			c.object)
	}
	return c, nil
}

// newCore reads the log and returns the engine that continues it.
func newCore(ctx context.Context, cfg Config, epoch uint64) (*engine.Core, error) {
	var h engine.History
	if cfg.Key != nil {
		h.Reserve(signed.Len)
	}
	if base := runlog.BaseOf(cfg.Log); base != nil {
		h.BeginWith(base)
	}
	if err := h.Load(ctx, cfg.Log); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return engine.New(engine.Config{
		Plan:         cfg.Plan,
		Epoch:        epoch,
		Witnesses:    cfg.Witnesses,
		BeginAnew:    cfg.BeginAnew,
		AcceptLoss:   cfg.AcceptLoss,
		UploadMemory: cfg.UploadMemory,
		Policies:     policies.Of,
		Handover:     func() ([]byte, error) { return runlog.HandoverOf(ctx, cfg.Log) },
		Records: func(last uint64, each func(record []byte)) error {
			return logindex.Records(context.WithoutCancel(ctx), cfg.Log, last, each)
		},
		Random: rand.Reader,
	}, &h)
}

// Run runs the rounds of the run. Run returns nil when the run has ended and Config.Linger has
// passed. If ctx ends first, Run returns the cause of ctx, or nil if the run has ended. A log that
// fails to store a record pauses the run but does not end Run.
//
// Run returns an error that matches [runlog.ErrDeposed] as soon as another coordinator may lead;
// this coordinator then publishes nothing more. Run returns [runlog.ErrCorrupt] if the log lost or
// changed records, and [runlog.ErrPlan] if the log holds another run. In these two cases Run first
// tells devices that the run is paused. [ErrSecond] says that another coordinator leads the run
// from its own log, and [bus.ErrPermission] that the broker refuses the announcements. All further
// errors come from a closed bus, or from the Recorder.
//
// No goroutine outlives Run. Run stops within about a second after ctx ends, because a pending
// append gets one more second. The caller can call Run again after Run returned; a new Coordinator
// on the same log continues the run, too.
func (c *Coordinator) Run(ctx context.Context) error {
	if !c.begin() {
		return fmt.Errorf("coordinator: %w", ErrRunning)
	}
	defer c.finish()
	if err := checkPayload(&c.cfg, &c.core.Plan); err != nil {
		return fmt.Errorf("coordinator: %w", err)
	}
	if err := c.alone(ctx); err != nil {
		return fmt.Errorf("coordinator: %w", err)
	}
	if err := c.subscribe(ctx); err != nil {
		return fmt.Errorf("coordinator: %w", err)
	}
	ctx, stepDown := context.WithCancelCause(ctx)
	defer stepDown(nil)
	defer c.serve(ctx, stepDown)()
	err := c.loop(ctx)
	if cause := context.Cause(ctx); err == nil && (errors.Is(cause, ErrSecond) ||
		errors.Is(cause, bus.ErrPermission)) {
		err = cause
	}
	if err != nil {
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
