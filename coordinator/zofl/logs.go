package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/wire"
)

// errNoLog: the flags name no log.
var errNoLog = errors.New("no log is named: give --store DIR, or --url with --run (and --jetstream for a log in a JetStream)")

// A logChoice says which log a command reads.
type logChoice struct {
	connection
	run, store string
	initial    string // file
	secret     string // file
	jetstream  bool
}

func (l *logChoice) flags(cmd *cobra.Command) {
	l.connection.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&l.store, "store", "", "directory of a log that no coordinator has open")
	f.StringVar(&l.run, "run", "", "name of the run, with --url: its coordinator is asked")
	f.BoolVar(&l.jetstream, "jetstream", false, "with --url and --run: read the JetStream itself")
}

// open returns the records that the flags name.
func (l *logChoice) open(ctx context.Context) (source.Source, error) {
	switch {
	case l.store != "" && l.url != "":
		return nil, usageError{errors.New("--store and --url name two logs: give one")}
	case l.store != "":
		log, err := openExisting(ctx, logSpec{place: l.store})
		if err != nil {
			return nil, err
		}
		return source.Stored(log, nil), nil
	case l.url == "" || l.run == "":
		return nil, usageError{errNoLog}
	}
	if err := checkRun(l.run); err != nil {
		return nil, err
	}
	nc, err := l.dial("zofl")
	if err != nil {
		return nil, err
	}
	if !l.jetstream {
		return source.Live(nc, l.run, "zofl"), nil
	}
	log, err := openExisting(ctx, logSpec{place: jetStreamName, nc: nc, run: l.run})
	if err != nil {
		nc.Close()
		return nil, err
	}
	return source.Stored(log, nc.Close), nil
}

// replayFlags are the flags of commands that replay the records.
func (l *logChoice) replayFlags(cmd *cobra.Command) {
	l.flags(cmd)
	cmd.Flags().StringVar(&l.initial, "initial", "", "file of the first parameters (.f32 or .npy), for a plan that has them given")
	secretFlag(cmd, &l.secret)
}

// model is what the flags say of the model, and records do not.
func (l *logChoice) model() (cfg replica.Config, err error) {
	if cfg.Initial, err = readInitial(l.initial); err == nil {
		cfg.RunKey, err = readSecret(l.secret)
	}
	return cfg, err
}

// checkRun refuses what cannot be the name of a run.
func checkRun(run string) error {
	if run == "" {
		return usageError{errors.New("--run is missing: name the run")}
	}
	if err := wire.CheckName(run); err != nil {
		return usageError{fmt.Errorf("--run: %w", err)}
	}
	return nil
}
