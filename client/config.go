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
	"github.com/zofl/zofl/client/internal/memlimit"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/deviceinfo"
	"github.com/zofl/zofl/wire/signed"
)

// ErrConfig says that a field of Config is unusable. The text names the field and the remedy.
var ErrConfig = errors.New("bad config")

// runKeyLen is the length of a run key in bytes.
const runKeyLen = 32

// Config holds what a client needs.
type Config struct {
	// Conn is the app's connection; the client never opens or closes it. On a bad network, connect
	// with [ConnectOptions]. If your connection has an inbox prefix of its own, it must be the prefix
	// that these options set for ID: the coordinator sends its answers there.
	//
	// The client checks the connection if it hears no announcement for about two of the plan's
	// Reannounce, or gets no answer to a request. If the check fails too, the client calls
	// [nats.Conn.ForceReconnect]. The app's handlers then see a disconnect and a reconnect, and other
	// users of Conn lose the messages that arrive meanwhile. The client forces a reconnect at most
	// once in three Reannounce, and less often if reconnects do not help.
	Conn *nats.Conn
	// Bus replaces Conn, for tests and simulations. Set either Conn or Bus.
	Bus bus.Bus
	// Run is the name of the run.
	Run string
	// ID names this device for ever, and no other device: letters, digits, '-' and '_', at most 32.
	// Every reply carries the ID, so a short ID saves bytes.
	ID string
	// Objective is the app's loss, for instance [objective.Func]. Objective may also implement
	// [objective.Evaluator], [objective.Sampler] and [objective.Policy]. If the app can differentiate,
	// Objective may implement [objective.Differentiable] or [objective.Directional]. Leave Objective
	// nil with Passive.
	Objective objective.Objective
	// Columns describes this device's data, for a plan with columns: [stats.Of] computes it. Before
	// round 1 the devices find the statistics of all data from it, and then [Client.Scaler] scales
	// rows. Devices that join later need no Columns.
	Columns []plan.Column
	// Passive makes a client that follows the run without taking part. Nil: the client takes part.
	Passive *Passive
	// Initial are the first parameters, for a plan with initial=given; nil for other plans. The client
	// copies Initial when the plan arrives, and again whenever the client starts over from record 1.
	// The client never changes Initial.
	Initial []float32
	// ReadInitial replaces Initial, so that a large model is in memory once and not twice. ReadInitial
	// sets all elements of x, which has an element for each of the plan's parameters: it reads them
	// from a file, for instance. The client calls ReadInitial when it would copy Initial, and once
	// more to check a checkpoint. If ReadInitial returns an error, Run ends with
	// [replica.ErrInitial].
	ReadInitial func(x []float32) error
	// RunKey is the secret of a private run: 32 random bytes, the same for every device and passive
	// replica. The app distributes the key; the client never sends it. `zofl plan --secret` makes the
	// plan with the same key. Only the holders of the key can compute the model from the network
	// traffic. Run ends with [plan.ErrRunKey] if the key is wrong or missing, or if the run is not
	// private. Nil: the run is not private.
	RunKey []byte
	// Coordinator is the coordinator's public key, "ed25519:" and 43 characters, as `zofl serve` and
	// `zofl status` print it. The client then ignores every announcement and answer that this key has
	// not signed. While the coordinator changes its key, give the old and the new key with a comma
	// between them. If Coordinator is "", the client believes anyone who may publish on the run's
	// subjects.
	Coordinator string
	// Workers is how many goroutines may generate directions and replay records at once; 0:
	// GOMAXPROCS. Fewer goroutines leave cores to the app but take longer. The bits of the model do
	// not depend on Workers. For a model of a few ten thousand parameters, the client uses only one
	// goroutine. Each goroutine takes about 16 KiB.
	Workers int
	// MemoryLimit is how many bytes the client may allocate for the plan: the state, the vectors of a
	// round, and a surrogate's data. If a plan or a change needs more, the client refuses before it
	// allocates anything, and Run ends with [ErrPlan]. The limit does not count the app's own memory,
	// nor the second copy of the state that exists while a snapshot loads. 0 is 512 MiB and 48 vectors
	// of Dim float32: enough for all methods, with a surrogate of 1,970 parameters. For a passive
	// replica 0 is 1 GiB.
	MemoryLimit uint64
	// NotStrict lets a device go on whose loss fails whenever it is called. By default Run ends with
	// [ErrLoss] if the loss fails in the first round that asks this device, and then again, whether
	// it returns an error or panics. A loss that has worked once may fail as often as it likes: also
	// if it worked in an earlier process that used the same Store. NaN and infinity are no failures.
	NotStrict bool
	// MaxBatch is the largest [objective.Batch].Size that the client asks the objective for, whatever
	// the plan says. 0: the number of samples of an [objective.Sampler], or 65,536 if the objective
	// gives no number. The client never asks a Sampler for more samples than it has.
	MaxBatch int
	// Accept decides whether this device takes part in a plan. To refuse a plan, Accept returns an
	// error with the reason. A panic is a refusal. Nil: the device accepts every plan that fits
	// MemoryLimit.
	//
	// The client first calls Accept with the run's plan, before the client allocates anything or asks
	// for a slot. If Accept then refuses, Run ends with [ErrPlan]. The client calls Accept again,
	// once, whenever a change altered the plan, before the device works under that plan. While Accept
	// refuses the changed plan, the device follows the log and declines rounds, more and more rarely.
	// The device reports [Progress].Declined and an Err that is [ErrPlan]. After the next change, or
	// in the next Run, the client asks Accept again. A passive replica does not decline: its Run ends.
	// The plan is a copy, but its lists belong to the client: do not change them.
	Accept func(*plan.Plan) error
	// About returns what the coordinator's operator sees of this device: its program, platform,
	// battery and network. Nil: the device tells nothing. The client calls About when the device
	// joins, and at each announcement. The client reports changes to the operator at most once a
	// minute, and a battery's charge when it differs by 5 percent. The answer of About never changes
	// what the device computes. About must return at once, and may run beside another callback.
	About func() deviceinfo.Device
	// Recorder receives progress; nil means no recorder.
	Recorder Recorder
	// Logger receives messages for an operator; nil means no logger.
	Logger *slog.Logger
	// RequestTimeout bounds each request to the coordinator; 0 is 5 s.
	RequestTimeout time.Duration
	// RetryMax bounds the pause between attempts to reach a coordinator; 0 is 30 s. The first pause is
	// RetryMax/32, and each pause is twice the one before.
	RetryMax time.Duration
	// Store keeps the state and the last reply for the next process; nil: memory only. The client
	// never closes Store. If Store fails or holds unusable items, the device replays the log at worst;
	// see [ErrStore].
	Store Store
	// CheckpointEvery is the number of records from one checkpoint to the next; 0 is 64. During a
	// catch-up the client ignores CheckpointEvery, and only CheckpointInterval applies.
	CheckpointEvery uint64
	// CheckpointInterval is the longest time from one checkpoint to the next; 0 is 5 min. Run writes
	// another checkpoint when it ends.
	CheckpointInterval time.Duration
	// Horizon is the largest number of records that a device replays if it could download a snapshot
	// instead. 0 means as many as cost less than the snapshot, in bytes and measured seconds. In a run
	// without digests nothing proves a snapshot. After a snapshot in such a run, the device still
	// replays the log when the run ends. With transport=dense records are short, and the device
	// replays them whatever Horizon is.
	Horizon uint64
}

// withDefaults returns a config with every field set, and the number of parameters.
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
			return c, 0, fmt.Errorf("%w: Objective.Dim() = %d: return the number of parameters, "+
				"at least 1", ErrConfig, dim)
		}
	}
	if c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if c.MemoryLimit == 0 {
		c.MemoryLimit = memlimit.Default(dim)
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

// keys returns the coordinator's public keys; nil: none is set.
func (c *Config) keys() (keys signed.Keys, err error) {
	if c.Coordinator != "" {
		keys, err = signed.ParseKeys(c.Coordinator)
	}
	return keys, err
}

// evaluates says whether an objective has a loss in any of the three forms.
func evaluates(o objective.Objective) bool {
	switch o.(type) {
	case objective.Flat, objective.Streaming, objective.Batched:
		return true
	}
	return false
}

func (c *Config) check() error {
	_, badKeys := c.keys()
	switch {
	case c.Bus == nil:
		return errors.New("Conn is nil: connect with nats.Connect first")
	case plan.CheckName(c.Run) != nil:
		return fmt.Errorf("Run: give the run's name, as in the coordinator's plan: %w",
			plan.CheckName(c.Run))
	case plan.CheckName(c.ID) != nil:
		return fmt.Errorf("ID: give each device a name of its own: %w", plan.CheckName(c.ID))
	case c.Objective == nil && c.Passive == nil:
		return errors.New("Objective is nil: give the loss, for instance " +
			"objective.Func(dim, loss), or set Passive to follow the run without one")
	case c.Objective != nil && !evaluates(c.Objective):
		return fmt.Errorf("Objective is a %T without a loss: implement objective.Flat (Loss), "+
			"objective.Streaming (LossAt) or objective.Batched (LossesAt)", c.Objective)
	case len(c.RunKey) != 0 && len(c.RunKey) != runKeyLen:
		return fmt.Errorf("RunKey has %d bytes: give the %d that the plan was made with, "+
			"or nil for a run that is not private", len(c.RunKey), runKeyLen)
	case c.Conn != nil && !subjects.AnswersTo(c.ID, c.Conn.NewInbox()):
		return fmt.Errorf("Conn has the inbox prefix %q, and the coordinator sends device %q "+
			"nothing there: connect with client.ConnectOptions(%[2]q)",
			c.Conn.Opts.InboxPrefix, c.ID)
	case badKeys != nil:
		return fmt.Errorf("Coordinator: %w", badKeys)
	case c.Initial != nil && c.ReadInitial != nil:
		return errors.New("Initial and ReadInitial are both set: set one of them")
	case len(c.Columns) > plan.MaxColumns:
		return fmt.Errorf("Columns has %d columns: give the statistics of at most %d",
			len(c.Columns), plan.MaxColumns)
	case c.Workers < 0:
		return fmt.Errorf("Workers = %d: give a positive number of goroutines, "+
			"or 0 for one a core", c.Workers)
	case c.MaxBatch < 0:
		return fmt.Errorf("MaxBatch = %d: give a positive number of samples, or 0", c.MaxBatch)
	case c.RequestTimeout < 0:
		return fmt.Errorf("RequestTimeout = %v: give a positive duration, or 0 for 5 s",
			c.RequestTimeout)
	case c.RetryMax < 0 || c.RetryMax > 0 && c.RetryMax < time.Millisecond:
		return fmt.Errorf("RetryMax = %v: give at least 1 ms, or 0 for 30 s", c.RetryMax)
	case c.CheckpointInterval < 0:
		return fmt.Errorf("CheckpointInterval = %v: give a positive duration, or 0 for 5 min",
			c.CheckpointInterval)
	case c.Passive != nil:
		return c.checkPassive()
	}
	return nil
}
