// Package device has the commands that take part in a run, client and exec, and the command that
// follows a run, follow.
package device

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/garbage"
	"github.com/zofl/zofl/coordinator/zofl/internal/modelfile"
	"github.com/zofl/zofl/coordinator/zofl/internal/objective"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/internal/footprint"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
)

// deviceFlags are the flags that `zofl client` and `zofl follow` share.
type deviceFlags struct {
	connect.Connection
	run, id, store, secret string
	initial                modelfile.Choice
	fetch                  string // SHA-256 of the file of --initial
	fetchLimit             uint64 // MiB
	key                    string // of the coordinator
	horizon, memory        uint64
	asJSON, quiet          bool
	logFormat              cli.LogFormat
	live                   *terminal.Live // see line
	out                    string         // file for the model, "" for none

	anyDim func(dim int)        // learns the plan's dim before the device begins; nil: not needed
	began  func(*client.Client) // gets the client before it runs; nil: not needed
}

// anyDimMemory is the default of --memory for a device that takes part whatever the plan's dim is,
// in bytes. The default of others grows with their dim.
const anyDimMemory = 1 << 30

func (d *deviceFlags) flags(cmd *cobra.Command) {
	d.Connection.Flags(cmd)
	f := cmd.Flags()
	f.StringVar(&d.run, "run", "", "name of the run")
	f.StringVar(&d.id, "id", "", "name of this device: unique in the run, and always the same")
	f.StringVar(&d.store, "store", "",
		"directory of the device's state; default: start anew each time")
	d.initial.Flags(cmd)
	f.StringVar(&d.fetch, "fetch", "",
		"`SHA-256` of the file of --initial: fetch it from zofl serve --offer")
	f.Uint64Var(&d.fetchLimit, "fetch-limit", 4096, "most MiB that --fetch takes")
	cli.SecretFlag(cmd, &d.secret)
	connect.CoordinatorFlag(cmd, &d.key)
	f.Uint64Var(&d.horizon, "horizon", 0,
		"take a snapshot when so many records behind; 0: when that is cheaper")
	f.Uint64Var(&d.memory, "memory", 0,
		"most MiB that the plan may take; 0: 512 (a witness 1024) and 48 models")
	d.logFormat.Flag(cmd)
	f.BoolVar(&d.quiet, "quiet", false, "print no progress, but warnings and errors")
	f.BoolVar(&d.asJSON, "json", false, "print progress as JSON, one object per line")
	f.StringVar(&d.out, "out", "",
		"write the model to this new file at the end: .npy, .f32, or as --initial")
}

// checkOut returns the target of --out, to which the device writes the model when it stops.
func (d *deviceFlags) checkOut() (to modelfile.Target, err error) {
	if d.out == "" {
		return modelfile.Target{}, nil
	}
	if to, err = modelfile.TargetOf(d.out, "", &d.initial); err != nil {
		return to, cli.Usage(err)
	}
	return to, cli.CheckNew("--out", d.out)
}

// keeper returns a function that writes the model to --out. The caller has fetched the file of
// --initial by then.
func (d *deviceFlags) keeper(to modelfile.Target) (write func(*client.Client) error, err error) {
	if d.out == "" {
		return func(*client.Client) error { return nil }, nil
	}
	m, err := to.Open(d.initial.Train)
	if err != nil {
		return nil, err
	}
	return func(c *client.Client) (err error) {
		if m != nil {
			defer func() { err = errors.Join(err, m.Close()) }()
		}
		columns := c.Stats()
		return c.View(func(n uint64, x []float32) error {
			if n == 0 {
				return nil
			}
			p := &plan.Plan{Run: d.run, Dim: uint64(len(x))}
			p.Stats = columns
			return to.Write(m, x, p)
		})
	}, nil
}

// take runs a client until the run ends or the context is done.
func (d *deviceFlags) take(cmd *cobra.Command, cfg client.Config) error {
	return cli.Stopped(cmd.Context(), d.part(cmd, cfg))
}

func (d *deviceFlags) part(cmd *cobra.Command, cfg client.Config) error {
	if err := d.check(); err != nil {
		return err
	}
	to, err := d.checkOut()
	if err != nil {
		return err
	}
	shown := d.progress(cmd.OutOrStdout())
	defer shown.live.Close()
	told := d.logger(slog.LevelInfo) // for messages about the connection
	if err := d.checkGiven(); err != nil {
		return err
	}
	if cfg.RunKey, err = cli.ReadSecret(cmd.Context(), d.secret); err != nil {
		return err
	}
	if d.store != "" {
		if cfg.Store, err = client.OpenStore(d.store); err != nil {
			return cli.Store(d.store, err)
		}
		defer cfg.Store.Close()
		if err := ownStore(cfg.Store, d.store, d.id); err != nil {
			return err
		}
	}
	keys, err := d.Coordinator(d.key)
	if err != nil {
		return err
	}
	cfg.Coordinator = keys.String()
	nc, err := d.Await(d.id, subjects.Inbox(d.id), told)
	if err != nil {
		return err
	}
	defer nc.Close()
	if d.fetch != "" {
		if err := d.fetchGiven(cmd.Context(), nc, told); err != nil {
			return err
		}
	}
	keep, err := d.keeper(to)
	if err != nil {
		return err
	}
	cfg.Conn, cfg.Run, cfg.ID, cfg.Horizon = nc, d.run, d.id, d.horizon
	ask := &planner{nc: nc, run: d.run, id: d.id, keys: keys, store: cfg.Store, log: told}
	if cfg.ReadInitial = d.initial.Reader(); cfg.ReadInitial == nil {
		cfg.ReadInitial = (&offered{ask, cmd.Context()}).read
	}
	cfg.Logger, cfg.MemoryLimit = d.logger(slog.LevelWarn), d.memory<<20
	cfg.Recorder = &absence{next: shown, nc: nc, run: d.run, log: told}
	accept := cfg.Accept
	cfg.Accept = func(p *plan.Plan) error {
		ask.heard = p
		garbage.Limit(footprint.Bytes(p, footprint.Device{}))
		if accept != nil {
			return accept(p)
		}
		return nil
	}
	if cfg.Passive == nil {
		cfg.About = self
	}
	if d.anyDim != nil {
		p, err := ask.plan(cmd.Context())
		if err != nil {
			return err
		}
		d.anyDim(int(p.Dim))
		cfg.MemoryLimit = cmp.Or(cfg.MemoryLimit, anyDimMemory)
	}
	c, err := client.New(cfg)
	if err != nil {
		return cli.Usage(err)
	}
	if d.began != nil {
		d.began(c)
	}
	err = d.explained(cli.Stopped(cmd.Context(), c.Run(cmd.Context())))
	return errors.Join(err, d.last(cmd.OutOrStdout(), c), keep(c))
}

// check checks the flags that name the device, and its memory.
func (d *deviceFlags) check() error {
	if err := cli.CheckRun(d.run); err != nil {
		return err
	}
	if d.memory > 1<<40 {
		return cli.Usage(fmt.Errorf("--memory %d: give MiB, at most %d", d.memory, uint64(1)<<40))
	}
	if d.id == "" {
		return cli.Usage(errors.New("--id is missing: give each device a name that no other one has"))
	}
	if err := plan.CheckName(d.id); err != nil {
		return cli.Usage(fmt.Errorf("--id: %w", err))
	}
	return nil
}

// explained returns the error of a client's run with what a user of the command can do about it.
func (d *deviceFlags) explained(err error) error {
	if err = cli.Classify(err); errors.Is(err, plan.ErrRunKey) {
		err = d.wrongKey()
	}
	switch {
	case errors.Is(err, replica.ErrInitial) && d.initial.File == "":
		return missingInitial(err)
	case errors.Is(err, replica.ErrInitial):
		return cli.Usage(err)
	case errors.Is(err, bus.ErrPermission):
		return cli.Usage(fmt.Errorf("%w: the user needs what `zofl permissions` lists for %q in run %q, "+
			"and whoever runs the broker grants it", err, d.id, d.run))
	case errors.Is(err, bus.ErrSubscriptions):
		return cli.Usage(fmt.Errorf("%w: raise max_subscriptions of the broker, or of this user, to 32",
			err))
	}
	return err
}

// wrongKey explains an error about --secret, because the client's error names a field of its
// config.
func (d *deviceFlags) wrongKey() error {
	if d.secret == "" {
		return cli.Usage(fmt.Errorf("--secret is missing: %w: that of run %q is a secret: give the file "+
			"that `zofl plan --secret` made", plan.ErrRunKey, d.run))
	}
	return cli.Usage(fmt.Errorf("--secret %s: %w: give the file that `zofl plan --secret` made for "+
		"run %q, or leave the flag out if that run has no secret", d.secret, plan.ErrRunKey, d.run))
}

// last prints the record at which a client stopped, and the digest of its state. last prints
// nothing if the client never applied a record.
func (d *deviceFlags) last(out io.Writer, c *client.Client) error {
	n, digest := c.Digest()
	var err error
	switch {
	case d.asJSON:
		err = json.NewEncoder(out).Encode(map[string]any{
			"event": "stopped", "id": d.id, "n": n, "digest": fmt.Sprintf("%x", digest),
		})
	case n > 0:
		_, err = fmt.Fprintf(out, "stopped after record %d, digest of the state %x\n", n, digest)
	}
	return err
}

// Client is `zofl client`.
func Client() *cobra.Command {
	var d deviceFlags
	var name string
	var dim int
	var delay time.Duration
	cmd := &cobra.Command{
		Use:   "client",
		Short: "Take part in a run as a device",
		Long: `Takes part in a run as one device, with one of the losses that the program has built in:

  digits  a softmax classifier of handwritten digits, with 7,850 parameters; each
          device draws digits of its own
  bowl    a quadratic with any number of parameters; its minimum differs by device

This is for trying a run. An app gives its own loss to the library instead.`,
		Example: `  zofl client --url nats://127.0.0.1:4222 --run kitchen --id pi-3 --store pi-3.state`,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if delay < 0 {
				return cli.Usage(fmt.Errorf("--delay %v: give 0 or more", delay))
			}
			o, err := objective.New(name, d.id, dim)
			if err != nil {
				return cli.AsUsage(err)
			}
			err = d.take(cmd, client.Config{Objective: objective.Slow(o, delay)})
			return wrongDim(err, "this device's model %[2]d: give --objective bowl --dim %[1]d, "+
				"or make a plan with --dim %[2]d")
		},
	}
	d.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&name, "objective", "digits", "the loss: "+strings.Join(objective.Names(), ", "))
	cli.Choices(cmd, "objective", objective.Names()...)
	f.IntVar(&dim, "dim", 0, "number of parameters of the bowl: the plan's dim")
	f.DurationVar(&delay, "delay", 0, "wait so long in each loss evaluation, as a slow device does")
	return cmd
}

// Follow is `zofl follow`.
func Follow() *cobra.Command {
	var d deviceFlags
	var passive client.Passive
	cmd := &cobra.Command{
		Use:   "follow",
		Short: "Follow a run as a witness, without taking part",
		Long: `Follows a run without contributing to it. A witness replays the log into the same model
as the devices, and reports the digest of its state as they do. If its id is given to
zofl serve --witness, a device whose digest differs from the witness's rebuilds its state.

With --snapshot-every the witness also stores snapshots of the model. A device that was
away for long downloads a snapshot instead of thousands of records.`,
		Example: `  zofl follow --url nats://127.0.0.1:4222 --run kitchen --id witness --store w.state`,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if passive.SnapshotEvery > 0 && d.store == "" {
				return cli.Usage(errors.New("--store is missing: --snapshot-every stores snapshots there"))
			}
			return d.take(cmd, client.Config{Passive: &passive})
		},
	}
	d.flags(cmd)
	cmd.Flags().Uint64Var(&passive.SnapshotEvery, "snapshot-every", 0,
		"number of records from one snapshot to the next; 0: no snapshots")
	return cmd
}
