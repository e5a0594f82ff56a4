package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// TestServeTraces: a collector gets the rounds of a run that serve leads.
func TestServeTraces(t *testing.T) {
	names := make(chan string, 100)
	c := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var data trace.TracesData
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = proto.Unmarshal(body, &data)
		}
		if err != nil || len(data.ResourceSpans) != 1 {
			t.Errorf("%x: %v", body, err)
			return
		}
		for _, s := range data.ResourceSpans[0].ScopeSpans[0].Spans {
			select {
			case names <- s.Name:
			default:
			}
		}
	}))
	defer c.Close()
	k := newKitchen(t, "--traces", c.URL)
	k.startDevice("a")
	k.startDevice("b")
	for name := range names {
		if name == "round" {
			return
		}
	}
}
