// Package lab has the commands that need no run: demo, bench, simulate and tune. The command tune
// can also tune the step of a run in progress.
package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/demo"
	"github.com/zofl/zofl/coordinator/zofl/internal/terminal"
	"github.com/zofl/zofl/plan/preset"
)

// Demo is `zofl demo`.
func Demo() *cobra.Command {
	cfg := demo.Defaults()
	asJSON, page := false, ""
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Train a classifier of digits on 20 devices in this process",
		Long: `Runs a broker, a coordinator and 20 devices in this process. They train a softmax
classifier of digits, which the program draws; or of MNIST, with --data. Each device has
its own connection and its own share of the images, and reports losses only. Bytes are
counted at each device's socket. At the end the demo compares the models of all devices
with one that it computes from the log.`,
		Example: `  zofl demo --rounds 200 --devices 50`,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("rounds") && slices.ContainsFunc(cfg.Settings,
				func(s string) bool { return strings.HasPrefix(s, "rounds=") }) {
				return cli.Usage(errors.New("--rounds and --set rounds: give only one"))
			}
			if !slices.Contains(preset.Names(), cfg.Method) {
				return cli.Usage(fmt.Errorf("--method %s: choose one of %s", cfg.Method,
					strings.Join(preset.Names(), ", ")))
			}
			link := ""
			if page != "" {
				var stop func()
				var err error
				if link, stop, err = pageFor(cmd.Context(), &cfg, page); err != nil {
					return err
				}
				defer stop()
			}
			bar := terminal.NewBar(os.Stderr, "round", 0)
			cfg.Progress = func(p demo.Progress) { showDemo(bar, p) }
			result, err := demo.Run(cmd.Context(), cfg)
			bar.Finish()
			if err != nil {
				return cli.AsUsage(err)
			}
			if !asJSON {
				printDemo(cmd.OutOrStdout(), result)
			} else if err := json.NewEncoder(cmd.OutOrStdout()).Encode(result); err != nil {
				return err
			}
			if link != "" {
				fmt.Fprintf(os.Stderr, "\nThe dashboard stays until Ctrl-C: %s\n", link)
				<-cmd.Context().Done()
			}
			return verdictOf(result)
		},
	}
	f := cmd.Flags()
	f.StringVar(&cfg.Method, "method", cfg.Method, "method: a preset of zofl plan")
	cli.Choices(cmd, "method", preset.Names()...)
	f.Uint64Var(&cfg.Rounds, "rounds", cfg.Rounds,
		"rounds of training; 0: as many as suit the method, 300 for zofl")
	f.IntVar(&cfg.Clients, "devices", cfg.Clients, "number of devices")
	f.StringVar(&cfg.Data, "data", "", "directory of the MNIST files; default: drawn digits")
	f.StringVar(&cfg.Split, "split", cfg.Split, "how images are shared out: iid, shards or dirichlet")
	f.Uint64Var(&cfg.Seed, "seed", cfg.Seed,
		"seed of the digits, of their shares and of the run key")
	f.StringArrayVar(&cfg.Settings, "set", nil,
		"set a field of the plan, FIELD=VALUE; repeatable (zofl plan --fields)")
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of a table")
	f.StringVar(&page, "http", "", "address of a page that shows the run, such as 127.0.0.1:8080")
	return cmd
}

func showDemo(b *terminal.Bar, p demo.Progress) {
	var text []string
	if p.Doing != "" {
		text = append(text, p.Doing)
	}
	if p.Round > 0 {
		text = append(text, fmt.Sprintf("loss %.4f", p.Loss))
	}
	if p.Accuracy >= 0 {
		text = append(text, fmt.Sprintf("accuracy %.1f %%", 100*p.Accuracy))
	}
	if p.Round > 0 {
		text = append(text, fmt.Sprintf("%.0f B up, %.0f B down", p.BytesUp, p.BytesDown))
	}
	b.Limit(p.Rounds)
	b.Show(p.Round, strings.Join(text, "  "))
}

// verdictOf returns an error if the demo did not show the promised result.
func verdictOf(r *demo.Result) error {
	switch {
	case !r.ReplicasAgree:
		return cli.Corrupt(fmt.Errorf("the replicas disagree: please report this, with "+
			"%d devices and %d rounds", r.Clients, r.Rounds))
	case !r.Improved():
		return fmt.Errorf("the model is no better than before: test loss %.4f, was %.4f; test accuracy "+
			"%.2f %%, was %.2f %%: give more --rounds, or another --set step",
			r.Loss, r.LossBefore, 100*r.Accuracy, 100*r.AccuracyBefore)
	}
	return nil
}

func printDemo(w io.Writer, r *demo.Result) {
	t := cli.NewTable(w)
	t.AppendRows([]table.Row{
		{"method", r.Method},
		{"rounds", r.Rounds},
		{"devices", r.Clients},
		{"parameters", r.Parameters},
		{"test loss", fmt.Sprintf("%.4f; %.4f before round 1", r.Loss, r.LossBefore)},
		{"test accuracy", fmt.Sprintf("%.2f %%; %.2f %% before round 1", 100*r.Accuracy,
			100*r.AccuracyBefore)},
		{"loss evaluations, all devices", r.Queries},
		{"bytes up, per device and round", fmt.Sprintf("%.1f", r.BytesUp)},
		{"bytes down, per device and round", fmt.Sprintf("%.1f", r.BytesDown)},
		{"bytes of a gradient, for comparison", 4 * r.Parameters},
		{"replicas", r.Replicas},
		{"replicas agree", r.ReplicasAgree},
		{"seconds", fmt.Sprintf("%.1f", r.Seconds)},
		{"ended", r.Ended},
	})
	t.Render()
	if r.Note != "" {
		fmt.Fprintf(w, "\nNote: %s\n", cli.Wrapped(r.Note, cli.TextWidth))
	}
	fmt.Fprint(w, next)
}

// next is what to type after a demo. TestDemoNext types it.
const next = `
Next, a run of your own: a plan, who leads it, and in another terminal a device.
  zofl plan --run first --dim 7850 --set members=1 --set rounds=100 --write first.json
  zofl serve first.json --store first.log
  zofl client --url nats://127.0.0.1:4222 --run first --id pi-1 --store first-1.state
On a page: zofl demo --http 127.0.0.1:8080
`
