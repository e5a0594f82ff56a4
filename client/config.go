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
	"github.com/zofl/zofl/client/internal/consent"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/deviceinfo"
	"github.com/zofl/zofl/wire/signed"
)

// ErrConfig: a field of Config is unusable; the text says which, and what to do about it.
var ErrConfig = errors.New("bad config")

// runKeyLen is the length of a run key in bytes.
const runKeyLen = 32

// Config is what a client needs.
type Config struct {
	// Conn is the app's connection; the client never dials or closes it. On a bad network,
	// connect with [ConnectOptions]. A connection with an inbox prefix of its own needs that of
	// ID, which these options set: the coordinator answers nowhere else.
	//
	// If nothing is announced for about two of the plan's Reannounce, or a request is not
	// answered, the client checks the connection. Only if that check has no answer either, it
	// calls [nats.Conn.ForceReconnect]: the app's handlers see a disconnect and a reconnect, and
	// its other users of Conn lose what was on the way. Such resets are at least three
	// Reannounce apart, and ever more if they do not help.
	Conn *nats.Conn
	// Bus replaces Conn, for tests and simulations. Set one of the two.
	Bus bus.Bus
	// Run is the name of the run.
	Run string
	// ID names this device among the others, for ever: letters, digits, '-' and '_', at
	// most 32. Every reply carries it, so a short one saves bytes.
	ID string
	// Objective is the app's loss, for instance [objective.Func]. It may also implement
	// [objective.Evaluator], [objective.Sampler] and [objective.Policy], and for an app that
	// can differentiate [objective.Differentiable] or [objective.Directional]. Leave it nil
	// with Passive.
	Objective objective.Objective
	// Passive makes a client that follows the run without taking part; nil: it takes part.
	Passive *Passive
	// Initial are the first parameters, for a plan with initial=given; nil for other plans.
	// The client copies them when the plan arrives, and again whenever it starts over from
	// record 1. It never changes them.
	Initial []float32
	// RunKey is the secret of a private run: 32 random bytes, the same for every device and
	// passive replica. The app distributes it; the client never sends it. The plan was made
	// with it. Only its holders can compute the model from the network traffic. Run
	// ends with [plan.ErrRunKey] if the key is wrong or missing, or if the plan has a public
	// key. Nil: the run is not private.
	RunKey []byte
	// Coordinator is the coordinator's public key, "ed25519:" and 43 characters, as `zofl serve`
	// and `zofl status` print it. The client then takes nothing that this key has not signed:
	// others can neither announce nor answer. While the coordinator changes its key, give both
	// with a comma between them. "": whoever may publish on the run's subjects is believed.
	Coordinator string
	// Workers is how many goroutines may generate directions and replay records at once;
	// 0: GOMAXPROCS. Fewer leave cores to the app and take longer; the bits are the same
	// for any number. A model of a few ten thousand parameters never uses more than one.
	// Each takes about 16 KiB.
	Workers int
	// MemoryLimit is how many bytes the client may allocate for the run's plan: the state, the
	// vectors of its work, and a surrogate's data. A plan or a change that needs more is refused
	// before anything is allocated, and Run ends with [ErrPlan]. The app's own memory is not
	// in it, and while the client loads a snapshot it has the state twice. 0 is 512 MiB and
	// 48 vectors of Dim float32: ample for all methods, with a surrogate of 1,970 parameters. A
	// passive replica has 1 GiB then.
	MemoryLimit uint64
	// MaxBatch is the largest [objective.Batch].Size that the objective is asked for, whatever the
	// plan says. 0: as many as an [objective.Sampler] has samples, and 65,536 where the objective
	// does not tell. An objective that tells is never asked for more than it has.
	MaxBatch int
	// Accept says whether this device takes part in a plan; its error is the reason why not. Nil:
	// it takes part in all that fit MemoryLimit. It is asked about the run's plan before the
	// device allocates anything for it or takes a slot; Run ends with [ErrPlan] if it refuses.
	// It is asked again whenever a change altered the plan, once, before the device works by it.
	// While it refuses, the device follows the log and declines rounds, with [Progress].Declined
	// and an Err that is [ErrPlan], ever more rarely; the next change asks again. A passive
	// replica ends instead. A panic is a refusal. The plan is a copy, whose lists are the
	// client's: do not change those. The next Run asks anew.
	Accept func(*plan.Plan) error
	// About returns what the coordinator's operator sees of this device: its program, platform,
	// battery and network. Nil: nothing is told. It is asked when the device joins, and at each
	// announcement; what changed is told with another join, at most once a minute, and a
	// battery's charge where it differs by 5 percent. Nothing of it changes what the device
	// computes. It must return at once, and may run beside another callback.
	About func() deviceinfo.Device
	// Recorder receives progress; nil: none is reported.
	Recorder Recorder
	// Logger receives what an operator would want to know; nil: nothing is logged.
	Logger *slog.Logger
	// RequestTimeout bounds each request to the coordinator; 0 is 5 s.
	RequestTimeout time.Duration
	// RetryMax bounds the pause between attempts to reach a coordinator, which starts at
	// RetryMax/32 and doubles; 0 is 30 s.
	RetryMax time.Duration
	// Store keeps the state and the last reply for the next process; nil: memory only. The
	// client never closes it. A store that fails or holds unusable items costs a replay at
	// most; see [ErrStore].
	Store Store
	// CheckpointEvery is the number of records from one checkpoint to the next; 0 is 64.
	// During a catch-up only CheckpointInterval counts.
	CheckpointEvery uint64
	// CheckpointInterval is the longest time from one checkpoint to the next; 0 is 5 min.
	// Run writes another when it ends.
	CheckpointInterval time.Duration
	// Horizon is the most records that a device replays where it could take a snapshot; 0:
	// as many as cost less than the snapshot, in bytes and measured seconds. In a run
	// without digests nothing proves a snapshot, so the device replays the log at the end.
	// With transport=dense records are short, and the device replays them whatever Horizon
	// is.
	Horizon uint64
}

// withDefaults returns a config in which every field is set, and the number of parameters.
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
		c.MemoryLimit = consent.Default(dim)
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

// keys returns the coordinator's public keys; nil: none is pinned.
func (c *Config) keys() signed.Keys {
	keys, _ := signed.ParseKeys(c.Coordinator)
	return keys
}

func (c *Config) badKeys() error {
	_, err := signed.ParseKeys(c.Coordinator)
	return err
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
	case c.badKeys() != nil:
		return fmt.Errorf("Coordinator: %w", c.badKeys())
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
