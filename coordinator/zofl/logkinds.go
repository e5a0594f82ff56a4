package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
)

// A logSpec says which log to open.
type logSpec struct {
	place    string        // a directory, or the name of another kind
	nc       *nats.Conn    // to the broker, for kinds that need one
	run      string        // name of the run, likewise
	replicas int           // servers that are to hold the log; 0: one
	lease    time.Duration // how long a silent coordinator leads; 0: the kind's default
	existing bool          // there must be a log
}

// A logKind is a way to store a log.
type logKind struct {
	name string // what stands for it where a directory could; "" for directories
	// remote: the log is at the broker, which may be away for a while.
	remote bool
	open   func(context.Context, logSpec) (runlog.Log, error)
}

// logKinds are all ways to store a log. The last one takes the places that no other
// one does.
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

// openExisting opens a log that must be there, to read it.
func openExisting(ctx context.Context, spec logSpec) (runlog.Log, error) {
	spec.existing = true
	log, err := openLog(ctx, spec)
	if errors.Is(err, runlog.ErrLocked) {
		return nil, fmt.Errorf("%w: ask the coordinator instead, with --url and --run", err)
	}
	return log, classify(err)
}

func openDirectory(_ context.Context, spec logSpec) (runlog.Log, error) {
	if spec.existing {
		if err := mustHaveLog(spec.place); err != nil {
			return nil, err
		}
	}
	log, err := filelog.Open(spec.place)
	if err != nil {
		return nil, err
	}
	return log, nil
}

func openJetStream(ctx context.Context, spec logSpec) (runlog.Log, error) {
	log, err := jetlog.Open(ctx, jetlog.Config{
		Conn: spec.nc, Run: spec.run, Replicas: spec.replicas, LeaseTTL: spec.lease, Name: holder(),
		Existing: spec.existing,
	})
	if err != nil {
		return nil, err
	}
	return log, nil
}
