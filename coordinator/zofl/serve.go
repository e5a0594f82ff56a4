package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/offer"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/coordinator/zofl/version"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/masked"
)

// serveFlags are the flags of `zofl serve`.
type serveFlags struct {
	connection
	store, listen, run string
	jetstream          bool
	replicas           int
	leaseTTL           time.Duration
	witnesses          []string
	linger             time.Duration
	acceptLoss         uint64
	allow              string
	joinRate           float64
	beginAnew          bool
	asJSON             bool
	plan               *wire.Plan // nil: continue the run in the log
	sync               syncCheck
	guard              guard
	web                web
	attached           bool
	dense              bool // the run's transport
	secure             bool // the run has secure aggregation
	keyFile            string
	offer              string             // file of the model
	private            ed25519.PrivateKey // signs; nil: nothing is signed
}

func serveCommand() *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve [PLAN]",
		Short: "Run the coordinator of a run",
		Long: `Runs the coordinator of a run. It starts the run of the plan file PLAN, or continues the
run in the log. With --url it uses that broker. Without, it starts a broker in this process,
for devices on this machine.

The log is a directory (--store), or a stream in the broker's JetStream (--jetstream).
Several coordinators can share a log in JetStream: one leads, the others stand by. With
transport=dense, vectors are stored beside the log: in the subdirectory objects, or in the
bucket ZO_<run>_OBJECTS.

With --jetstream and --url, serve asks the servers whether they sync every message to disk
before they acknowledge it (jetstream { sync_interval: always }). It refuses servers that do
not: if a power cut took a record that devices have applied, their histories would diverge.
Servers tell this only to a user of their system account; name one with --system-url or
--system-creds. To serve without this check, give --allow-unsynced.

After a crash start the same command again: committed records survive. serve never begins a
run where an earlier one left members, an epoch or the note of a stored record: restore the
log, build one from a device's state with zofl recover, or give --begin-anew. It sets aside
what is left, under names that end in .before-N. It never leads a log that has become
shorter: restore it, or give --accept-loss.

With --websocket, browsers reach the broker that serve starts, from pages of --origin. With
--attached, serve ends when its standard input does, as it ends on SIGTERM. Messages go to
standard error. With --json, events go to standard output, one per line.`,
		Example: `  zofl plan --run kitchen --dim 7850 --set members=4 --set quorum=3 --write kitchen.json
  zofl serve kitchen.json --store kitchen.log`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if err := f.read(args); err != nil {
				return err
			}
			if f.attached {
				attach(cmd)
			}
			return stopped(cmd.Context(), f.serve(cmd))
		},
	}
	f.connection.flags(cmd)
	f.sync.flags(cmd)
	f.guard.flags(cmd)
	f.web.flags(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.store, "store", "",
		"directory of the log, and of the JetStream of a broker that serve starts")
	fs.StringVar(&f.listen, "listen", "127.0.0.1:4222",
		"address of a broker that serve starts; on loopback, unless --tls and --auth are given")
	fs.StringVar(&f.run, "run", "",
		"name of the run, to continue one in JetStream without its PLAN")
	fs.BoolVar(&f.jetstream, "jetstream", false, "keep the log in the broker's JetStream")
	fs.IntVar(&f.replicas, "replicas", 1,
		"with --jetstream: number of servers that store the log: 1, 3 or 5")
	fs.DurationVar(&f.leaseTTL, "lease", 10*time.Second,
		"with --jetstream: how long a silent coordinator stays the leader")
	fs.StringArrayVar(&f.witnesses, "witness", nil,
		"id of a witness (zofl follow) whose digests are taken as right; repeatable")
	fs.DurationVar(&f.linger, "linger", -1,
		"how long to serve late devices after the run has ended; negative: until stopped")
	fs.Uint64Var(&f.acceptLoss, "accept-loss", 0,
		"how many records at the end of the log are lost for good; serve says the number")
	fs.StringVar(&f.allow, "allow", "",
		"file of the ids that may join, one a line; serve reads it again when it changes")
	fs.Float64Var(&f.joinRate, "join-rate", 0,
		"how many new ids may join a second, after the first thousands; 0: 100, negative: all")
	fs.BoolVar(&f.beginAnew, "begin-anew", false,
		"begin another run where records are lost: set aside what is left of the log")
	fs.StringVar(&f.keyFile, "key", "",
		"file with the key that signs what the coordinator says, made at first use; with --auth, "+
			"default: coordinator.key in its directory; else nothing is signed. Coordinators that stand "+
			"by need the same file")
	fs.BoolVar(&f.attached, "attached", false, "end when standard input ends, so with the program "+
		"that holds its other end, however that ends")
	fs.StringVar(&f.offer, "offer", "", "file of the model that the run begins with: devices fetch "+
		"it with --fetch, whenever this command runs")
	fs.BoolVar(&f.asJSON, "json", false, "print events as JSON, one object per line")
	return cmd
}

// stopped returns nil if the error is only that the program was told to stop.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil &&
		(errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return nil
	}
	return err
}

// read checks the flags and reads the plan.
func (f *serveFlags) read(args []string) error {
	switch {
	case len(args) > 1:
		return usageError{fmt.Errorf("%d files: name one PLAN", len(args))}
	case f.jetstream && f.leaseTTL < time.Second:
		return usageError{fmt.Errorf("--lease %v: give 1s or more", f.leaseTTL)}
	case f.jetstream && f.replicas != 1 && f.replicas != 3 && f.replicas != 5:
		return usageError{fmt.Errorf("--replicas %d: choose 1, 3 or 5", f.replicas)}
	case !f.jetstream && f.store == "":
		return usageError{errors.New("--store is missing: give a directory for the log, or --jetstream")}
	case f.url == "" && f.jetstream && f.store == "":
		return usageError{errors.New("--store is missing: " +
			"the broker that serve starts keeps its JetStream there")}
	case f.url == "" && f.replicas != 1:
		return usageError{fmt.Errorf("--replicas %d: the broker that serve starts is one server: "+
			"give --url of a cluster", f.replicas)}
	}
	if f.url == "" {
		err := f.guard.check(f.listen)
		if err == nil {
			err = f.web.check(f.guard, f.listen)
		}
		if err != nil {
			return usageError{err}
		}
	}
	if len(args) == 1 {
		var err error
		if f.plan, err = readPlanFile(args[0]); err != nil {
			return err
		}
		if f.run != "" && f.run != f.plan.Run {
			return usageError{fmt.Errorf("--run %s: %s is the plan of run %s: leave out --run",
				f.run, args[0], f.plan.Run)}
		}
		f.run, f.dense, f.secure = f.plan.Run, f.plan.SendsVectors(), masked.On(f.plan)
	}
	if f.jetstream && f.run == "" {
		return usageError{errors.New("--run is missing: give the name of the run, or its PLAN")}
	}
	return nil
}

// serve runs until ctx is done, or --linger after the run has ended.
func (f *serveFlags) serve(cmd *cobra.Command) error {
	ctx := cmd.Context()
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := f.speaker(); err != nil {
		return err
	}
	if f.jetstream && f.url != "" { // an embedded broker syncs
		needed, err := f.sync.needed(logger)
		if err == nil && needed {
			err = f.sync.check(ctx, f.connection, f.replicas, logger)
		}
		if err != nil {
			return err
		}
	}
	var log runlog.Log
	var err error
	if !f.jetstream { // before the connection, whose inbox has the run's name
		if log, err = f.openDirectory(ctx, logger); err != nil {
			return classify(err)
		}
	}
	nc, hangUp, err := f.broker(logger)
	if err != nil && log != nil {
		return errors.Join(err, log.Close())
	}
	if err != nil {
		return err
	}
	defer hangUp()
	if f.jetstream {
		if log, err = f.openLog(ctx, nc, logger); err != nil {
			return classify(err)
		}
	}
	if jet, ok := log.(*jetlog.Log); ok && f.beginAnew && jet.Last() == 0 {
		if log, err = f.anew(ctx, jet, nc, logger); err != nil {
			return classify(err)
		}
	}
	defer log.Close()
	withdraw, err := f.offerModel(nc, logger)
	if err != nil {
		return err
	}
	defer withdraw()
	allow, err := allowed(f.allow, logger)
	if err != nil {
		return err
	}
	out := newPrinter(cmd.OutOrStdout(), logger, f.asJSON)
	watch := &operate.Watch{Next: out}
	for {
		err := f.lead(ctx, nc, out, watch, coordinator.Config{
			Conn: nc, Plan: f.plan, Log: log, Witnesses: f.witnesses, Linger: f.linger,
			Recorder: watch, Logger: logger, AcceptLoss: f.acceptLoss,
			BeginAnew: f.beginAnew, Allow: allow, JoinRate: f.joinRate, Key: f.private,
		})
		switch {
		case errors.Is(err, runlog.ErrDeposed):
			logger.Warn("standing by", "err", err)
		case kindOf(f.place()).remote && away(ctx, err):
			retrying(ctx, logger, err)
		case errors.Is(err, coordinator.ErrConfig), errors.Is(err, runlog.ErrPlan):
			return usageError{err} // of --witness, or PLAN
		default:
			return asUsage(classify(err))
		}
	}
}

// offerModel lets devices fetch the file of --offer, until withdraw is called.
func (f *serveFlags) offerModel(nc *nats.Conn, logger *slog.Logger) (withdraw func(), err error) {
	if f.offer == "" {
		return func() {}, nil
	}
	file, err := offer.Open(f.offer)
	if err != nil {
		return nil, usageError{fmt.Errorf("--offer: %w", err)}
	}
	stop, err := file.Serve(nc, f.run)
	if err != nil {
		return nil, err
	}
	logger.Info("offering the model", "file", f.offer, "sha256", file.SHA256)
	return func() {
		if err := stop(); err != nil {
			logger.Warn("offering the model", "err", err)
		}
	}, nil
}

// away says whether an error is that of a broker that does not answer, which may pass.
func away(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	for _, final := range []error{
		coordinator.ErrConfig, runlog.ErrPlan, runlog.ErrCorrupt, runlog.ErrNoLog,
		jetstream.ErrJetStreamNotEnabled, jetstream.ErrJetStreamNotEnabledForAccount,
		nats.ErrConnectionClosed, bus.ErrClosed,
	} {
		if errors.Is(err, final) {
			return false
		}
	}
	return !errors.As(err, new(*wire.PlanError))
}

// retrying logs an error, and waits a second.
func retrying(ctx context.Context, logger *slog.Logger, err error) {
	logger.Warn("the broker does not answer, trying again", "err", err)
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// lead waits for the lead of the log, and coordinates the run until it ends or another
// coordinator leads.
func (f *serveFlags) lead(ctx context.Context, nc *nats.Conn, out *printer,
	watch *operate.Watch, cfg coordinator.Config) error {
	c, err := coordinator.New(ctx, cfg)
	if err != nil {
		return err
	}
	status := c.Status()
	stop, err := operate.Serve(nc, status.Run, c, watch)
	if err != nil {
		return err
	}
	defer func() {
		if err := stop(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
			cfg.Logger.Warn("operator's service", "err", err)
		}
	}()
	if nc.IsConnected() { // whoever waits for the next line may give commands at once
		_ = nc.FlushTimeout(dialWithin) // a broker that is slow answers later
	}
	where := nc.ConnectedUrlRedacted()
	if where == "" {
		where = f.redacted() + " (not connected yet)"
	}
	cfg.Logger.Info("leading", "run", status.Run, "record", status.N, "epoch", status.Epoch,
		"broker", where, "version", version.String())
	if status.Key != "" {
		cfg.Logger.Info("signing", "key", status.Key)
	}
	told := tellWaiting(ctx, c, out)
	defer told()
	return c.Run(ctx)
}

// openDirectory opens the log in a directory, and learns the name of the run that it continues.
func (f *serveFlags) openDirectory(ctx context.Context, logger *slog.Logger) (runlog.Log, error) {
	if f.beginAnew {
		if err := setAside(f.store, logger); err != nil {
			return nil, err
		}
	}
	log, err := f.openLog(ctx, nil, logger)
	if err != nil || f.plan != nil {
		return log, err
	}
	plan, err := planOf(ctx, source.Stored(log, nil))
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	f.run, f.dense, f.secure = plan.Run, plan.SendsVectors(), masked.On(plan)
	return log, nil
}

// openLog opens the log. Without a plan there must be one to continue.
func (f *serveFlags) openLog(ctx context.Context, nc *nats.Conn,
	logger *slog.Logger) (runlog.Log, error) {
	spec := logSpec{
		place:    f.place(),
		nc:       nc,
		run:      f.run,
		replicas: f.replicas,
		lease:    f.leaseTTL,
		existing: f.plan == nil,
	}
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
		case err != nil && ctx.Err() != nil:
			return nil, context.Cause(ctx) // the broker's error is of no interest any more
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

// holder names this process, for people who want to know who leads.
func holder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}
