// Package serve has the command that leads a run: it runs the coordinator, and starts a broker if
// --url names none.
package serve

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/enrol"
	"github.com/zofl/zofl/coordinator/zofl/internal/traces"
	"github.com/zofl/zofl/plan"
)

// serveFlags are the flags of `zofl serve`.
type serveFlags struct {
	connect.Connection
	store, listen, run string
	jetstream          bool
	replicas           int
	leaseTTL           time.Duration
	maxBytes           cli.ByteCount // of each stream
	witnesses          []string
	linger             time.Duration
	acceptLoss         uint64
	allow              string
	tags               []string
	joinRate           float64
	beginAnew          bool
	asJSON, quiet      bool
	logFormat          cli.LogFormat
	plan               *plan.Plan // nil: continue the run in the log
	best               cli.BestFlags
	sync               syncCheck
	guard              guard
	web                web
	http               httpFlags
	attached           bool
	dense              bool // the run's transport
	secure             bool // the run has secure aggregation
	keyFile            string
	offer              offerFlags
	alerts             alertFlags
	traces             string             // address of a collector, "" for none
	private            ed25519.PrivateKey // signs; nil: nothing is signed
	doorman            *enrol.Guard       // of the broker of --auth; nil without
}

// Command is `zofl serve`.
func Command() *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve [PLAN]",
		Short: "Run the coordinator of a run",
		Long: `Leads the run of the plan file PLAN, or continues the run in the log. Without --url it
starts a broker. After a crash start the same command again: committed records survive.`,
		Example: `  zofl serve kitchen.json --store kitchen.log`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(cmd); err != nil {
				return err
			}
			if err := f.read(cmd.Context(), args); err != nil {
				return cli.Stopped(cmd.Context(), err)
			}
			if f.attached {
				attach(cmd)
			}
			return cli.Stopped(cmd.Context(), f.serve(cmd))
		},
	}
	f.Connection.Flags(cmd)
	f.sync.flags(cmd)
	f.guard.flags(cmd)
	f.web.flags(cmd)
	f.http.flags(cmd)
	f.offer.flags(cmd)
	f.alerts.flags(cmd)
	f.best.Flags(cmd)
	fs := cmd.Flags()
	fs.StringVar(&f.store, "store", "",
		"directory of the log, and of JetStream where serve starts the broker")
	fs.StringVar(&f.listen, "listen", "127.0.0.1:4222", "address of the broker that serve starts")
	fs.StringVar(&f.run, "run", "",
		"with --jetstream: name of the run, to continue it without its PLAN")
	fs.BoolVar(&f.jetstream, "jetstream", false, "keep the log in the broker's JetStream")
	fs.IntVar(&f.replicas, "replicas", 1, "servers that store the log: 1, 3 or 5")
	fs.DurationVar(&f.leaseTTL, "lease", 10*time.Second,
		"how long a silent coordinator stays the leader")
	fs.Var(&f.maxBytes, "max-bytes",
		"most bytes of each stream of a new run, such as 64MiB; default: any")
	fs.Lookup("max-bytes").DefValue = ""
	fs.StringArrayVar(&f.witnesses, "witness", nil,
		"id of a witness whose digests are right; repeatable")
	fs.DurationVar(&f.linger, "linger", -1,
		"how long to serve late devices after the end; default: until stopped")
	fs.Lookup("linger").DefValue = "0s" // help prints no default of zero, but would print -1ns
	fs.Uint64Var(&f.acceptLoss, "accept-loss", 0,
		"go on though so many records at the log's end are lost for good")
	fs.StringVar(&f.allow, "allow", "", "file of the ids that may join, one a line; may change")
	fs.StringArrayVar(&f.tags, "tag", nil,
		"word about the run, such as rate=0.1, for lists of runs; repeatable")
	fs.Float64Var(&f.joinRate, "join-rate", 0,
		"new ids a second, after the first thousands; 0: 100, negative: all")
	fs.BoolVar(&f.beginAnew, "begin-anew", false,
		"begin where records are lost: set aside what is left of the log")
	fs.StringVar(&f.keyFile, "key", "", "file of the key that signs messages, made at first use")
	fs.BoolVar(&f.attached, "attached", false, "end when standard input ends")
	fs.StringVar(&f.traces, "traces", "",
		"`URL` of an OpenTelemetry collector that gets a span of each round")
	JetStream.Mark(fs, jetStreamFlags...)
	Broker.Mark(fs, brokerFlags...)
	f.logFormat.Flag(cmd)
	fs.BoolVar(&f.quiet, "quiet", false, "print warnings and errors only")
	fs.BoolVar(&f.asJSON, "json", false, "print events as JSON, one object per line")
	return cmd
}

// read checks the flags and reads the plan.
func (f *serveFlags) read(ctx context.Context, args []string) error {
	switch {
	case len(args) > 1:
		return cli.Usage(fmt.Errorf("%d files: name one PLAN", len(args)))
	case f.jetstream && f.leaseTTL < time.Second:
		return cli.Usage(fmt.Errorf("--lease %v: give 1s or more", f.leaseTTL))
	case f.jetstream && f.replicas != 1 && f.replicas != 3 && f.replicas != 5:
		return cli.Usage(fmt.Errorf("--replicas %d: choose 1, 3 or 5", f.replicas))
	case !f.jetstream && f.store == "":
		return cli.Usage(errors.New("--store is missing: give a directory for the log, or --jetstream"))
	case f.URL == "" && f.jetstream && f.store == "":
		return cli.Usage(errors.New("--store is missing: " +
			"the broker that serve starts keeps its JetStream there"))
	case f.URL == "" && f.replicas != 1:
		return cli.Usage(fmt.Errorf("--replicas %d: the broker that serve starts is one server: "+
			"give --url of a cluster", f.replicas))
	}
	if f.URL == "" {
		err := f.guard.check(f.listen)
		if err == nil {
			err = f.web.check(f.guard, f.listen)
		}
		if err != nil {
			return cli.Usage(err)
		}
	}
	if err := f.http.check(f.guard); err != nil {
		return cli.Usage(err)
	}
	if err := checkTags(f.tags); err != nil {
		return cli.Usage(err)
	}
	if f.traces != "" {
		if err := traces.Check(f.traces); err != nil {
			return cli.Usage(fmt.Errorf("--traces %w", err))
		}
	}
	if len(args) == 1 {
		var err error
		if f.plan, err = cli.ReadPlan(ctx, args[0]); err != nil {
			return err
		}
		if f.run != "" && f.run != f.plan.Run {
			return cli.Usage(fmt.Errorf("--run %s: %s is the plan of run %s: leave out --run",
				f.run, args[0], f.plan.Run))
		}
		if err := f.offer.check(f.plan); err != nil {
			return err
		}
		if err := f.best.Set(f.plan); err != nil {
			return cli.AsUsage(err)
		}
		f.run, f.dense, f.secure = f.plan.Run, f.plan.SendsVectors(), f.plan.Summed()
	}
	if len(args) == 0 && len(f.best.Settings()) > 0 {
		return cli.Usage(errors.New("--best and --patience: the run in the log has its plan: change " +
			"that with `zofl change`, or give the PLAN of a new run"))
	}
	if f.jetstream && f.run == "" {
		return cli.Usage(errors.New("--run is missing: give the name of the run, or its PLAN"))
	}
	return nil
}
