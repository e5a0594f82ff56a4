package run

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// behind is the number of rounds by which the watch may lag behind the fleet before the fleet
// waits. The number is large, because a measurement takes as long as many rounds.
const behind = 256

// A watch applies the records of the log to a replica of its own, and measures the model of that
// replica. Clients do not measure, because a client declines rounds while it measures.
//
// Invariant: curve has a point for each round up to its last round, and the file rows has the
// same points.
type watch struct {
	cfg     *Config
	log     runlog.Log
	replica *replica.Replica
	curve   *Curve
	rows    io.Writer // nil: rows are not saved
	rounds  chan Point
	work    work // of the applied records
}

func newWatch(cfg *Config, log runlog.Log, curve *Curve, rows io.Writer) *watch {
	return &watch{
		cfg: cfg, log: log, curve: curve, rows: rows, rounds: make(chan Point, behind),
		replica: replica.New(replica.Config{Run: cfg.Plan.Run, RunKey: cfg.Secret,
			Workers: 2}), work: newWork(cfg),
	}
}

// catchUp replays the records that the log has already. For rounds that an earlier process did
// not save, catchUp adds points without the values that only the earlier process knew.
func (w *watch) catchUp(ctx context.Context) error {
	return w.read(ctx, math.MaxUint64, func(r *wire.Record) error {
		if r.Kind != wire.KindRound || r.Round.Phase == 1 {
			return nil
		}
		if at, kept := w.curve.find(r.Round.Round); kept {
			w.work.count(&w.curve.Points[at])
			return nil
		}
		p := Point{Round: r.Round.Round, TrainLoss: math.NaN(), Seconds: math.NaN()}
		if n := len(w.curve.Points); n > 0 {
			p.Bytes = w.curve.Points[n-1].Bytes
		}
		return w.add(p)
	})
}

// follow adds the point of each round when the round is done, until the fleet makes no more
// rounds. When ctx ends, follow stops before the next measurement; [watch.catchUp] makes this
// measurement in the next process.
func (w *watch) follow(ctx context.Context) error {
	nothing := func(*wire.Record) error { return nil }
	all := context.WithoutCancel(ctx)
	for p := range w.rounds {
		if ctx.Err() != nil && w.due(p.Round) {
			return context.Cause(ctx)
		}
		if err := w.read(all, p.Round, nothing); err != nil {
			return err
		}
		if err := w.add(p); err != nil {
			return err
		}
	}
	return w.read(all, math.MaxUint64, nothing) // the end
}

func (w *watch) due(round uint64) bool {
	return w.cfg.Task.Measure != nil && w.cfg.Measure != nil && w.cfg.Measure(round)
}

// read applies records up to the record of a round, and calls f after each.
func (w *watch) read(ctx context.Context, round uint64, f func(*wire.Record) error) error {
	if w.replica.Rounds() >= round {
		return nil
	}
	var failed error
	err := w.log.Read(ctx, w.replica.N()+1, func(n uint64, record []byte) bool {
		r, err := wire.DecodeRecord(record)
		if err == nil {
			err = w.replica.Apply(record)
		}
		if err == nil {
			err = w.supply(ctx, r.Epoch)
		}
		if err == nil {
			w.work.add(&r)
			err = f(&r)
		}
		failed = err
		return err == nil && w.replica.Rounds() < round
	})
	err = cmp.Or(err, failed)
	if err != nil {
		return fmt.Errorf("log of run %s: %w", w.cfg.Plan.Run, err)
	}
	return nil
}

// supply gives the replica the vectors that it lacks for the record just applied, which has this
// epoch.
func (w *watch) supply(ctx context.Context, epoch uint64) error {
	for _, o := range w.replica.Missing() {
		data, err := w.log.(runlog.Objects).Object(ctx,
			runlog.ObjectName{N: o.N, Epoch: epoch, Digest: o.Digest})
		if err == nil {
			err = w.replica.Supply(o.Digest, data)
		}
		if err != nil {
			return fmt.Errorf("vector of record %d: %w: set dense_keep to all records of the run", o.N, err)
		}
	}
	return nil
}

// add measures the model if a measurement is due after the round of p, and appends p to the curve
// with the queries so far.
func (w *watch) add(p Point) error {
	w.work.count(&p)
	if w.due(p.Round) {
		p.Values = w.cfg.Task.Measure(w.replica.Params())
	}
	w.curve.Points = append(w.curve.Points, p)
	if w.cfg.Progress != nil {
		w.cfg.Progress(w.curve)
	}
	if w.rows == nil {
		return nil
	}
	c := csv.NewWriter(w.rows)
	c.Write(p.Row(len(w.curve.Metrics)))
	c.Flush()
	return c.Error()
}
