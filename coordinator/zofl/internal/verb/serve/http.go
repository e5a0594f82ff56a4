package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/dashboard"
	"github.com/zofl/zofl/coordinator/zofl/internal/enrol"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/metrics"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/coordinator/zofl/internal/runlist"
)

// httpFlags hold the address of the dashboard.
type httpFlags struct{ listen string }

func (h *httpFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&h.listen, "http", "",
		"address of a page that shows the run, such as 127.0.0.1:8080")
}

// check returns an error if other machines could reach the page without TLS and a token.
func (h *httpFlags) check(g guard) error {
	if h.listen == "" {
		return nil
	}
	host, _, err := connect.SplitAddress("--http", h.listen)
	if err == nil && g.auth == "" && !connect.IsLoopback(host) {
		err = fmt.Errorf("--http %s: others could see the run: give an address of this machine, such as "+
			"127.0.0.1:8080, and reach it by ssh -L; or give --tls and --auth DIR", h.listen)
	}
	return err
}

// A page holds what --http serves for a run: the dashboard, and metrics for Prometheus at /metrics.
// A nil page serves nothing.
type page struct {
	board *dashboard.Board
	meter *metrics.Meter
	stop  func()
}

// Record implements [report.Recorder].
func (p *page) Record(e report.Event) error {
	if p == nil {
		return nil
	}
	return errors.Join(p.board.Record(e), p.meter.Record(e))
}

// lead says which coordinator leads the run from now on.
func (p *page) lead(c *coordinator.Coordinator, desk *operate.Desk) {
	if p != nil {
		p.board.Lead(desk)
		p.meter.Lead(c)
	}
}

func (p *page) close() {
	if p != nil {
		p.stop()
	}
}

// page starts to serve the dashboard at the address of --http. page returns nil without --http. The
// caller must have made the broker's certificate before.
func (f *serveFlags) page(kept *history.History, nc *nats.Conn,
	logger *slog.Logger) (*page, error) {
	if f.http.listen == "" {
		return nil, nil
	}
	at := dashboard.Address{Listen: f.http.listen}
	cfg := dashboard.Config{Logger: logger, Guarded: f.guard.auth != "", Others: f.others(nc)}
	err := f.certified(&at, &cfg)
	if err != nil {
		return nil, fmt.Errorf("--http: %w", err)
	}
	if f.store == "" {
		cfg.Token = dashboard.NewToken()
	} else {
		at.File = filepath.Join(f.store, dashboard.TokenFile)
		if cfg.Token, err = dashboard.LoadToken(at.File); err != nil {
			return nil, cli.Usage(fmt.Errorf("--http: %w", err))
		}
	}
	server := dashboard.New(cfg)
	p := &page{board: server.Board(kept), meter: metrics.New(kept)}
	server.Mount("GET /metrics", p.meter.Handler())
	_, p.stop, err = server.Start(at)
	return p, err
}

// others are the runs beside this one: those of logs in the same directory and, where every user of
// the broker may ask, those whose coordinators answer.
func (f *serveFlags) others(nc *nats.Conn) (list []runlist.Source) {
	if f.guard.auth == "" {
		list = append(list, runlist.Broker(nc))
	}
	if f.store != "" {
		list = append(list, runlist.Dir(filepath.Dir(filepath.Clean(f.store)), f.store))
	}
	return list
}

// certified gives the page the broker's certificate and host names, if other machines can reach the
// page.
func (f *serveFlags) certified(at *dashboard.Address, cfg *dashboard.Config) error {
	host, _, err := connect.SplitAddress("--http", f.http.listen)
	if err != nil || connect.IsLoopback(host) {
		return err
	}
	certificate, err := tls.LoadX509KeyPair(enrol.ServerFiles(f.guard.auth))
	if err != nil {
		return err
	}
	at.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	cfg.Hosts, err = f.guard.names(f.listen)
	return err
}
