package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/garbage"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/logkind"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/pause"
	"github.com/zofl/zofl/coordinator/zofl/internal/traces"
	"github.com/zofl/zofl/coordinator/zofl/version"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/plan/plancheck"
)

// serve runs until ctx is done, or --linger after the run has ended.
func (f *serveFlags) serve(cmd *cobra.Command) error {
	ctx := cmd.Context()
	out := newPrinter(cmd, f.asJSON, f.quiet)
	defer out.live.Close()
	logger := out.logger
	if err := f.speaker(); err != nil {
		return err
	}
	if f.jetstream && f.URL != "" { // the broker that serve starts syncs every message
		needed, err := f.sync.needed(logger)
		if err == nil && needed {
			err = f.sync.check(ctx, f.Connection, f.replicas, logger)
		}
		if err != nil {
			return err
		}
	}
	log, nc, hangUp, err := f.open(ctx, logger)
	if err != nil {
		return err
	}
	defer hangUp()
	if jet, ok := log.(*jetlog.Log); ok && f.beginAnew && jet.Last() == 0 {
		if log, err = f.anew(ctx, jet, nc, logger); err != nil {
			return cli.Classify(err)
		}
	}
	defer log.Close()
	withdraw, err := f.offerModel(ctx, log, nc, logger)
	if err != nil {
		return err
	}
	defer withdraw()
	allow, err := allowed(ctx, f.allow, logger)
	if err != nil {
		return err
	}
	kept := &history.History{}
	page, err := f.page(kept, nc, logger)
	if err != nil {
		return err
	}
	defer page.close()
	seen := cli.Recorders{page, out}
	if f.traces != "" {
		spans := traces.Start(f.traces, f.run, logger)
		defer spans.Close()
		seen = append(seen, spans)
	}
	leads := func(*coordinator.Coordinator) {}
	if f.alerts.any() {
		alerts := f.alerts.start(kept, logger)
		defer alerts.Close()
		seen = append(seen, alerts)
		leads = func(c *coordinator.Coordinator) { alerts.Lead(c) }
	}
	watch := &operate.Watch{Next: seen, History: kept}
	if f.doorman != nil {
		watch.Banned = f.doorman.Banned
	}
	for {
		err := f.lead(ctx, nc, out, watch, page, leads, coordinator.Config{
			Conn: nc, Plan: f.plan, Log: log, Witnesses: f.witnesses, Linger: f.linger,
			Recorder: watch, Logger: logger, AcceptLoss: f.acceptLoss,
			BeginAnew: f.beginAnew, Allow: allow, JoinRate: f.joinRate, Key: f.private,
			Authenticated: f.doorman != nil,
		})
		switch {
		case errors.Is(err, runlog.ErrDeposed):
			logger.Warn("standing by", "err", err)
		case logkind.Remote(f.place()) && away(ctx, err):
			retrying(ctx, logger, err)
		case errors.Is(err, coordinator.ErrConfig), errors.Is(err, runlog.ErrPlan):
			return cli.Usage(err) // of --witness, or PLAN
		default:
			return cli.AsUsage(cli.Classify(err))
		}
	}
}

// away says whether an error means that the broker does not answer. Such an error may pass.
func away(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	for _, final := range []error{
		coordinator.ErrConfig, runlog.ErrPlan, runlog.ErrCorrupt, runlog.ErrNoLog,
		jetstream.ErrJetStreamNotEnabled, jetstream.ErrJetStreamNotEnabledForAccount,
		nats.ErrConnectionClosed, bus.ErrClosed, bus.ErrSubscriptions, bus.ErrPermission,
	} {
		if errors.Is(err, final) {
			return false
		}
	}
	return !errors.As(err, new(*plan.Error))
}

// retrying logs an error, and waits a second.
func retrying(ctx context.Context, logger *slog.Logger, err error) {
	what := "the broker does not answer, trying again"
	if errors.As(err, new(*jetstream.APIError)) {
		what = "the broker refuses, trying again"
	}
	logger.Warn(what, "err", err)
	_ = pause.For(ctx, time.Second) // the caller checks ctx
}

// maxBytes returns how many bytes each stream of a log may have, 0 for any number.
func maxBytes(log runlog.Log) int64 {
	if jet, ok := log.(*jetlog.Log); ok {
		return jet.MaxBytes()
	}
	return 0
}

// lead waits until this coordinator has the lead of the log. It then coordinates the run until the
// run ends or another coordinator takes the lead.
func (f *serveFlags) lead(ctx context.Context, nc *nats.Conn, out *printer,
	watch *operate.Watch, page *page, leads func(*coordinator.Coordinator),
	cfg coordinator.Config) error {
	c, err := coordinator.New(ctx, cfg)
	if err != nil {
		return err
	}
	out.plan = c.Plan
	status := c.Status()
	kept := watch.History.Lead(ctx, c, logkind.History(logkind.Spec{Place: f.place(), Conn: nc,
		Run: status.Run, Replicas: f.replicas, MaxBytes: maxBytes(cfg.Log)}), cfg.Logger)
	defer kept()
	if len(f.tags) > 0 {
		watch.History.Tag(f.tags)
	}
	desk := operate.NewDesk(c, watch)
	stop, err := operate.Serve(nc, desk)
	if err != nil {
		return err
	}
	page.lead(c, desk)
	leads(c)
	defer func() {
		if err := stop(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
			cfg.Logger.Warn("operator's service", "err", err)
		}
	}()
	if nc.IsConnected() { // a program may send commands as soon as it reads the next line
		_ = nc.FlushTimeout(connect.DialWithin) // a slow broker may answer later
	}
	where := cmp.Or(nc.ConnectedUrlRedacted(), f.Redacted()+" (not connected yet)")
	cfg.Logger.Info("leading", "run", status.Run, "record", status.N, "epoch", status.Epoch,
		"broker", where, "version", version.String())
	if status.Key != "" {
		cfg.Logger.Info("signing", "key", status.Key)
	}
	pl := c.Plan()
	garbage.Limit(cost.Of(&pl, cost.Input{}).Coordinator)
	for _, text := range []string{plancheck.FoundDecay(&pl), plancheck.NoSecret(&pl)} {
		if text != "" {
			cfg.Logger.Warn(text)
		}
	}
	told := tellWaiting(ctx, c, out)
	defer told()
	if f.doorman != nil {
		defer f.judge(c)()
	}
	err = c.Run(ctx)
	switch {
	case errors.Is(err, bus.ErrSubscriptions):
		return cli.Usage(fmt.Errorf("%w: raise max_subscriptions of the broker, and of the account "+
			"and the user if they have it, to %d or more: this coordinator needs so many", err,
			nc.NumSubscriptions()))
	case errors.Is(err, bus.ErrPermission):
		return cli.Usage(fmt.Errorf("%w: the user needs what `zofl permissions --role coordinator` lists",
			err))
	}
	return err
}
