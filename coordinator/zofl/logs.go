package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/wire"
)

// errNoLog means that the flags name no log.
var errNoLog = errors.New("no log is named: give --store DIR, or --url and --run " +
	"(with --jetstream for a log in JetStream)")

// A logChoice holds the flags that say which log to read.
type logChoice struct {
	connection
	run, store string
	initial    initialChoice
	secret     string // file
	jetstream  bool
	key        string     // of the coordinator
	log        runlog.Log // that open opened; nil: a coordinator's
}

func (l *logChoice) flags(cmd *cobra.Command) {
	l.connection.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&l.store, "store", "", "directory of the log, which no coordinator may have open")
	f.StringVar(&l.run, "run", "", "name of the run, with --url: read from its coordinator")
	f.BoolVar(&l.jetstream, "jetstream", false,
		"with --url and --run: read from JetStream, without the coordinator")
	coordinatorFlag(cmd, &l.key)
}

// open returns the records that the flags name.
func (l *logChoice) open(ctx context.Context) (source.Source, error) {
	switch {
	case l.store != "" && l.url != "":
		return nil, usageError{errors.New("--store and --url name two logs: give only one")}
	case l.key != "" && (l.store != "" || l.jetstream):
		return nil, usageError{errors.New("--coordinator: a log at rest has no signature: give --url " +
			"and --run, to ask the coordinator, and compare the hash of the last record")}
	case l.store != "" && (l.run != "" || l.jetstream || l.named()):
		return nil, usageError{fmt.Errorf("--store %s: a directory has one log, and no broker: leave "+
			"out --run, --jetstream, and the flags of a connection", l.store)}
	case l.store != "":
		log, err := openToRead(ctx, logSpec{place: l.store})
		if err != nil {
			return nil, err
		}
		l.log = log
		return source.Stored(log, nil), nil
	case l.url == "" || l.run == "":
		return nil, usageError{errNoLog}
	}
	if err := checkRun(l.run); err != nil {
		return nil, err
	}
	keys, err := l.coordinator(l.key)
	if err != nil {
		return nil, err
	}
	role := grant.Operator
	if l.jetstream {
		role = grant.Coordinator
	}
	nc, err := l.dial("zofl", inboxOf(role, l.run))
	if err != nil {
		return nil, err
	}
	if !l.jetstream {
		return source.Live(nc, l.run, grant.OperatorID, keys), nil
	}
	log, err := openToRead(ctx, logSpec{place: jetStreamName, nc: nc, run: l.run})
	if err != nil {
		nc.Close()
		return nil, err
	}
	l.log = log
	return source.Stored(log, nc.Close), nil
}

// replayFlags adds the flags of a command that computes the model.
func (l *logChoice) replayFlags(cmd *cobra.Command) {
	l.flags(cmd)
	l.initial.flags(cmd)
	secretFlag(cmd, &l.secret)
}

// model returns what the flags say about the model beyond the records.
func (l *logChoice) model() (cfg replica.Config, err error) {
	if cfg.Initial, err = l.initial.read(); err == nil {
		cfg.RunKey, err = readSecret(l.secret)
	}
	return cfg, err
}

// needed returns an error if a flag names what the model of a plan does not have.
func (l *logChoice) needed(p *wire.Plan) error {
	switch {
	case l.secret != "" && !p.Private():
		return usageError{fmt.Errorf("--secret %s: run %s is not private, and has no run key to give: "+
			"leave it out", l.secret, p.Run)}
	case l.initial.file != "" && p.Initial != wire.Given:
		return usageError{fmt.Errorf("--initial %s: the parameters of run %s start where its plan says: "+
			"leave it out", l.initial.file, p.Run)}
	}
	return nil
}
