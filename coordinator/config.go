package coordinator

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// Errors of New and Run.
var (
	// ErrConfig: a field of Config cannot be used; the text says which. It is
	// [runlog.ErrConfig].
	ErrConfig = runlog.ErrConfig
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
	// survive. Nobody but coordinators may append to it. It stays the caller's
	// to close.
	Log runlog.Log
	// Recorder receives events; nil: nobody does.
	Recorder Recorder
	// Logger receives what an operator would want to know; nil: nobody does.
	Logger *slog.Logger
	// Linger is how long Run goes on to announce the end, so that devices
	// learn of it and send their last evaluations. 0 is 1.5 times the plan's
	// Reannounce: the end is said twice. Negative is until ctx ends. In a dense
	// run it takes up to the plan's Deadline longer, while devices fetch vectors.
	Linger time.Duration
	// Witnesses are ids of passive replicas whose digests are the reference for
	// everybody else's, the first before the second. They need no slot: without
	// one, nothing but their digests is taken from them. None: a digest that
	// three devices report, and more than any other one, is the reference.
	Witnesses []string
	// Queue bounds the replies, joins and pieces of vectors that wait to be handled,
	// of at most wire.MaxFrame bytes each, and the requests for records and for
	// vectors, of at most 1 KiB; what comes beyond is dropped and counted. 0 is 16384.
	Queue int
	// AppendTimeout bounds each attempt to store a record, members or a vector, so
	// that a log that does not answer pauses the run instead of silencing it, and
	// to read a vector. To store one has a second more for each MiB. A log that
	// heeds no context takes its time. 0 is 10 s.
	AppendTimeout time.Duration
	// CatchUpCache bounds the bytes of the log that are kept in memory for
	// devices that catch up. 0 is 16 MiB, negative one segment of 64 KiB.
	CatchUpCache int
	// CatchUpPatience is how long a request for records, or for a record's vector,
	// may wait for its turn. It
	// should be less than what devices wait for the answer, 5 s unless their
	// app says otherwise: nobody reads a later one. 0 is 2.5 s.
	CatchUpPatience time.Duration
	// UploadMemory bounds the bytes of devices' vectors that have arrived in part,
	// in runs with wire.DenseVectors; as many more may wait to be handled. A vector
	// has its place as soon as it begins; devices that find none are told to ask
	// again. There is always place for one. 0 is 64 MiB.
	UploadMemory int
	// ObjectCache bounds the bytes of records' vectors that are kept in memory for
	// devices that ask for them. 0 is 64 MiB, negative one vector.
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
		return c, fmt.Errorf("%w: Log is nil: open one with filelog.Open, or give &runlog.Memory{}", ErrConfig)
	case c.Queue < 0:
		return c, fmt.Errorf("%w: Queue = %d: give a positive number, or 0 for the default", ErrConfig, c.Queue)
	case c.AppendTimeout < 0:
		return c, fmt.Errorf("%w: AppendTimeout = %v: give a positive duration, or 0 for 10 s", ErrConfig, c.AppendTimeout)
	case c.CatchUpPatience < 0:
		return c, fmt.Errorf("%w: CatchUpPatience = %v: give a positive duration, or 0 for 2.5 s", ErrConfig, c.CatchUpPatience)
	}
	if c.UploadMemory < 0 {
		return c, fmt.Errorf("%w: UploadMemory = %d: give a positive number of bytes, or 0 for 64 MiB", ErrConfig, c.UploadMemory)
	}
	for _, id := range c.Witnesses {
		if err := wire.CheckName(id); err != nil {
			return c, fmt.Errorf("%w: Witnesses: %w", ErrConfig, err)
		}
	}
	if c.Recorder == nil {
		c.Recorder = RecorderFunc(func(Event) error { return nil })
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Queue = cmp.Or(c.Queue, 16384)
	c.AppendTimeout = cmp.Or(c.AppendTimeout, 10*time.Second)
	c.CatchUpCache = cmp.Or(c.CatchUpCache, 16<<20)
	c.CatchUpPatience = cmp.Or(c.CatchUpPatience, 2500*time.Millisecond)
	c.UploadMemory = cmp.Or(c.UploadMemory, gather.UploadMemory)
	c.ObjectCache = cmp.Or(c.ObjectCache, 64<<20)
	return c, nil
}
