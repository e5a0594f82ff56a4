package coordinator

import (
	"cmp"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/engine"
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
)

// Errors of New, Run and an operator's calls.
var (
	// ErrConfig: a field of Config is invalid; the text names it. It is [runlog.ErrConfig].
	ErrConfig = runlog.ErrConfig
	// ErrRunning: Run was called while it is running.
	ErrRunning = errors.New("already running")
	// ErrEnded: the run has ended, or is about to. Nothing can follow its end. To go on from there,
	// begin another run with its parameters.
	ErrEnded = errEnded() // "the run has ended"
)

func errEnded() error { return engine.ErrEnded } // documentation shows no internal name

// A Config says what a coordinator needs.
type Config struct {
	// Conn is the caller's connection; the coordinator never dials or closes it. Set
	// nats.MaxReconnects(-1): otherwise a broker that is away for long ends the run. The
	// coordinator checks it twice in each Reannounce of the plan, at least every 2.5 s. If the
	// broker does not answer, the connection is dead but not closed, and the coordinator calls
	// [nats.Conn.ForceReconnect].
	Conn *nats.Conn
	// Bus replaces Conn, for tests and simulations. Exactly one of the two is needed.
	Bus bus.Bus
	// Plan is the run's plan. Nil continues the run in Log. If both are given, Plan must equal
	// record 1.
	Plan *plan.Plan
	// Log stores the run: a filelog.Log, a jetlog.Log, or &runlog.Memory{} for a run that need not
	// outlive the process. Only coordinators may append to it. The caller closes it.
	Log runlog.Log
	// Key signs announcements, and the answers to devices that ask for it: those that pin its public
	// key in client.Config.Coordinator take nothing unsigned. Give every coordinator of the run the
	// same key, the standby too. Nil: nothing is signed, and devices with a pinned key wait. See
	// docs/security.md.
	Key ed25519.PrivateKey
	// Recorder receives events. May be nil.
	Recorder report.Recorder
	// Logger receives what an operator wants to know. May be nil.
	Logger *slog.Logger
	// Linger is how long Run goes on announcing the end, so that devices learn of it and send their
	// last evaluations. 0 is 1.5 times the plan's Reannounce: the end is announced twice. Negative
	// is until ctx ends. With transport=dense, Run lingers up to the plan's Deadline longer while
	// devices fetch vectors.
	Linger time.Duration
	// Witnesses are ids of passive replicas whose digests are the reference for all others; an
	// earlier one overrules a later one. They need no slot: a witness without a slot can report
	// digests and nothing else. Without witnesses, a digest is the reference if at least three
	// devices report it, and more than any other.
	Witnesses []string
	// BeginAnew begins the run again though devices have records of it that the log lacks. Without
	// it the run pauses when such a device joins. Devices then forget what they had.
	BeginAnew bool
	// AcceptLoss is how many records at the log's end may have been lost: the run goes on without
	// them though devices have them. If the log itself knows of a loss, it must be exactly as many
	// as its [*runlog.LossError] says.
	AcceptLoss uint64
	// Queue bounds two queues: replies, joins and pieces of vectors, of at most wire.MaxFrame bytes
	// each and 1 MiB of one sender; and requests for records and vectors, of at most 1 KiB each.
	// Members and strangers have as many places each, and take turns sender by sender. Messages
	// beyond it are dropped and counted: those of the sender of whom most wait. 0 is 16384.
	Queue int
	// Allow says whether an id that has no slot may join. A device that may not is told so, and
	// ends. Nil lets everybody join whom the broker lets in. Members stay members: retire them. Any
	// goroutine may call it, and it should be quick.
	Allow func(id string) bool
	// JoinRate is how many ids without a slot may join a listed roster a second, after a first 8192
	// and two for each of the plan's Members. Further ones wait, for CatchUpPatience at most; then
	// they are dropped, and ask again. An open roster costs nothing to join, and has no limit. 0 is
	// 100, negative is no limit.
	JoinRate float64
	// RequestRate is how many requests for records, vectors or snapshots of one device are answered
	// a second, for two seconds twice as many. Further ones wait, for CatchUpPatience at most. 0 is
	// 1000, negative is no limit.
	RequestRate float64
	// AppendTimeout bounds each attempt to store a record, members or a vector, and to read a
	// vector. So a log that does not answer pauses the run instead of silencing it. Storing a
	// vector may take a second longer for each MiB. A log that ignores its context is not bounded.
	// 0 is 10 s.
	AppendTimeout time.Duration
	// CatchUpCache bounds the bytes of records kept in memory for devices that catch up. 0 is 16
	// MiB, negative is one segment of 64 KiB.
	CatchUpCache int
	// CatchUpPatience is how long a request for records, or for a record's vector, may wait for its
	// turn. Keep it below the time that devices wait for the answer, 5 s by default: nobody reads a
	// later one. 0 is 2.5 s.
	CatchUpPatience time.Duration
	// UploadMemory bounds the bytes of devices' vectors that have arrived in part, with
	// transport=dense; as many more may wait to be handled. A vector reserves its memory when it
	// begins. Devices that find none are told to ask again. There is always memory for one vector.
	// 0 is 64 MiB.
	UploadMemory int
	// ObjectCache bounds the bytes of records' vectors kept in memory for devices that ask for
	// them. 0 is 64 MiB, negative is one vector.
	ObjectCache int
}

func (c Config) withDefaults() (Config, error) {
	if c.Bus == nil && c.Conn != nil {
		c.Bus = bus.NATS(c.Conn)
	}
	switch {
	case c.Bus == nil:
		return c, fmt.Errorf("%w: Conn is nil: connect with nats.Connect first", ErrConfig)
	case c.Log == nil:
		return c, fmt.Errorf("%w: Log is nil: open one with filelog.Open, or give &runlog.Memory{}",
			ErrConfig)
	case c.Queue < 0:
		return c, fmt.Errorf("%w: Queue = %d: give a positive number, or 0 for the default",
			ErrConfig, c.Queue)
	case c.AppendTimeout < 0:
		return c, fmt.Errorf("%w: AppendTimeout = %v: give a positive duration, or 0 for 10 s",
			ErrConfig, c.AppendTimeout)
	case c.CatchUpPatience < 0:
		return c, fmt.Errorf("%w: CatchUpPatience = %v: give a positive duration, or 0 for 2.5 s",
			ErrConfig, c.CatchUpPatience)
	}
	if c.UploadMemory < 0 {
		return c, fmt.Errorf("%w: UploadMemory = %d: give a positive number of bytes, or 0 for "+
			"64 MiB", ErrConfig, c.UploadMemory)
	}
	for _, id := range c.Witnesses {
		if err := plan.CheckName(id); err != nil {
			return c, fmt.Errorf("%w: Witnesses: %w", ErrConfig, err)
		}
	}
	if c.Recorder == nil {
		c.Recorder = report.RecorderFunc(func(report.Event) error { return nil })
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Queue = cmp.Or(c.Queue, 16384)
	c.JoinRate = cmp.Or(c.JoinRate, 100)
	c.RequestRate = cmp.Or(c.RequestRate, 1000)
	c.AppendTimeout = cmp.Or(c.AppendTimeout, 10*time.Second)
	c.CatchUpCache = cmp.Or(c.CatchUpCache, 16<<20)
	c.CatchUpPatience = cmp.Or(c.CatchUpPatience, 2500*time.Millisecond)
	c.UploadMemory = cmp.Or(c.UploadMemory, gather.UploadMemory)
	c.ObjectCache = cmp.Or(c.ObjectCache, 64<<20)
	return c, nil
}
