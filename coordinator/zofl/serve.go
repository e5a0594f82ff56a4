package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/plancheck"
)

// serveFlags are what `zofl serve` is asked.
type serveFlags struct {
	connection
	store, listen, run string
	jetstream          bool
	replicas           int
	leaseTTL           time.Duration
	witnesses          []string
	linger             time.Duration
	asJSON             bool
	plan               *wire.Plan // nil continues the log's
	sync               syncCheck
}

func serveCommand() *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve [PLAN]",
		Short: "Run the coordinator of a run",
		Long: `Runs the coordinator of a run: begins the one of the plan file PLAN, or continues
the one of the log. With --url it uses that broker; otherwise it starts one in
this process, for devices on this machine.

The log is a directory (--store), or with --jetstream a stream of the broker,
that several coordinators can share: one leads, the others stand by. Vectors of a
dense run are beside it: in the directory's objects, or the bucket
ZO_<run>_OBJECTS.

With --jetstream and --url, serve asks the servers whether they write messages to
their disks before they acknowledge them (jetstream { sync_interval: always }), and
refuses those that do not: devices apply a record once it is acknowledged, and a power
cut must not take it away. Servers answer this to their system account only:
--system-url or --system-creds name one of its users. --allow-unsynced does not ask.

What was committed survives any crash: start the same command again. Status goes
to standard error; with --json events go to standard output, one a line.`,
		Example: `  zofl plan --run kitchen --dim 7850 --set members=4 --set quorum=3 --write kitchen.json
  zofl serve kitchen.json --store kitchen.log
  zofl serve kitchen.json --url nats://broker:4222 --jetstream --replicas 3 --system-creds system.creds`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.read(args); err != nil {
				return err
			}
			return stopped(cmd.Context(), f.serve(cmd))
		},
	}
	f.connection.flags(cmd)
	f.sync.flags(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.store, "store", "", "directory of the log, and of the embedded broker's JetStream")
	fs.StringVar(&f.listen, "listen", "127.0.0.1:4222", "address of the embedded broker: loopback only")
	fs.StringVar(&f.run, "run", "", "name of the run, to continue one in a JetStream without its PLAN")
	fs.BoolVar(&f.jetstream, "jetstream", false, "keep the log in the broker's JetStream")
	fs.IntVar(&f.replicas, "replicas", 1, "servers that hold the JetStream log: 1 or 3")
	fs.DurationVar(&f.leaseTTL, "lease", 10*time.Second, "with --jetstream: how long a coordinator that fell silent still leads")
	fs.StringArrayVar(&f.witnesses, "witness", nil, "id whose digests are the run's reference (zofl follow), repeatable")
	fs.DurationVar(&f.linger, "linger", -1, "leave so long after the run has ended; negative: stay, and serve devices that come late")
	fs.BoolVar(&f.asJSON, "json", false, "print events as JSON, one a line")
	return cmd
}

// stopped makes an orderly end of a program that was told to stop.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return nil
	}
	return err
}

// read checks the flags and reads the plan.
func (f *serveFlags) read(args []string) error {
	switch {
	case len(args) > 1:
		return usageError{fmt.Errorf("one plan at a time, got %d files", len(args))}
	case f.jetstream && f.replicas != 1 && f.replicas != 3 && f.replicas != 5:
		return usageError{fmt.Errorf("--replicas %d: choose 1, 3 or 5", f.replicas)}
	case !f.jetstream && f.store == "":
		return usageError{errors.New("--store is missing: name a directory for the log, or give --jetstream")}
	case f.url == "" && f.jetstream && f.store == "":
		return usageError{errors.New("--store is missing: the embedded broker keeps its JetStream there")}
	case f.url == "" && f.replicas != 1:
		return usageError{fmt.Errorf("--replicas %d: an embedded broker is one server; give --url of a cluster", f.replicas)}
	}
	if len(args) == 1 {
		file, err := os.Open(args[0])
		if err != nil {
			return usageError{err}
		}
		defer file.Close()
		if f.plan, err = wire.ReadPlan(file); err != nil {
			return asUsage(fmt.Errorf("%s: %w", args[0], plancheck.Explain(err)))
		}
		f.run = f.plan.Run
	}
	if f.jetstream && f.run == "" {
		return usageError{errors.New("--run is missing: name the run, or give its PLAN")}
	}
	return nil
}

// serve runs until the run has ended and was lingered over, or ctx is done.
func (f *serveFlags) serve(cmd *cobra.Command) error {
	ctx := cmd.Context()
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if f.jetstream && f.url != "" { // an embedded broker syncs
		needed, err := f.sync.needed(logger)
		if err == nil && needed {
			err = f.sync.check(ctx, f.connection, f.replicas, logger)
		}
		if err != nil {
			return err
		}
	}
	nc, hangUp, err := f.broker(logger)
	if err != nil {
		return err
	}
	defer hangUp()
	log, err := f.openLog(ctx, nc, logger)
	if err != nil {
		return classify(err)
	}
	defer log.Close()
	watch := &operate.Watch{Next: newRecorder(cmd.OutOrStdout(), logger, f.asJSON)}
	for {
		err := f.lead(ctx, nc, watch, coordinator.Config{
			Conn: nc, Plan: f.plan, Log: log, Witnesses: f.witnesses, Linger: f.linger,
			Recorder: watch, Logger: logger,
		})
		switch {
		case errors.Is(err, runlog.ErrDeposed):
			logger.Warn("standing by", "err", err)
		case kindOf(f.place()).remote && away(ctx, err):
			retrying(ctx, logger, err)
		default:
			return asUsage(classify(err))
		}
	}
}

// away says whether an error may pass: that of a broker that does not answer.
// Whoever returned it has waited for a while.
func away(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	for _, final := range []error{coordinator.ErrConfig, runlog.ErrPlan, runlog.ErrCorrupt, runlog.ErrNoLog,
		jetstream.ErrJetStreamNotEnabled, jetstream.ErrJetStreamNotEnabledForAccount, nats.ErrConnectionClosed, bus.ErrClosed} {
		if errors.Is(err, final) {
			return false
		}
	}
	return !errors.As(err, new(*wire.PlanError))
}

// retrying says why, and waits a little.
func retrying(ctx context.Context, logger *slog.Logger, err error) {
	logger.Warn("the broker does not answer, trying again", "err", err)
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// lead takes the log over when it can, and coordinates until it ends or
// another coordinator leads.
func (f *serveFlags) lead(ctx context.Context, nc *nats.Conn, watch *operate.Watch, cfg coordinator.Config) error {
	c, err := coordinator.New(ctx, cfg)
	if err != nil {
		return err
	}
	status := c.Status()
	cfg.Logger.Info("leading", "run", status.Run, "record", status.N, "epoch", status.Epoch, "broker", nc.ConnectedUrlRedacted())
	stop, err := operate.Serve(nc, status.Run, c, watch)
	if err != nil {
		return err
	}
	defer func() {
		if err := stop(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
			cfg.Logger.Warn("operator's service", "err", err)
		}
	}()
	return c.Run(ctx)
}

// broker connects to the broker of --url, or starts one.
func (f *serveFlags) broker(logger *slog.Logger) (nc *nats.Conn, hangUp func(), err error) {
	if f.url != "" {
		nc, err := f.await("zofl serve", nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			logger.Warn("disconnected", "err", err)
		}))
		if err != nil {
			return nil, nil, err
		}
		return nc, nc.Close, nil
	}
	if err := loopback(f.listen); err != nil {
		return nil, nil, usageError{err}
	}
	cfg := broker.Config{Listen: f.listen}
	if f.jetstream {
		cfg.JetStream = filepath.Join(f.store, "jetstream")
	}
	b, err := broker.Run(cfg)
	if err != nil {
		return nil, nil, err
	}
	nc, _, err = b.Connect("zofl serve", nats.MaxReconnects(-1), nats.ReconnectBufSize(-1))
	if err != nil {
		b.Shutdown()
		return nil, nil, err
	}
	return nc, func() { nc.Close(); b.Shutdown() }, nil
}

// loopback refuses an address that other machines can reach: the embedded
// broker lets everybody in.
func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--listen %s: the embedded broker asks nobody who they are, so it listens on loopback only: "+
			"run a nats-server with TLS and permissions, and give its --url", address)
	}
	return nil
}

// openLog opens the log. Without a plan there must be one to continue.
func (f *serveFlags) openLog(ctx context.Context, nc *nats.Conn, logger *slog.Logger) (runlog.Log, error) {
	spec := logSpec{place: f.place(), nc: nc, run: f.run, replicas: f.replicas, lease: f.leaseTTL, existing: f.plan == nil}
	if f.plan == nil && !f.jetstream {
		if err := mustHaveLog(f.store); err != nil {
			return nil, fmt.Errorf("%w: give the PLAN of a run to begin", err)
		}
	}
	for {
		log, err := openLog(ctx, spec)
		switch {
		case errors.Is(err, runlog.ErrNoLog):
			return nil, fmt.Errorf("%w: give the PLAN of a run to begin", err)
		case !kindOf(spec.place).remote || !away(ctx, err):
			return log, err
		}
		retrying(ctx, logger, err)
	}
}

// place is where the log is.
func (f *serveFlags) place() string {
	if f.jetstream {
		return jetStreamName
	}
	return f.store
}

// holder names this process for the people who wonder who leads.
func holder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}
