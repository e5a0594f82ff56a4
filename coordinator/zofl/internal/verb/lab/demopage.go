package lab

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/dashboard"
	"github.com/zofl/zofl/coordinator/zofl/internal/demo"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/metrics"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// pageFor serves the dashboard of a demo, at an address of this machine, and returns its link. The
// run ends with the program, so the program stores the page's token in no file, and only prints it.
func pageFor(ctx context.Context, cfg *demo.Config, listen string) (
	link string, stop func(), err error) {
	host, _, err := connect.SplitAddress("--http", listen)
	if err == nil && !connect.IsLoopback(host) {
		err = fmt.Errorf("--http %s: a demo is for this machine: give an address such as 127.0.0.1:8080",
			listen)
	}
	if err != nil {
		return "", nil, cli.Usage(err)
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	server := dashboard.New(dashboard.Config{Token: dashboard.NewToken(), Logger: logger})
	kept := &history.History{}
	board, meter := server.Board(kept), metrics.New(kept)
	server.Mount("GET /metrics", meter.Handler())
	cfg.History, cfg.Recorder = kept, cli.Recorders{board, meter}
	rest := func() {}
	cfg.Lead = func(c *coordinator.Coordinator, desk *operate.Desk) {
		rest = kept.Lead(ctx, c, nil, logger)
		board.Lead(desk)
		meter.Lead(c)
	}
	link, end, err := server.Start(dashboard.Address{Listen: listen})
	return link, func() { end(); rest() }, err
}
