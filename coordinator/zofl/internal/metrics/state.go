package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
)

// A state collects, at each scrape, the numbers of the coordinator and the history.
type state struct{ m *Meter }

// Names of metrics. Each metric has the label run.
var (
	inState = describe("state", "1 for the state that the coordinator is in, 0 for the others.",
		"state")
	lastRecord = describe("records", "Records in the log.")
	lastRound  = describe("round", "Number of the last round. A rollback takes it back.")
	epoch      = describe("epoch", "Epoch of the coordinator.")
	members    = describe("members", "Members; on an open roster, an estimate of the devices.")
	present    = describe("present_members", "Members that a round waits for.")
	loss       = describe("loss", "Mean training loss of the last round's contributors.")
	metric     = describe("evaluation_metric", "Mean over devices in the last evaluation, by name.",
		"metric")
	evaluators    = describe("evaluation_devices", "Devices that answered the last evaluation.")
	contributors  = describe("round_contributors", "Devices in the last round.")
	asked         = describe("round_asked_devices", "Devices that the last round asked; 0: unknown.")
	late          = describe("round_late_contributors", "Of the last round's, those to earlier ones.")
	declines      = describe("round_declines", "Devices that declined the last round.")
	step          = describe("step", "The plan's step; 0: devices have not found it.")
	roundStep     = describe("round_step", "Step of the last round, which follows from the plan's.")
	perturbations = describe("perturbations", "Directions of the last round.")
	epsilon       = describe("privacy_epsilon",
		"Epsilon that the log has spent of a device's privacy.")
	replies       = describe("replies_total", "Messages of devices, by what became of them.", "result")
	turnedAway    = describe("turned_away_total", "Messages dropped without a look, by kind.", "kind")
	joins         = describe("joins_total", "Requests to join that were answered.")
	catchUps      = describe("catch_ups_total", "Requests for records that were answered.")
	catchUpBytes  = describe("catch_up_bytes_total", "Bytes of these answers.")
	catchUpErrors = describe("catch_up_errors_total", "Requests for records that the log failed.")
	uploadBytes   = describe("upload_bytes_total", "Bytes of devices' vectors, accepted or not.")
	objectBytes   = describe("object_bytes_total", "Bytes of records' vectors that were sent.")
	differing     = describe("differing_devices", "Devices with another digest than the right one.")
	suspects      = describe("suspect_devices", "Members whose contributions stand out, at most 8.")
	logFails      = describe("log_failing", "1 if the log does not take a record.")
	reported      = describe("reported",
		"Numbers that the apps reported last, by name: median, min and max over devices.", "name", "of")
	deviceBytes = describe("device_round_bytes",
		"Bytes at a device's socket in a round that it takes part in, by the plan.", "direction")
	deviceQueries = describe("device_queries_total",
		"Losses that a device in every round has evaluated, by the plan.")
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("zofl_"+name, help, append([]string{"run"}, labels...), nil)
}

// Describe implements [prometheus.Collector]. Describe sends no descriptions, because the set of
// series depends on the run.
func (state) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector].
func (s state) Collect(out chan<- prometheus.Metric) {
	m := s.m
	m.mu.Lock()
	run, c := m.run, collection{run: m.name, out: out}
	m.mu.Unlock()
	if run == nil {
		return
	}
	status := run.Status()
	c.status(&status)
	c.counters(&status.Counters)
	for kind, n := range status.TurnedAway {
		c.counter(turnedAway, n, label(kind))
	}
	round, evaluated := m.history.Last()
	if round != nil {
		c.round(round)
	}
	if evaluated != nil {
		for name, x := range evaluated.Evaluation.Metrics {
			c.gauge(metric, history.OrNaN(x), name)
		}
		c.gauge(evaluators, float64(evaluated.Evaluation.Devices))
	}
	for name, r := range m.history.LastReported() {
		c.gauge(reported, r.Median, name, "median")
		c.gauge(reported, r.Min, name, "min")
		c.gauge(reported, r.Max, name, "max")
	}
}

// A collection is one scrape of a run.
type collection struct {
	run string
	out chan<- prometheus.Metric
}

func (c *collection) gauge(d *prometheus.Desc, x float64, labels ...string) {
	c.send(d, prometheus.GaugeValue, x, labels)
}

func (c *collection) counter(d *prometheus.Desc, n uint64, labels ...string) {
	c.send(d, prometheus.CounterValue, float64(n), labels)
}

func (c *collection) send(d *prometheus.Desc, kind prometheus.ValueType, x float64,
	labels []string) {
	m, err := prometheus.NewConstMetric(d, kind, x, append([]string{c.run}, labels...)...)
	if err != nil { // a name that is not UTF-8
		m = prometheus.NewInvalidMetric(d, err)
	}
	c.out <- m
}

func (c *collection) status(s *report.Status) {
	for st := report.Waiting; st <= report.Deposed; st++ {
		c.gauge(inState, one(s.State == st), st.String())
	}
	c.gauge(lastRecord, float64(s.N))
	c.gauge(lastRound, float64(s.Rounds))
	c.gauge(epoch, float64(s.Epoch))
	c.gauge(members, float64(s.Members))
	c.gauge(present, float64(s.Present))
	c.gauge(suspects, float64(len(s.Suspects)))
	c.gauge(logFails, one(s.LogError != ""))
	if s.Privacy != nil {
		c.gauge(epsilon, s.Privacy.Epsilon)
	}
	differ := uint32(0)
	for _, d := range s.Digests {
		differ = max(differ, d.Differing)
	}
	c.gauge(differing, float64(differ))
}

func (c *collection) round(p *history.Point) {
	c.gauge(loss, history.OrNaN(p.Loss))
	c.gauge(contributors, float64(p.Contributors))
	c.gauge(asked, float64(p.Asked))
	c.gauge(late, float64(p.Late))
	c.gauge(declines, float64(p.Declines))
	c.gauge(step, float64(p.Step))
	c.gauge(roundStep, float64(p.RoundStep))
	c.gauge(perturbations, float64(p.Perturbations))
	c.gauge(deviceBytes, float64(p.BytesUp), "up")
	c.gauge(deviceBytes, float64(p.BytesDown), "down")
	c.counter(deviceQueries, p.Queries)
}

func (c *collection) counters(n *report.Counters) {
	for _, r := range []report.Drop{{Cause: "contribution", Count: n.Contributions},
		{Cause: "evaluation", Count: n.Evaluations}, {Cause: "decline", Count: n.Declines},
		{Cause: "digest", Count: n.Digests}, {Cause: "goodbye", Count: n.Goodbyes},
		{Cause: "repeated", Count: n.Repeated}} {
		c.counter(replies, r.Count, r.Cause)
	}
	for _, d := range n.Drops() {
		c.counter(replies, d.Count, label(d.Cause))
	}
	c.counter(joins, n.Joins)
	c.counter(catchUps, n.CatchUps)
	c.counter(catchUpBytes, n.CatchUpBytes)
	c.counter(catchUpErrors, n.CatchUpErrors)
	c.counter(uploadBytes, n.UploadBytes)
	c.counter(objectBytes, n.ObjectBytes)
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
