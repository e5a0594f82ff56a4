package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/demo"
	"github.com/zofl/zofl/wire"
)

func demoCommand() *cobra.Command {
	cfg := demo.Defaults()
	asJSON := false
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Train an image classifier with devices that can only evaluate it",
		Long: `Starts an embedded broker, a coordinator and many devices in this process, each
with its own connection and its own share of the images, and trains a softmax
classifier of handwritten digits by their losses alone. Nothing else need be
set up: the digits are drawn by the program, or read from the standard MNIST
files with --data.

Bytes are counted at each device's socket, with everything that the connection
carries. At the end every device's model is compared with all others and with a
replay of the log.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			bar := newBar(os.Stderr, cfg.Rounds)
			cfg.Progress = bar.update
			result, err := demo.Run(cmd.Context(), cfg)
			bar.finish()
			if err != nil {
				return asUsage(err)
			}
			if !asJSON {
				printDemo(cmd.OutOrStdout(), result)
			} else if err := json.NewEncoder(cmd.OutOrStdout()).Encode(result); err != nil {
				return err
			}
			return disagreement(result)
		},
	}
	f := cmd.Flags()
	f.StringVar(&cfg.Method, "method", cfg.Method, "preset of the plan")
	f.Uint64Var(&cfg.Rounds, "rounds", cfg.Rounds, "rounds of training")
	f.IntVar(&cfg.Clients, "clients", cfg.Clients, "devices")
	f.StringVar(&cfg.Data, "data", "", "directory of the MNIST files in IDX format, gzipped or not")
	f.StringVar(&cfg.Split, "split", cfg.Split, "how images are dealt: iid, shards or dirichlet")
	f.Uint64Var(&cfg.Seed, "seed", cfg.Seed, "of the digits, the split and the run key")
	f.StringArrayVar(&cfg.Settings, "set", nil, "field=value of the plan, repeatable; see zofl plan --fields")
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of the table")
	return cmd
}

func disagreement(r *demo.Result) error {
	if !r.ReplicasAgree {
		return corruptError{fmt.Errorf("the replicas do not agree: please report this, with %d clients and %d rounds", r.Clients, r.Rounds)}
	}
	return nil
}

func estimatorOf(p *wire.Plan) string {
	if p.Estimator == wire.Surrogate {
		return fmt.Sprintf("surrogate, K=%d, M=%d, window=%d, length scale=%v", p.Steps, p.Features, p.Window, p.LengthScale)
	}
	return fmt.Sprintf("%v, %v differences, K=%d, P=%d, mu=%v", p.Distribution, p.Difference, p.Steps, p.Perturbations, p.Mu)
}

func printDemo(w io.Writer, r *demo.Result) {
	t := newTable(w)
	t.AppendRows([]table.Row{
		{"method", r.Method},
		{"estimator", estimatorOf(r.Plan)},
		{"update", fmt.Sprintf("%v, beta=%v, decay=%v, step=%v", r.Plan.Rule, r.Plan.Beta, r.Plan.WeightDecay, r.Plan.Step)},
		{"rounds", r.Rounds},
		{"clients", r.Clients},
		{"parameters", r.Parameters},
		{"test loss", fmt.Sprintf("%.4f", r.Loss)},
		{"test accuracy", fmt.Sprintf("%.2f %%", 100*r.Accuracy)},
		{"loss queries, all clients", r.Queries},
		{"bytes up, client and round", fmt.Sprintf("%.1f", r.BytesUp)},
		{"bytes down, client and round", fmt.Sprintf("%.1f", r.BytesDown)},
		{"a gradient's bytes, each way", 4 * r.Parameters},
		{"replicas", r.Replicas},
		{"replicas agree", r.ReplicasAgree},
		{"seconds", fmt.Sprintf("%.1f", r.Seconds)},
		{"ended", r.Ended},
	})
	t.Render()
}
