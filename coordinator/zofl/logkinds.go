package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
)

// A logSpec says which log to open, and how.
type logSpec struct {
	place    string        // a directory, or the name of a kind of log
	nc       *nats.Conn    // to the broker, if the kind needs one
	run      string        // name of the run, if the kind needs it
	replicas int           // number of servers that store the log; 0: one
	lease    time.Duration // how long a silent coordinator leads; 0: the default
	existing bool          // fail if there is no log
	reading  bool          // write nothing; it must be there
}

// A logKind is a way to store a log.
type logKind struct {
	name string // its place, as flags name it; "" for directories
	// remote means that the log is at the broker, which may be away for a while.
	remote bool
	open   func(context.Context, logSpec) (runlog.Log, error)
}

// logKinds are all ways to store a log. A place that no name matches is of the last kind.
var logKinds = []logKind{
	{name: jetStreamName, remote: true, open: openJetStream},
	{open: openDirectory},
}

// kindOf returns the kind of log that is at a place.
func kindOf(place string) logKind {
	for _, kind := range logKinds {
		if kind.name == place {
			return kind
		}
	}
	return logKinds[len(logKinds)-1]
}

// openLog opens the log that a spec names.
func openLog(ctx context.Context, spec logSpec) (runlog.Log, error) {
	return kindOf(spec.place).open(ctx, spec)
}

// openToRead opens a log that must be there, and changes nothing in it.
func openToRead(ctx context.Context, spec logSpec) (runlog.Log, error) {
	spec.reading = true
	return openExisting(ctx, spec)
}

// openExisting opens a log that must be there.
func openExisting(ctx context.Context, spec logSpec) (runlog.Log, error) {
	spec.existing = true
	log, err := openLog(ctx, spec)
	if errors.Is(err, runlog.ErrLocked) {
		return nil, fmt.Errorf("%w: read it from the coordinator instead, with --url and --run",
			err)
	}
	return log, classify(err)
}

func openDirectory(_ context.Context, spec logSpec) (runlog.Log, error) {
	open := filelog.Open
	if spec.reading {
		open = filelog.OpenReadOnly
	} else if spec.existing {
		if err := mustHaveLog(spec.place); err != nil {
			return nil, err
		}
	}
	log, err := open(spec.place)
	if errors.Is(err, runlog.ErrNoLog) {
		return nil, usageError{fmt.Errorf("--store %s: no log there: %w", spec.place, err)}
	}
	if err != nil {
		return nil, err
	}
	return log, nil
}

func openJetStream(ctx context.Context, spec logSpec) (runlog.Log, error) {
	log, err := jetlog.Open(ctx, jetlog.Config{
		Conn: spec.nc, Run: spec.run, Replicas: spec.replicas, LeaseTTL: spec.lease,
		Name: holder(), Existing: spec.existing,
	})
	if err != nil {
		return nil, err
	}
	return log, nil
}

// holder names this process, for people who want to know who leads.
func holder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// mustHaveLog returns an error if a directory has no log, because opening it would make one.
func mustHaveLog(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "log")); err != nil {
		return usageError{fmt.Errorf("--store %s: no log there: %w", dir, err)}
	}
	return nil
}

// jetStreamName names the broker's JetStream in place of a directory.
const jetStreamName = "jetstream"
