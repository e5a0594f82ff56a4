// Package page shows what an agent has learned: a page for people, and metrics for Prometheus.
// The page takes no commands and needs no scripts.
package page

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/notice"
)

// most is the largest number of unusual readings on the page.
const most = 20

// A Page is a [notice.Sink] that serves the last reports.
type Page struct {
	id     string
	listen net.Listener
	server *http.Server

	mu        sync.Mutex
	forecasts []notice.Forecast         // the newest of each channel, in the order of channels
	unusual   map[string]notice.Unusual // now, by channel
	history   []notice.Unusual          // newest first
	counts    map[string]uint64         // of unusual readings since the start, by channel
}

// Open serves at an address until Close, for a device with these channels.
func Open(address, id string, channels []string, log *slog.Logger) (*Page, error) {
	listen, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("output: page: %w", err)
	}
	p := &Page{id: id, listen: listen, unusual: map[string]notice.Unusual{},
		counts: map[string]uint64{}}
	for _, c := range channels {
		p.counts[c] = 0
		p.forecasts = append(p.forecasts, notice.Forecast{Channel: c})
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.people)
	mux.HandleFunc("GET /metrics", p.metrics)
	p.server = &http.Server{Handler: here(mux), ReadTimeout: 10 * time.Second,
		WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 8 << 10,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	go func() {
		if err := p.server.Serve(bounded(listen)); !errors.Is(err, http.ErrServerClosed) {
			log.Warn("the page is not served any more", "err", err)
		}
	}()
	return p, nil
}

// Address returns where the page is.
func (p *Page) Address() string { return p.listen.Addr().String() }

// Close ends it.
func (p *Page) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if p.server.Shutdown(ctx) != nil { // who reads slowly is cut off
		return p.server.Close()
	}
	return nil
}

// here answers only requests whose host is this machine. Otherwise a page of another site could
// make its name resolve to this machine, and read the answers.
func here(next http.Handler) http.Handler {
	own, _ := os.Hostname() // without one, addresses do
	own, _, _ = strings.Cut(own, ".")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		name := strings.TrimSuffix(strings.TrimSuffix(host, "."), ".local")
		if net.ParseIP(strings.Trim(host, "[]")) == nil && name != "localhost" &&
			(own == "" || !strings.EqualFold(name, own)) {
			http.Error(w, "ask for this machine by its address, its name, or NAME.local",
				http.StatusMisdirectedRequest)
			return
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// Forecast implements [notice.Sink].
func (p *Page) Forecast(f notice.Forecast) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.forecasts {
		if p.forecasts[i].Channel == f.Channel {
			p.forecasts[i] = f
		}
	}
}

// Unusual implements [notice.Sink].
func (p *Page) Unusual(u notice.Unusual) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if u.Over {
		delete(p.unusual, u.Channel)
	} else {
		p.unusual[u.Channel] = u
		p.counts[u.Channel]++
	}
	p.history = slices.Insert(p.history, 0, u)
	p.history = p.history[:min(len(p.history), most)]
}
