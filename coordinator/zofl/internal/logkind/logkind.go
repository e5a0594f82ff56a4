// Package logkind opens the log of a run in a directory or in JetStream.
package logkind

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// A Spec says which log to open, and how.
type Spec struct {
	Place    string        // a directory, or the name of a kind of log
	Conn     *nats.Conn    // to the broker, if the kind needs one
	Run      string        // name of the run, if the kind needs it
	Replicas int           // number of servers that store the log; 0: one
	MaxBytes int64         // that each stream of a new log may have; 0: any number
	Lease    time.Duration // how long a silent coordinator keeps the lead; 0: the default
	Owner    string        // of the lease, see [jetlog.Config]; "": this process
	Existing bool          // fail if there is no log
	Logger   *slog.Logger  // says why the log waits; nil: nothing does
	reading  bool          // write nothing; the log must exist
}

// A logKind is a way to store a log.
type logKind struct {
	name string // its place, as flags name it; "" for directories
	// remote means that the broker stores the log. The broker may be unreachable for a while.
	remote bool
	open   func(context.Context, Spec) (runlog.Log, error)
	// history returns the store of the history beside the log.
	history func(Spec) history.Store
}

// logKinds are all ways to store a log. A place that matches no name is of the last kind.
var logKinds = []logKind{
	{name: JetStream, remote: true, open: openJetStream, history: func(s Spec) history.Store {
		return history.Jet(s.Conn, s.Run, s.Replicas, s.MaxBytes)
	}},
	{open: openDirectory, history: func(s Spec) history.Store { return history.Dir(s.Place) }},
}

// Remote says whether the broker stores the log at a place. The broker may be unreachable for a
// while.
func Remote(place string) bool { return kindOf(place).remote }

// kindOf returns the kind of log that is at a place.
func kindOf(place string) logKind {
	for _, kind := range logKinds {
		if kind.name == place {
			return kind
		}
	}
	return logKinds[len(logKinds)-1]
}

// Open opens the log that a spec names.
func Open(ctx context.Context, spec Spec) (runlog.Log, error) {
	return kindOf(spec.Place).open(ctx, spec)
}

// History returns the store of the history beside the log that a spec names. The log must be open.
func History(spec Spec) history.Store { return kindOf(spec.Place).history(spec) }

// OpenToRead opens an existing log for reading alone.
func OpenToRead(ctx context.Context, spec Spec) (runlog.Log, error) {
	spec.reading = true
	return OpenExisting(ctx, spec)
}

// OpenExisting opens a log. OpenExisting returns an error if the log does not exist.
func OpenExisting(ctx context.Context, spec Spec) (runlog.Log, error) {
	spec.Existing = true
	log, err := Open(ctx, spec)
	if errors.Is(err, runlog.ErrLocked) {
		return nil, fmt.Errorf("%w: read it from the coordinator instead, with --url and --run",
			err)
	}
	return log, cli.Classify(err)
}

func openDirectory(_ context.Context, spec Spec) (runlog.Log, error) {
	open := filelog.Open
	if spec.reading {
		open = filelog.OpenReadOnly
	} else if spec.Existing {
		if err := MustExist(spec.Place); err != nil {
			return nil, err
		}
	}
	log, err := open(spec.Place)
	if errors.Is(err, runlog.ErrNoLog) {
		return nil, noLog(spec.Place)
	}
	if err != nil {
		return nil, cli.Store(spec.Place, err)
	}
	return log, nil
}

func openJetStream(ctx context.Context, spec Spec) (runlog.Log, error) {
	log, err := jetlog.Open(ctx, jetlog.Config{
		Conn: spec.Conn, Run: spec.Run, Replicas: spec.Replicas, MaxBytes: spec.MaxBytes,
		LeaseTTL: spec.Lease, Owner: spec.Owner, Logger: spec.Logger,
		Name: holder(), Existing: spec.Existing,
	})
	if err != nil {
		return nil, err
	}
	return log, nil
}

// holder names this process, for people who want to know which process leads.
func holder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// MustExist returns an error if a directory has no log, because opening it would make one.
func MustExist(dir string) error {
	_, err := os.Stat(filepath.Join(dir, "log"))
	if errors.Is(err, fs.ErrNotExist) {
		return noLog(dir)
	}
	if err != nil {
		return cli.FileFault("--store", dir, err)
	}
	return nil
}

func noLog(dir string) error {
	return cli.Usage(fmt.Errorf("--store %s: no log there: give the directory of `zofl serve "+
		"--store`", dir))
}

// JetStream is the place of a log in the broker's JetStream.
const JetStream = "jetstream"
