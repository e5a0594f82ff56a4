package serve

import (
	"context"
	"log/slog"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/modelfile"
	"github.com/zofl/zofl/coordinator/zofl/internal/offer"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/plan"
)

// offerFlags hold the file of the model that serve offers.
type offerFlags struct {
	file  string
	train []string // patterns of the names of its tensors that are the parameters
}

func (o *offerFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.file, "offer", "",
		"model file that the run begins with: devices may fetch it (--fetch)")
	f.StringSliceVar(&o.train, "train", nil,
		"with --offer: which of its tensors are trained, as in zofl plan")
}

// check returns an error unless the run of a plan begins with the file.
func (o *offerFlags) check(p *plan.Plan) error {
	if o.file == "" {
		return nil
	}
	return modelfile.CheckOffered(o.file, o.train, p)
}

// offerModel lets devices fetch the file of --offer, until withdraw is called. Without a PLAN,
// offerModel first compares the file with the plan of the log.
func (f *serveFlags) offerModel(ctx context.Context, log runlog.Log, nc *nats.Conn,
	logger *slog.Logger) (withdraw func(), err error) {
	if f.offer.file == "" {
		return func() {}, nil
	}
	if f.plan == nil {
		plan, err := source.PlanOf(ctx, source.Stored(log, nil))
		if err == nil {
			err = f.offer.check(plan)
		}
		if err != nil {
			return nil, cli.Classify(err)
		}
	}
	file, err := offer.Open(f.offer.file, logger)
	if err != nil {
		return nil, cli.FileFault("--offer", f.offer.file, err)
	}
	stop, err := file.Serve(nc, f.run)
	if err != nil {
		return nil, err
	}
	logger.Info("offering the model", "file", f.offer.file, "sha256", file.SHA256)
	return func() {
		if err := stop(); err != nil {
			logger.Warn("offering the model", "err", err)
		}
	}, nil
}
