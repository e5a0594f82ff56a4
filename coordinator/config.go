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
	"github.com/zofl/zofl/coordinator/internal/uploads"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
)

// Errors of New, Run and an operator's calls.
var (
	// ErrConfig: a field of Config is invalid; the error's text names the field. ErrConfig is
	// [runlog.ErrConfig].
	ErrConfig = runlog.ErrConfig
	// ErrRunning: the caller called Run while another call of Run still runs.
	ErrRunning = errors.New("already running")
	// ErrEnded: the run has ended, or is about to end. No record can follow the end of a run. To
	// continue from the last parameters, begin another run with them.
	ErrEnded = errEnded() // "the run has ended"
)

func errEnded() error { return engine.ErrEnded } // documentation shows no internal name

// A Config holds what a coordinator needs.
type Config struct {
	// Conn is the caller's connection; the coordinator never opens or closes Conn. Set
	// nats.MaxReconnects(-1) on the connection: otherwise a long absence of the broker ends the run.
	// The coordinator checks the connection twice in each Reannounce of the plan, at least every 2.5
	// s. If the broker does not answer the check, the connection is dead although nobody closed the
	// connection. The coordinator then calls [nats.Conn.ForceReconnect].
	Conn *nats.Conn
	// Bus replaces Conn, for tests and simulations. Set either Conn or Bus.
	Bus bus.Bus
	// Plan is the run's plan. A nil Plan continues the run that Log holds. If Log already holds a run,
	// Plan must equal record 1 of Log.
	Plan *plan.Plan
	// Log stores the run: a filelog.Log, a jetlog.Log, or &runlog.Memory{} for a run that need not
	// survive the process. Only coordinators may append to Log. The caller of New closes Log.
	Log runlog.Log
	// Key signs announcements, and answers to devices that ask for a signature. Devices that have
	// Key's public key in client.Config.Coordinator accept no unsigned message. Give every coordinator
	// of the run the same Key, also a coordinator on standby. If Key is nil, the coordinator signs
	// nothing, and devices with a public key wait. See docs/security.md.
	Key ed25519.PrivateKey
	// Recorder receives events. May be nil.
	Recorder report.Recorder
	// Logger receives messages for an operator. May be nil.
	Logger *slog.Logger
	// Linger is how long Run keeps announcing the end of the run, so that devices learn of the end and
	// send their last evaluations. 0 is 1.5 times the plan's Reannounce, enough for two announcements.
	// A negative value means until ctx ends. With transport=dense, Run lingers up to the plan's
	// Deadline longer while devices fetch vectors.
	Linger time.Duration
	// Witnesses are ids of passive replicas. The digests of witnesses are the reference for all other
	// devices. An earlier witness in the list overrules a later witness. A witness needs no slot: a
	// witness without a slot can report digests, but nothing else. Without witnesses, a digest is the
	// reference if at least three devices report it, and more than report any other digest.
	Witnesses []string
	// BeginAnew restarts the run although devices have records that the log lacks. Without BeginAnew
	// the run pauses when a device with such records joins. With BeginAnew, those devices drop their
	// state.
	BeginAnew bool
	// AcceptLoss is how many records at the log's end may be lost: the run continues without those
	// records although devices have them. If the log itself detects a loss, AcceptLoss must equal the
	// number in the log's [*runlog.LossError].
	AcceptLoss uint64
	// Queue is the length of each of two queues. One queue holds replies, joins and pieces of vectors:
	// at most wire.MaxFrame bytes each, and 1 MiB of one sender. The other queue holds requests for
	// records and vectors, of at most 1 KiB each. Members and non-members have equally many places in
	// a queue. The coordinator takes messages from members and non-members in turn, and from the
	// senders in each group in turn. If a queue is full, the coordinator drops a message of the sender
	// with the most messages in that queue, and counts the message as dropped. 0 is 16384.
	Queue int
	// Allow decides whether an id without a slot may join. If Allow refuses an id, the coordinator
	// tells the device so, and the device ends. If Allow is nil, every device that the broker admits
	// may join. Allow does not remove members: use Retire. Any goroutine may call Allow, and Allow
	// should be quick.
	Allow func(id string) bool
	// Authenticated says that the broker lets each device send under its own id only. The coordinator
	// then takes all messages with an id for those of one sender, also before the device has joined.
	// Otherwise it goes by the inboxes that strangers name, because one of them can make up many ids.
	Authenticated bool
	// JoinRate is how many ids without a slot may join a listed roster each second. At the start, 8192
	// ids may join at once, and two more for each of the plan's Members. Further joins wait at most
	// for CatchUpPatience; then the coordinator drops them, and the devices ask again. An open roster
	// has no limit, because a join costs nothing there. 0 is 100, negative is no limit.
	JoinRate float64
	// AppendTimeout bounds each attempt to store a record, members or a vector, and to read a vector.
	// So a log that hangs pauses the run, and the coordinator still announces. Storing a vector may
	// take one second more for each MiB. AppendTimeout has an effect only on a log that obeys its
	// context. 0 is 10 s.
	AppendTimeout time.Duration
	// CatchUpCache bounds the bytes of records kept in memory for devices that catch up. 0 is 16
	// MiB, negative is one segment of 64 KiB.
	CatchUpCache int
	// CatchUpPatience is how long a request for records, or for a record's vector, may wait for its
	// turn. Keep CatchUpPatience below the time for which devices wait, 5 s by default: a device that
	// has stopped waiting misses the answer. 0 is 2.5 s.
	CatchUpPatience time.Duration
	// UploadMemory bounds the bytes of devices' vectors that have arrived in part, with
	// transport=dense. In addition, the same number of bytes may wait in the queue. The coordinator
	// reserves memory for a vector when the vector's first piece arrives. The coordinator tells
	// devices for which no memory is left to ask again. There is always memory for one vector. 0 is 64
	// MiB.
	UploadMemory int
	// ObjectCache bounds the bytes of records' vectors kept in memory for devices that fetch them. 0
	// is 64 MiB, negative is one vector.
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
	c.AppendTimeout = cmp.Or(c.AppendTimeout, 10*time.Second)
	c.CatchUpCache = cmp.Or(c.CatchUpCache, 16<<20)
	c.CatchUpPatience = cmp.Or(c.CatchUpPatience, 2500*time.Millisecond)
	c.UploadMemory = cmp.Or(c.UploadMemory, uploads.Memory)
	c.ObjectCache = cmp.Or(c.ObjectCache, 64<<20)
	return c, nil
}
