package logs

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
	"github.com/zofl/zofl/coordinator/zofl/internal/logkind"
	"github.com/zofl/zofl/coordinator/zofl/internal/modelfile"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/plan"
)

// errNoLog means that the flags name no log.
var errNoLog = errors.New("no log is named: give --store DIR, or --url and --run " +
	"(with --jetstream for a log in JetStream)")

// A logChoice holds the flags that say which log to read.
type logChoice struct {
	connect.Connection
	run, store string
	initial    modelfile.Choice
	secret     string // file
	jetstream  bool
	key        string     // of the coordinator
	log        runlog.Log // that open opened; nil: a coordinator's
}

func (l *logChoice) flags(cmd *cobra.Command) {
	l.Connection.Flags(cmd)
	f := cmd.Flags()
	f.StringVar(&l.store, "store", "", "directory of the log, which no coordinator may have open")
	f.StringVar(&l.run, "run", "", "name of the run, with --url: read from its coordinator")
	f.BoolVar(&l.jetstream, "jetstream", false,
		"with --url and --run: read from JetStream, without the coordinator")
	connect.CoordinatorFlag(cmd, &l.key)
}

// open returns the records that the flags name.
func (l *logChoice) open(ctx context.Context) (source.Source, error) {
	switch {
	case l.store != "" && l.URL != "":
		return nil, cli.Usage(errors.New("--store and --url name two logs: give only one"))
	case l.key != "" && (l.store != "" || l.jetstream):
		return nil, cli.Usage(errors.New("--coordinator: a log at rest has no signature: give --url " +
			"and --run, to ask the coordinator, and compare the hash of the last record"))
	case l.store != "" && (l.run != "" || l.jetstream || l.Named()):
		return nil, cli.Usage(fmt.Errorf("--store %s: a directory has one log, and no broker: leave "+
			"out --run, --jetstream, and the flags of a connection", l.store))
	case l.store != "":
		log, err := logkind.OpenToRead(ctx, logkind.Spec{Place: l.store})
		if err != nil {
			return nil, err
		}
		l.log = log
		return showing(source.Stored(log, nil), log.Last()), nil
	case l.URL == "" || l.run == "":
		return nil, cli.Usage(errNoLog)
	}
	if err := cli.CheckRun(l.run); err != nil {
		return nil, err
	}
	keys, err := l.Coordinator(l.key)
	if err != nil {
		return nil, err
	}
	role := grant.Operator
	if l.jetstream {
		role = grant.Coordinator
	}
	nc, err := l.Dial("zofl", connect.InboxOf(role, l.run))
	if err != nil {
		return nil, err
	}
	if !l.jetstream {
		return showing(source.Live(nc, l.run, grant.OperatorID, keys), 0), nil
	}
	log, err := logkind.OpenToRead(ctx, logkind.Spec{Place: logkind.JetStream, Conn: nc, Run: l.run})
	if err != nil {
		nc.Close()
		return nil, err
	}
	l.log = log
	return showing(source.Stored(log, nc.Close), log.Last()), nil
}

// replayFlags adds the flags of a command that computes the model.
func (l *logChoice) replayFlags(cmd *cobra.Command) {
	l.flags(cmd)
	l.initial.Flags(cmd)
	cli.SecretFlag(cmd, &l.secret)
}

// model returns what the flags say about the model beyond the records.
func (l *logChoice) model(ctx context.Context) (cfg replica.Config, err error) {
	if cfg.Initial, err = l.initial.Read(); err == nil {
		cfg.RunKey, err = cli.ReadSecret(ctx, l.secret)
	}
	return cfg, err
}

// needed returns an error if a flag names what the model of a plan does not have.
func (l *logChoice) needed(p *plan.Plan) error {
	switch {
	case l.secret != "" && !p.Private():
		return cli.Usage(fmt.Errorf("--secret %s: run %s is not private, and has no run key to give: "+
			"leave it out", l.secret, p.Run))
	case l.initial.File != "" && p.Initial != plan.Given:
		return cli.Usage(fmt.Errorf("--initial %s: the parameters of run %s start where its plan says: "+
			"leave it out", l.initial.File, p.Run))
	}
	return nil
}
