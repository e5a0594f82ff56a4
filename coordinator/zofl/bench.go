package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/zofl/zofl/coordinator/zofl/internal/kernelbench"
)

func benchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure what this device can do",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageError{fmt.Errorf("bench what? kernel; see %s --help", cmd.CommandPath())}
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
		Short: "Measure how fast this device regenerates directions",
		Long: `Measures, with nothing else running if possible:

  kernels    x += a*z with normal z in a vector of 65,536 elements, with each
             instruction set, and a sum of eight ±1 directions
  bandwidth  a pass that reads and writes an array larger than the caches, and
             the share of its speed that a pass of x += a*z reaches
  replay     64 records of one direction each, over --dim parameters, on one
             core and on all; both must come to the same bits

Ratios are to a loop of x[i] += a*NormFloat64() (math/rand/v2, PCG), in elements
of all directions a second, as medians of rounds that run everything compared.
With --json: isa, generic, avx2, avx512, neon (x += a*z) and rademacher8 are such
ratios, isa that of the instruction set in use, which backend names; what the
machine does not have is absent. yardstick, replay_1 and replay_n (on
replay_n_workers cores) are elements a second; bandwidth and bandwidth_n are
bytes a second, read and written; a share is a part of 1.

Exit codes: 0 measured; 1 failed; 2 a flag that cannot be used; 4 replay on
several cores came to other bits than on one; 130 interrupted.`,
		Example: `  zofl bench kernel
  zofl bench kernel --seconds 30 --dim 1206590 --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if longest := kernelbench.MaxDuration.Seconds(); !(seconds > 0 && seconds <= longest) {
				return usageError{fmt.Errorf("--seconds %v: want more than 0 and at most %v", seconds, longest)}
			}
			if most := math.MaxInt >> 20; mebibytes < 0 || mebibytes > most {
				return usageError{fmt.Errorf("--array %d: want at most %d MiB, or 0 for the default", mebibytes, most)}
			}
			cfg.Duration, cfg.Array = time.Duration(seconds*float64(time.Second)), mebibytes<<20
			stages := newStages(os.Stderr)
			cfg.Progress = stages.update
			result, err := kernelbench.Run(cmd.Context(), cfg)
			stages.finish()
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
	f.Float64Var(&seconds, "seconds", seconds, "about how long to measure; every round is finished")
	f.IntVar(&cfg.Dim, "dim", 0, "parameters that are replayed; 0 is 10 million, or what a quarter of the memory holds")
	f.IntVar(&mebibytes, "array", 0, "MiB of the array that bandwidth is measured over; 0 is four times the largest cache")
	f.BoolVar(&asJSON, "json", false, "print one JSON object instead of the table")
	return cmd
}

func classifyBench(err error) error {
	switch {
	case errors.Is(err, kernelbench.ErrConfig):
		return usageError{err}
	case errors.Is(err, kernelbench.ErrBits):
		return corruptError{fmt.Errorf("%w: please report this, with the CPU's name", err)}
	}
	return err
}
