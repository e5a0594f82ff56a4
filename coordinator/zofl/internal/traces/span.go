package traces

import (
	"crypto/rand"
	"math"
	"time"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"github.com/zofl/zofl/coordinator/report"
)

// A maker turns events into spans. Each round, pause and survey is a trace of its own. A round of
// two phases has a child span for each phase.
type maker struct {
	phase  *trace.Span // the first of a round that is under way
	paused time.Time   // zero: the run is not paused
	reason string
}

// of returns the spans that end with an event.
func (m *maker) of(e *report.Event, now time.Time) []*trace.Span {
	switch e.Kind {
	case report.PhaseDone:
		m.phase = span("phase 1", now, e.Seconds, roundAttributes(e))
		m.phase.ParentSpanId = id(8)
		return []*trace.Span{m.phase}
	case report.RoundDone:
		return m.round(e, now)
	case report.Surveyed:
		return []*trace.Span{span("survey", now, e.Seconds, []*common.KeyValue{
			number("zofl.record", e.N), text("zofl.survey", e.Survey.Kind),
			number("zofl.devices.contributors", uint64(e.Contributors))})}
	case report.RunPaused:
		if m.paused.IsZero() {
			m.paused, m.reason = now, e.Reason
		}
	case report.RunResumed, report.RunEnded:
		return m.pause(e, now)
	}
	return nil
}

func (m *maker) round(e *report.Event, now time.Time) []*trace.Span {
	root := span("round", now, e.Seconds, roundAttributes(e))
	if m.phase == nil {
		return []*trace.Span{root}
	}
	second := span("phase 2", now, e.Seconds, nil)
	root.TraceId, root.SpanId = m.phase.TraceId, m.phase.ParentSpanId
	root.StartTimeUnixNano = m.phase.StartTimeUnixNano
	second.TraceId, second.ParentSpanId = root.TraceId, root.SpanId
	m.phase = nil
	return []*trace.Span{root, second}
}

func (m *maker) pause(e *report.Event, now time.Time) []*trace.Span {
	if m.paused.IsZero() {
		return nil
	}
	s := span("pause", now, now.Sub(m.paused).Seconds(), []*common.KeyValue{
		number("zofl.record", e.N), text("zofl.reason", m.reason)})
	m.paused = time.Time{}
	return []*trace.Span{s}
}

// span returns a span that took the given seconds and ends now, in a trace of its own.
func span(name string, now time.Time, seconds float64, attributes []*common.KeyValue) *trace.Span {
	began := now.Add(-time.Duration(seconds * float64(time.Second)))
	return &trace.Span{
		TraceId: id(16), SpanId: id(8), Name: name, Kind: trace.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: uint64(began.UnixNano()), EndTimeUnixNano: uint64(now.UnixNano()),
		Attributes: attributes,
	}
}

// id returns a random id with the given number of bytes.
func id(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails
	return b
}

func roundAttributes(e *report.Event) []*common.KeyValue {
	list := []*common.KeyValue{
		number("zofl.record", e.N), number("zofl.round", e.Round),
		number("zofl.attempts", uint64(e.Attempt)+1),
		number("zofl.devices.asked", uint64(e.Asked)),
		number("zofl.devices.contributors", uint64(e.Contributors)),
		number("zofl.devices.declines", uint64(e.Declines)),
		number("zofl.devices.late", uint64(e.Late)),
		number("zofl.perturbations", uint64(e.Perturbations)),
		real("zofl.step", e.Step), real("zofl.round_step", e.RoundStep),
	}
	if loss := float64(e.Loss); !math.IsNaN(loss) && !math.IsInf(loss, 0) {
		list = append(list, real("zofl.loss", e.Loss))
	}
	return list
}

func number(key string, v uint64) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{
		Value: &common.AnyValue_IntValue{IntValue: int64(v)}}}
}

func real(key string, v float32) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{
		Value: &common.AnyValue_DoubleValue{DoubleValue: float64(v)}}}
}

func text(key, v string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{
		Value: &common.AnyValue_StringValue{StringValue: v}}}
}
