package logs

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/connect"
	"github.com/zofl/zofl/coordinator/zofl/internal/dashboard"
	"github.com/zofl/zofl/coordinator/zofl/internal/runlist"
)

// A gallery holds the flags of `zofl dashboard`.
type gallery struct {
	connect.Connection
	listen string
}

// Dashboard is `zofl dashboard`.
func Dashboard() *cobra.Command {
	var g gallery
	cmd := &cobra.Command{
		Use:   "dashboard [DIR ...]",
		Short: "Compare the curves of runs on a page for browsers",
		Long: `Shows a page with the runs whose logs are in each directory DIR, and with --url those whose
coordinators answer at that broker. Choose runs there: their curves are drawn over each
other. Without DIR and --url it shows the runs of the working directory.

The page only reads, also while a coordinator has a log open. A coordinator's own page,
zofl serve --http, shows its fleet, too, and takes commands.`,
		Example: `  zofl dashboard runs --http 127.0.0.1:8090`,
		RunE:    func(cmd *cobra.Command, dirs []string) error { return g.show(cmd, dirs) },
	}
	g.Connection.Flags(cmd)
	cmd.Flags().StringVar(&g.listen, "http", "127.0.0.1:8090",
		"address of the page, on loopback; port 0 is any free one")
	return cmd
}

// show serves the page until the command is interrupted.
func (g *gallery) show(cmd *cobra.Command, dirs []string) error {
	host, _, err := connect.SplitAddress("--http", g.listen)
	if err == nil && !connect.IsLoopback(host) {
		err = fmt.Errorf("--http %s: others could see the runs: give an address of this machine, such "+
			"as 127.0.0.1:8090, and reach it by ssh -L", g.listen)
	}
	if err != nil {
		return cli.Usage(err)
	}
	var sources []runlist.Source
	if g.URL != "" {
		nc, err := g.Dial("zofl dashboard", "")
		if err != nil {
			return err
		}
		defer nc.Close()
		sources = append(sources, runlist.Broker(nc))
	} else if len(dirs) == 0 {
		dirs = []string{"."}
	}
	for _, dir := range dirs {
		if _, err := os.ReadDir(dir); err != nil {
			return cli.FileFault("DIR", dir, err)
		}
		sources = append(sources, runlist.Dir(dir, ""))
	}
	logger := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	server := dashboard.New(dashboard.Config{Logger: logger, Others: sources})
	_, stop, err := server.Start(dashboard.Address{Listen: g.listen})
	if err != nil {
		return err
	}
	defer stop()
	<-cmd.Context().Done()
	return nil
}
