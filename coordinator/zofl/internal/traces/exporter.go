package traces

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/version"
)

const (
	queued     = 2048        // spans that wait; more are dropped
	mostSpans  = 512         // in a request
	gather     = time.Second // how long spans are gathered for a request
	sendWithin = 5 * time.Second
	// HeadersVariable names the environment variable with headers for the collector,
	// "name=value,name=value". OpenTelemetry's own exporters read the same variable.
	HeadersVariable = "OTEL_EXPORTER_OTLP_HEADERS"
)

// Check returns why spans cannot be sent to an address.
func Check(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return fmt.Errorf("%q: give the address of a collector's OTLP over HTTP, such as "+
			"http://127.0.0.1:4318, and what is secret in %s", endpoint, HeadersVariable)
	}
	return nil
}

// An Exporter is a [report.Recorder] that sends spans. An Exporter never makes a run wait for the
// collector, and no error of it ends a run.
type Exporter struct {
	url     string
	headers http.Header
	run     string
	logger  *slog.Logger
	client  http.Client

	maker maker // of who records
	queue chan *trace.Span
	done  chan struct{}

	failed bool // of the goroutine that sends: the last request was lost, and that was logged
}

var _ report.Recorder = (*Exporter)(nil)

// Start starts to send the spans of a run to an address for which [Check] returns no error.
func Start(endpoint, run string, logger *slog.Logger) *Exporter {
	if u, err := url.Parse(endpoint); err == nil && strings.Trim(u.Path, "/") == "" {
		endpoint = u.JoinPath("v1/traces").String()
	}
	x := &Exporter{url: endpoint, headers: headers(os.Getenv(HeadersVariable)), run: run,
		logger: logger, client: http.Client{Timeout: sendWithin},
		queue: make(chan *trace.Span, queued), done: make(chan struct{})}
	go x.work()
	return x
}

// headers reads "name=value,name=value". The values may have escapes as in a URL.
func headers(list string) http.Header {
	h := http.Header{"Content-Type": {"application/x-protobuf"}}
	for pair := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if text, err := url.PathUnescape(strings.TrimSpace(value)); ok && err == nil {
			h.Set(strings.TrimSpace(name), text)
		}
	}
	return h
}

// Record implements [report.Recorder]. Record never fails, and drops spans when the queue is full.
func (x *Exporter) Record(e report.Event) error {
	for _, s := range x.maker.of(&e, time.Now()) {
		select {
		case x.queue <- s:
		default:
		}
	}
	return nil
}

// Close sends the queued spans, unless that takes too long. The caller must not call Record after
// Close.
func (x *Exporter) Close() {
	close(x.queue)
	<-x.done
}

// work sends spans until the queue is closed and empty. After the queue is closed, work also ends
// when a request fails.
func (x *Exporter) work() {
	defer close(x.done)
	for s := range x.queue {
		batch, closed := x.batch(s)
		x.report(x.send(batch))
		if closed && x.failed {
			return
		}
	}
}

// batch returns a span and the spans that come soon after it.
func (x *Exporter) batch(first *trace.Span) (batch []*trace.Span, closed bool) {
	batch = []*trace.Span{first}
	t := time.NewTimer(gather)
	defer t.Stop()
	for len(batch) < mostSpans {
		select {
		case s, ok := <-x.queue:
			if !ok {
				return batch, true
			}
			batch = append(batch, s)
		case <-t.C:
			return batch, false
		}
	}
	return batch, false
}

// report logs an error, unless the request before failed too.
func (x *Exporter) report(err error) {
	if err != nil && !x.failed {
		x.logger.Warn("traces are lost; the run goes on", "err", err)
	}
	x.failed = err != nil
}

func (x *Exporter) send(batch []*trace.Span) error {
	body, err := proto.Marshal(&trace.TracesData{ResourceSpans: []*trace.ResourceSpans{{
		Resource: &resource.Resource{Attributes: []*common.KeyValue{text("service.name", "zofl"),
			text("service.version", version.String()), text("zofl.run", x.run)}},
		ScopeSpans: []*trace.ScopeSpans{{
			Scope: &common.InstrumentationScope{Name: "github.com/zofl/zofl"}, Spans: batch}},
	}}})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, x.url,
		bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = x.headers
	answer, err := x.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16))
	if answer.StatusCode/100 != 2 {
		return errors.New("the collector answers " + answer.Status)
	}
	return nil
}
