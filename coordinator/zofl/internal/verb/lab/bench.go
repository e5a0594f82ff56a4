package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/kernelbench"
)

// Bench is `zofl bench`.
func Bench() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure how fast this machine is",
		Long:    `Measures how fast this machine is. Name what to measure.`,
		Example: `  zofl bench kernel`,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Usage(fmt.Errorf("name what to measure: kernel; see %s --help",
				cmd.CommandPath()))
		},
	}
	cmd.AddCommand(benchKernelCommand())
	return cmd
}

func benchKernelCommand() *cobra.Command {
	var cfg kernelbench.Config
	var mebibytes int
	seconds, asJSON := 8.0, false
	cmd := &cobra.Command{
		Use:   "kernel",
		Short: "Measure how fast this machine regenerates random directions",
		Long: `Measures three things. Close other programs first, for steady figures.

  kernels    x += a*z for normal z, in a vector of 65,536 elements, with each instruction
             set of this machine; and the sum of eight directions of ±1
  bandwidth  a pass that reads and writes an array larger than the caches, and the
             fraction of its speed that a pass of x += a*z reaches
  replay     64 records of one direction each, over --dim parameters, on one core and on
             all cores; the results must be bit-identical

Kernels are compared with a loop of x[i] += a*NormFloat64() (math/rand/v2, PCG). A ratio
divides elements a second by that loop's, counting the elements of every direction. It is a
median over rounds; each round runs everything that is compared.

With --json: generic, avx2, avx512 and neon are the ratios of x += a*z, rademacher8 that of
eight directions, and lowrank_generic, lowrank_avx2 and lowrank_neon those of 64 of rank 1. isa
is the ratio of the instruction set in use, and backend names that set. What this machine lacks
is left out. yardstick, replay_1 and replay_n (on replay_n_workers cores) are elements a second.
bandwidth and bandwidth_n are bytes a second, read and written. A share is a fraction of 1.

Exit codes: 0 measured; 1 failed; 2 a flag is wrong; 4 replay on several cores gave other
bits than on one; 130 interrupted.`,
		Example: `  zofl bench kernel --seconds 30 --dim 1206590 --json`,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if longest := kernelbench.MaxDuration.Seconds(); !(seconds > 0 && seconds <= longest) {
				return cli.Usage(fmt.Errorf("--seconds %v: give more than 0, and at most %v",
					seconds, longest))
			}
			if most := math.MaxInt >> 20; mebibytes < 0 || mebibytes > most {
				err := fmt.Errorf("--array %d: give at most %d MiB, or 0 for the default",
					mebibytes, most)
				return cli.Usage(err)
			}
			cfg.Duration, cfg.Array = time.Duration(seconds*float64(time.Second)), mebibytes<<20
			show, end := showStages(os.Stderr)
			cfg.Progress = show
			result, err := kernelbench.Run(cmd.Context(), cfg)
			end()
			if err != nil {
				return classifyBench(err)
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(result)
			}
			printKernels(cmd.OutOrStdout(), result)
			return nil
		},
	}
	f := cmd.Flags()
	f.Float64Var(&seconds, "seconds", seconds,
		"about how long to measure, in seconds; a round that began is finished")
	f.IntVar(&cfg.Dim, "dim", 0,
		"number of parameters in replay; 0: 10 million, or what a quarter of the memory holds")
	f.IntVar(&mebibytes, "array", 0,
		"size in MiB of the array for bandwidth; 0: four times the largest cache")
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of a table")
	return cmd
}

func classifyBench(err error) error {
	switch {
	case errors.Is(err, kernelbench.ErrConfig):
		return cli.Usage(err)
	case errors.Is(err, kernelbench.ErrBits):
		return cli.Corrupt(fmt.Errorf("%w: please report this, with the CPU's name", err))
	}
	return err
}
