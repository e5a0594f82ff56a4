package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/logkind"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
)

// open opens the log, and connects to the broker or starts one. If there is a plan, open starts the
// broker before it creates the log, so that a broker whose port is taken leaves no new log behind.
// Without a plan, open opens the existing log first, because the connection needs the name of the
// run in the log.
func (f *serveFlags) open(ctx context.Context, logger *slog.Logger) (log runlog.Log,
	nc *nats.Conn, hangUp func(), err error) {
	logFirst := !f.jetstream && (f.plan == nil || f.URL != "")
	if logFirst {
		if log, err = f.openDirectory(ctx, logger); err != nil {
			return nil, nil, nil, cli.Classify(err)
		}
	}
	if nc, hangUp, err = f.broker(logger); err != nil {
		if logFirst {
			err = errors.Join(err, log.Close())
		}
		return nil, nil, nil, err
	}
	switch {
	case f.jetstream:
		log, err = f.openLog(ctx, nc, logger)
	case !logFirst:
		log, err = f.openDirectory(ctx, logger)
	}
	if err != nil {
		hangUp()
		return nil, nil, nil, cli.Classify(err)
	}
	return log, nc, hangUp, nil
}

// openDirectory opens the log in a directory, and learns the name of the run that it continues.
func (f *serveFlags) openDirectory(ctx context.Context, logger *slog.Logger) (runlog.Log, error) {
	// A place that is not there, or no directory, is for openLog to name.
	if err := cli.CheckLog(f.store); err != nil && !errors.As(err, new(*fs.PathError)) {
		return nil, cli.Usage(fmt.Errorf("--store: %w, or name a new directory in it", err))
	}
	if f.beginAnew {
		if err := setAside(f.store, logger); err != nil {
			return nil, err
		}
	}
	log, err := f.openLog(ctx, nil, logger)
	if err != nil || f.plan != nil {
		return log, err
	}
	plan, err := source.PlanOf(ctx, source.Stored(log, nil))
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	f.run, f.dense, f.secure = plan.Run, plan.SendsVectors(), plan.Summed()
	return log, nil
}

// openLog opens the log. Without a plan, a log with a run to continue must exist.
func (f *serveFlags) openLog(ctx context.Context, nc *nats.Conn,
	logger *slog.Logger) (runlog.Log, error) {
	spec := logkind.Spec{
		Place:    f.place(),
		Conn:     nc,
		Run:      f.run,
		Replicas: f.replicas,
		MaxBytes: int64(f.maxBytes),
		Lease:    f.leaseTTL,
		Owner:    f.owner(),
		Existing: f.plan == nil,
		Logger:   logger,
	}
	if f.plan == nil && !f.jetstream {
		if err := logkind.MustExist(f.store); err != nil {
			return nil, fmt.Errorf("%w; to begin a run, give its PLAN", err)
		}
	}
	for {
		log, err := logkind.Open(ctx, spec)
		switch {
		case errors.Is(err, runlog.ErrNoLog):
			return nil, fmt.Errorf("%w; to begin a run, give its PLAN", err)
		case errors.Is(err, runlog.ErrLocked):
			return nil, f.locked()
		case errors.Is(err, runlog.ErrConfig):
			return nil, cli.Usage(err)
		case err != nil && ctx.Err() != nil:
			return nil, context.Cause(ctx) // the command has been told to end
		case !logkind.Remote(spec.Place) || !away(ctx, err):
			return log, err
		}
		retrying(ctx, logger, err)
	}
}

// locked returns the error that another coordinator has the store open.
func (f *serveFlags) locked() error {
	return fmt.Errorf("--store %s: %w: end that zofl serve first, or name another directory", f.store,
		runlog.ErrLocked)
}

// owner returns the owner of the lease. The coordinator in the process of the broker has an owner's
// name of its own, which an earlier process also had. No two such processes run at a time, because
// the broker locks its directory.
func (f *serveFlags) owner() string {
	if f.URL == "" {
		return "broker"
	}
	return ""
}

// place returns the directory of the log, or logkind.JetStream.
func (f *serveFlags) place() string {
	if f.jetstream {
		return logkind.JetStream
	}
	return f.store
}
