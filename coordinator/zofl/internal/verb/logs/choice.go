package logs

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
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

// A place holds the flags that name the place of a run's records and its history.
type place struct {
	connect.Connection
	run, store string
	jetstream  bool
}

// flags adds the flags. store is the help text of --store.
func (l *place) flags(cmd *cobra.Command, store string) {
	l.Connection.Flags(cmd)
	f := cmd.Flags()
	f.StringVar(&l.store, "store", "", store)
	f.StringVar(&l.run, "run", "", "name of the run, with --url: read from its coordinator")
	f.BoolVar(&l.jetstream, "jetstream", false,
		"with --url and --run: read from JetStream, without the coordinator")
}

// check returns an error unless the flags name one place.
func (l *place) check() error {
	switch {
	case l.store != "" && (l.URL != "" || l.run != "" || l.jetstream || l.Named()):
		return cli.Usage(fmt.Errorf("--store %s: a directory has one log, and no broker: leave "+
			"out --url, --run, --jetstream, and the flags of a connection", l.store))
	case l.store != "":
		return nil
	case l.URL == "" || l.run == "":
		return cli.Usage(errNoLog)
	}
	return cli.CheckRun(l.run)
}

// dial connects to the broker, in the role that may read the log: coordinator for a log in
// JetStream, otherwise operator.
func (l *place) dial(name string) (*nats.Conn, error) {
	role := grant.Operator
	if l.jetstream {
		role = grant.Coordinator
	}
	return l.Dial(name, connect.InboxOf(role, l.run))
}

// A logChoice holds the flags that say which log to read.
type logChoice struct {
	place
	initial modelfile.Choice
	secret  string     // file
	key     string     // of the coordinator
	log     runlog.Log // that open opened; nil: a coordinator's
}

func (l *logChoice) flags(cmd *cobra.Command) {
	l.place.flags(cmd, "directory of the log, which no coordinator may have open")
	connect.CoordinatorFlag(cmd, &l.key)
}

// open returns the records that the flags name.
func (l *logChoice) open(ctx context.Context) (source.Source, error) {
	if l.key != "" && (l.store != "" || l.jetstream) {
		return nil, cli.Usage(errors.New("--coordinator: a log at rest has no signature: give --url " +
			"and --run, to ask the coordinator, and compare the hash of the last record"))
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	spec, end := logkind.Spec{Place: l.store}, func() {}
	if l.store == "" {
		keys, err := l.Coordinator(l.key)
		if err != nil {
			return nil, err
		}
		nc, err := l.dial("zofl")
		if err != nil {
			return nil, err
		}
		if !l.jetstream {
			return showing(source.Live(nc, l.run, grant.OperatorID, keys), 0), nil
		}
		spec, end = logkind.Spec{Place: logkind.JetStream, Conn: nc, Run: l.run}, nc.Close
	}
	log, err := logkind.OpenToRead(ctx, spec)
	if err != nil {
		end()
		return nil, err
	}
	l.log = log
	return showing(source.Stored(log, end), log.Last()), nil
}

// replayFlags adds the flags of a command that replays the log to compute the model.
func (l *logChoice) replayFlags(cmd *cobra.Command) {
	l.flags(cmd)
	l.initial.Flags(cmd)
	cli.SecretFlag(cmd, &l.secret)
}

// model returns the values of the flags about the model.
func (l *logChoice) model(ctx context.Context) (cfg replica.Config, err error) {
	if err := l.initial.Check(); err != nil {
		return cfg, err
	}
	cfg.ReadInitial = l.initial.Reader()
	cfg.RunKey, err = cli.ReadSecret(ctx, l.secret)
	return cfg, err
}

// needed returns an error if a flag names a file that the plan does not need.
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
