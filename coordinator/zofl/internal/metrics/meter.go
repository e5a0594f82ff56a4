package metrics

import (
	"net/http"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/version"
)

// A Meter has the Prometheus metrics of one run. It is a [report.Recorder] that counts events. At
// each scrape it reads all other values from the coordinator and from the history. Any goroutine
// may call the methods of a Meter.
type Meter struct {
	history  *history.History
	registry *prometheus.Registry

	seconds     *prometheus.HistogramVec
	rounds      *prometheus.CounterVec
	evaluations *prometheus.CounterVec
	events      *prometheus.CounterVec

	mu   sync.Mutex // guards what follows
	run  history.Run
	name string
}

// buckets are the histogram's bounds for the seconds of a round. Rounds on one machine take
// milliseconds, rounds with phones take minutes.
var buckets = []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10, 30, 100, 300, 1000, 3000}

// New returns the metrics of the run whose rounds a history keeps. Until [Meter.Lead] is called,
// there are only the metrics of the process.
func New(h *history.History) *Meter {
	m := &Meter{history: h, registry: prometheus.NewRegistry()}
	of := []string{"run"}
	m.seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "zofl_round_duration_seconds", Buckets: buckets,
		Help: "Time from the first announcement of a round to its record."}, of)
	m.rounds = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "zofl_rounds_total", Help: "Rounds committed by this process."}, of)
	m.evaluations = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "zofl_evaluations_total", Help: "Evaluations that this process completed."}, of)
	m.events = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "zofl_events_total", Help: "Events of the run in this process, by kind."},
		[]string{"run", "event"})
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "zofl_build_info", Help: "1, with the version of the program.",
		ConstLabels: prometheus.Labels{"version": version.String()},
	}, func() float64 { return 1 })
	m.registry.MustRegister(m.seconds, m.rounds, m.evaluations, m.events, build, state{m},
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler returns the handler that Prometheus scrapes, in its text format or OpenMetrics.
func (m *Meter) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		EnableOpenMetrics: true, MaxRequestsInFlight: 4, ErrorHandling: promhttp.ContinueOnError})
}

// Lead says which coordinator leads the run from now on.
func (m *Meter) Lead(r history.Run) {
	status := r.Status()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.run, m.name = r, status.Run
	m.rounds.WithLabelValues(m.name) // 0 before the first
	m.evaluations.WithLabelValues(m.name)
	m.seconds.WithLabelValues(m.name)
}

// Record implements [report.Recorder]. Record never fails.
func (m *Meter) Record(e report.Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.run == nil {
		return nil
	}
	m.events.WithLabelValues(m.name, label(e.Kind.String())).Inc()
	switch e.Kind {
	case report.RoundDone:
		m.seconds.WithLabelValues(m.name).Observe(e.Seconds)
		m.rounds.WithLabelValues(m.name).Inc()
	case report.Evaluated:
		m.evaluations.WithLabelValues(m.name).Inc()
	}
	return nil
}

// label turns words into the value of a label: it replaces spaces and hyphens by underscores.
func label(words string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(words)
}
