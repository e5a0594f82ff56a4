package logs

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/wire"
)

// best returns the record with the run's best model, or nil if none is known: from the log's
// decisions, or from the coordinator. src is what open returned.
func (l *logChoice) best(ctx context.Context, src source.Source) (*report.Best, error) {
	if l.log == nil {
		return l.told(ctx)
	}
	d, err := runlog.DecisionsOf(ctx, l.log)
	if err != nil || d.Best == nil {
		return nil, err
	}
	at, err := source.Check(ctx, src, 0)
	if err != nil || !d.Best.Of(&at.Plan) {
		return nil, err
	}
	tips := map[uint64]wire.Tip{}
	for _, r := range d.Best.Records {
		err := src.Read(ctx, max(r.Record.N, at.Begins+1), func(n uint64, record []byte) bool {
			tips[n] = wire.HashRecord(record).Tip()
			return false
		})
		if err != nil {
			return nil, err
		}
	}
	d.Best.Check(at, func(n uint64) (wire.Tip, bool) {
		tip, ok := tips[n]
		return tip, ok
	})
	return report.BestOf(d.Best), nil
}

// told asks the coordinator.
func (l *logChoice) told(ctx context.Context) (*report.Best, error) {
	nc, err := l.dial("zofl")
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(ctx, connect.AskWithin)
	defer cancel()
	s, err := operate.Ask(ctx, nc, l.run, operate.VerbStatus, operate.Request{})
	if err != nil {
		return nil, err
	}
	return s.Best, nil
}

// bestOf returns the number of the record with the best model. The error says why there is none.
func (l *logChoice) bestOf(ctx context.Context) (uint64, error) {
	src, err := l.open(ctx)
	if err != nil {
		return 0, err
	}
	defer src.Close()
	b, err := l.best(ctx, src)
	if err != nil {
		return 0, cli.Classify(err)
	}
	if b != nil {
		return b.N, nil
	}
	p, err := source.PlanOf(ctx, src)
	if err != nil {
		return 0, cli.Classify(err)
	}
	return 0, cli.Usage(noBest(p.Run, p.Best))
}

// noBest says why a run has no best model. best is the field of its plan.
func noBest(run, best string) error {
	if best == "" {
		return fmt.Errorf("--best: the plan of run %s does not say what is best: make it with "+
			"`zofl plan --best METRIC`, or for a run that goes on `zofl change best=METRIC`; --at "+
			"names a record", run)
	}
	return fmt.Errorf("--best: no evaluation of run %s has counted yet: devices send %s only if "+
		"their objectives evaluate it; --at names a record", run, best)
}

var errBestAt = errors.New("--best and --at: both say which record: give only one")
