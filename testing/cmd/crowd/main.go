// Command crowd runs a coordinator with a crowd of simulated devices on an open roster, and
// prints how long a round takes and whether the coordinator's memory grows: see package
// testing/fleet/crowd.
//
//	go -C testing run ./cmd/crowd --devices 1000000 --rounds 1000
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/zofl/zofl/testing/fleet/crowd"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	cfg := crowd.Config{}
	flags := flag.NewFlagSet("crowd", flag.ContinueOnError)
	flags.IntVar(&cfg.Devices, "devices", 1_000_000, "ids that join")
	flags.IntVar(&cfg.Target, "target", 1000, "contributions of a round")
	flags.Uint64Var(&cfg.Rounds, "rounds", 100, "rounds of the run")
	flags.Float64Var(&cfg.Answer, "answer", 0.8, "probability that an asked device answers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "crowd")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cfg.Dir = dir
	for mark := uint64(10); mark < cfg.Rounds; mark *= 10 {
		cfg.Marks = append(cfg.Marks, mark)
	}
	cfg.Marks = append(cfg.Marks, cfg.Rounds)
	r, err := crowd.Run(context.Background(), cfg)
	if err != nil {
		return err
	}
	print(out, r)
	return nil
}

func print(out io.Writer, r *crowd.Result) {
	fmt.Fprintf(out, "%d devices joined in %v\n", r.Devices, r.Joining.Round(1e6))
	fmt.Fprintf(out, "%d rounds: p50 %v, p99 %v from the first reply to the stored record\n",
		r.Rounds, r.RoundP50.Round(1e4), r.RoundP99.Round(1e4))
	fmt.Fprintf(out, "%d devices asked, %d replied: %d counted, %d late, %d lost\n", r.Asked,
		r.Sent, r.Counters.Contributions, r.Counters.Late, r.Lost)
	fmt.Fprintf(out, "the crowd took %v (p50) to compute who is asked\n", r.SelectP50.Round(1e6))
	fmt.Fprintf(out, "live heap: %.1f MB of ids;", float64(r.Before)/1e6)
	for _, h := range r.Heap {
		fmt.Fprintf(out, " %.2f MB more after round %d;", (float64(h.Bytes)-float64(r.Before))/1e6,
			h.Round)
	}
	fmt.Fprintln(out)
}
