package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
)

// patience is the time after which a test gives up waiting.
const patience = 2 * time.Minute

// built compiles the device once for all tests.
var built = sync.OnceValues(func() (*program, error) { return build(context.Background()) })

func theProgram(t *testing.T) *program {
	t.Helper()
	if testing.Short() {
		t.Skip("the device takes a minute to compile")
	}
	p, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A buffer is written by one goroutine and read by another.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// opened is a site on free ports.
func opened(t *testing.T, o Options, p *program) (*site, *buffer) {
	t.Helper()
	out := &buffer{}
	o.Listen = "127.0.0.1:0"
	s, err := open(t.Context(), o, p, out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s, out
}

// get asks a site for a page under a host's name.
func get(t *testing.T, s *site, path, host string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, body
}

// TestSite: the page's files come with a policy that lets it speak with its server and broker
// alone, for its own host only. The broker turns away pages of other origins.
func TestSite(t *testing.T) {
	s, _ := opened(t, Options{Neighbors: 1, Rounds: 10}, theProgram(t))
	broker := s.lead.broker.WebSocketURL()
	for path, kind := range map[string]string{
		"/": "text/html", "/page.js": "text/javascript", "/worker.js": "text/javascript",
		"/style.css": "text/css", "/wasm_exec.js": "text/javascript",
		"/device.wasm": "application/wasm", "/config.json": "application/json",
	} {
		answer, body := get(t, s, path, s.host)
		policy := answer.Header.Get("Content-Security-Policy")
		if answer.StatusCode != 200 || len(body) == 0 ||
			!strings.HasPrefix(answer.Header.Get("Content-Type"), kind) ||
			!strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "inline") ||
			strings.Contains(policy, "*") || !strings.Contains(policy, "connect-src 'self' "+broker+";") {
			t.Errorf("%s: %s, %d bytes, %v", path, answer.Status, len(body), answer.Header)
		}
		if answer, _ := get(t, s, path, "example.org"); answer.StatusCode != 421 {
			t.Errorf("%s for another host: %s", path, answer.Status)
		}
	}
	for origin, may := range map[string]bool{"http://" + s.host: true, "http://127.0.0.1:1": false} {
		nc, err := nats.Connect(broker, nats.WebSocketConnectionHeaders(
			http.Header{"Origin": {origin}}))
		if (err == nil) != may {
			t.Errorf("a page of %s: %v, want it let in: %v", origin, err, may)
		}
		if err == nil {
			nc.Close()
		}
	}
}

// TestSize: what a tab loads. README.md has the figures of this release of Go.
func TestSize(t *testing.T) {
	p := theProgram(t)
	t.Logf("%d bytes, %d with gzip", p.size, len(p.wasm))
	if p.size > 16_000_000 || len(p.wasm) > 4_200_000 {
		t.Errorf("the device has %d bytes, %d with gzip: more than README.md says", p.size, len(p.wasm))
	}
}

// TestOptions checks that the error for a value that cannot work names the flag.
func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"-neighbors -1":         {Neighbors: -1, Rounds: 1},
		"-rounds 0":             {},
		"-broker nats://a":      {Rounds: 1, Broker: "nats://a"},
		"-listen 0.0.0.0:80":    {Rounds: 1, Listen: "0.0.0.0:80"},
		"-listen localhost:80":  {Rounds: 1, Listen: "localhost:80"},
		"-listen 8080: address": {Rounds: 1, Listen: "8080"},
	} {
		err := o.check()
		if err == nil {
			_, err = open(t.Context(), o, &program{}, io.Discard)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}

// TestContinues checks that with a store, the program continues its run, and gives pages the
// run's name.
func TestContinues(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred rounds of four devices take minutes with the race detector")
	}
	o := Options{Neighbors: 2, Rounds: 1000, Store: t.TempDir()}
	first, out := opened(t, o, &program{})
	third := addNeighbor(t, first, "third") // in place of a tab
	waitFor(t, out, "third: joined")
	waitFor(t, out, "round 50:")
	// The plan has three devices; the coordinator must also ask a fourth.
	addNeighbor(t, first, "fourth")
	waitFor(t, out, ": 4 devices,")
	name := first.run
	first.close()
	if n, _ := third.Record(); n < 50 {
		t.Errorf("a device that joined has record %d", n)
	}
	again, out := opened(t, o, &program{})
	if again.run != name {
		t.Errorf("the run is %s, was %s", again.run, name)
	}
	waitFor(t, out, "devices, mean loss")
	if _, err := open(t.Context(), Options{Rounds: 1, Listen: "127.0.0.1:0", Store: o.Store},
		&program{}, io.Discard); err == nil {
		t.Error("two programs lead one run")
	}
}

// addNeighbor starts one more device in a site's program.
func addNeighbor(t *testing.T, s *site, id string) *client.Client {
	t.Helper()
	if err := s.lead.neighbor(id); err != nil {
		t.Fatal(err)
	}
	return s.lead.neighbors[len(s.lead.neighbors)-1]
}

// waitFor waits until a buffer has a text.
func waitFor(t *testing.T, b *buffer, text string) {
	t.Helper()
	for began := time.Now(); !strings.Contains(b.String(), text); time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("%q was not said in %v: %s", text, patience, b.String())
		}
	}
}
