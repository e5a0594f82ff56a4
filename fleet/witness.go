package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
)

// A witness replays the log to compute the model and its metrics. A witness is not a client: it
// reads each record from the log as soon as the log holds the record.
type witness struct {
	config  replica.Config
	replica *replica.Replica
	log     *runlog.Memory
	epoch   uint64 // of the last record
}

func (w *witness) begin(p *plan.Plan, o *Options, log *runlog.Memory) {
	w.log = log
	w.config = replica.Config{Run: p.Run, Initial: o.Initial, RunKey: o.RunKey}
	w.replica = replica.New(w.config)
}

// catchUp applies the log's new records, and the vectors that the state after them needs.
func (w *witness) catchUp(ctx context.Context) error {
	var failed error
	err := w.log.Read(ctx, w.replica.N()+1, func(_ uint64, record []byte) bool {
		if failed = w.replica.Apply(record); failed == nil {
			w.epoch = w.replica.Epoch()
		}
		return failed == nil
	})
	if errors.Is(failed, replica.ErrRollback) {
		failed = w.replay(ctx)
	}
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	for _, o := range w.replica.Missing() {
		data, err := w.log.Object(ctx, runlog.ObjectName{N: o.N, Epoch: w.epoch, Digest: o.Digest})
		if err == nil {
			err = w.replica.Supply(o.Digest, data)
		}
		if err != nil {
			return fmt.Errorf("vector of record %d: %w", o.N, err)
		}
	}
	return nil
}

// replay computes the model anew, from the records that no rollback has undone.
func (w *witness) replay(ctx context.Context) error {
	var records [][]byte
	at, err := runlog.Replay(ctx, w.log, w.log.Last(), func(record []byte) {
		records = append(records, slices.Clone(record))
	})
	if err != nil {
		return err
	}
	w.replica = replica.New(w.config)
	for i, counts := range at.Path() {
		next := w.replica.Skip
		if counts {
			next = w.replica.Apply
		}
		if err := next(records[i]); err != nil {
			return err
		}
	}
	w.epoch = w.replica.Epoch()
	return nil
}

// evaluate measures the model's metrics after record n, if the plan asks for that. If a metric ends
// the run, stop says why.
func (r *run) evaluate(n uint64, last bool) (stop string, err error) {
	p := r.original
	if p.EvalEvery == 0 || n%uint64(p.EvalEvery) > 0 && !last {
		return "", nil
	}
	ctx := context.Background()
	if err := r.witness.catchUp(ctx); err != nil {
		return "", err
	}
	r.round.Metrics, r.round.Evaluators = r.metrics(ctx, slices.Clone(r.witness.replica.Params()))
	i := slices.Index(p.Metrics, p.StopMetric)
	if i < 0 || r.round.Metrics == nil {
		return "", nil
	}
	value, limit := r.round.Metrics[i], float64(p.StopValue)
	if p.StopWhen == plan.Above && value > limit || p.StopWhen == plan.Below && value < limit {
		return fmt.Sprintf("%s is %v, %v %v", p.StopMetric, value, p.StopWhen, p.StopValue), nil
	}
	return "", nil
}

// metrics returns the weighted means of the metrics of eval_count devices, or nil if no device can
// measure, and how many devices measured them. metrics leaves out a device whose evaluation fails,
// as a live run does.
func (r *run) metrics(ctx context.Context, x []float32) (means []float64, devices uint32) {
	asked, total, names := r.original.EvalCount, 0.0, r.original.Metrics
	for d, o := range r.objectives {
		evaluator, ok := o.(objective.Evaluator)
		if !ok || asked == 0 {
			continue
		}
		asked--
		values, samples, err := measured(ctx, evaluator, x, names)
		if err != nil {
			r.result.Devices[d].Unmeasured = err
			continue
		}
		if means == nil {
			means = make([]float64, len(names))
		}
		for i, v := range values {
			means[i] += float64(v * float64(samples))
		}
		total += float64(samples)
		devices++
	}
	for i := range means {
		means[i] /= total
	}
	return means, devices
}

// measured lets a device measure the model. The error says why the measurement does not count.
func measured(ctx context.Context, e objective.Evaluator, x []float32, names []string) (
	values []float64, samples int, err error) {
	values, samples, err = e.Evaluate(ctx, x)
	if err == nil && (len(values) != len(names) || samples < 1) {
		err = fmt.Errorf("Evaluate returned %d values and %d samples: return one value for each "+
			"metric of the plan, %v, and at least one sample", len(values), samples, names)
	}
	for i := range values {
		if err == nil && !(math.Abs(values[i]) <= math.MaxFloat32) {
			err = fmt.Errorf("%s is %v", names[i], values[i])
		}
	}
	return values, samples, err
}

// agree returns an error unless the state of every device equals the state that the log gives.
func (r *run) agree() error {
	if err := r.witness.catchUp(context.Background()); err != nil {
		return err
	}
	want, digest := r.witness.replica.N(), r.witness.replica.Digest()
	for i, c := range r.clients {
		if n, d := c.Digest(); n != want || d != digest {
			return fmt.Errorf("device %d holds %x after record %d, the log says %x after %d: "+
				"please report this", i, d[:8], n, digest[:8], want)
		}
	}
	return nil
}

// finish completes the result.
func (r *run) finish(ctx context.Context) error {
	err := r.witness.catchUp(context.WithoutCancel(ctx))
	r.result.Params = r.starts.model(slices.Clone(r.witness.replica.Params()))
	if p := r.witness.replica.Plan(); p != nil {
		ran := *p
		r.result.Plan = &ran
	}
	r.result.Traffic = r.gate.Totals()
	for _, d := range r.result.Devices {
		r.result.Queries += d.Queries
		r.result.Gradients += d.Gradients
	}
	return err
}
