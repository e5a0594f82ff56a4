// Backprop trains the CNN of papers/RESULTS.md by its gradients. Backprop prints the number of
// steps after which the CNN reaches the accuracies that papers/RESULTS.md measures for runs without
// gradients.
//
//	go -C papers run -tags openblas ./cmd/backprop --data DIR
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/models/train"
)

// targets are the accuracies of papers/RESULTS.md.
var targets = []float64{0.80, 0.90, 0.95, 0.97}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "backprop:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("backprop", flag.ContinueOnError)
	dir := flags.String("data", "", "`directory` of the MNIST files; default: drawn digits")
	batch := flags.Int("batch", 2000, "images of a step: a round of 10 devices has 10 times 200")
	epochs := flags.Int("epochs", 4, "passes over the images")
	seed := flags.Uint64("seed", 1, "of the first parameters and the minibatches")
	if err := flags.Parse(args); err != nil {
		return err
	}
	samples, test, mean, std := data.Digits(6000, *seed), data.Digits(400, *seed+1<<40), 0.0, 0.0
	mean, std = samples.Moments()
	if *dir != "" {
		var err error
		if samples, test, err = data.MNIST(*dir); err != nil {
			return err
		}
		mean, std = data.MNISTMean, data.MNISTStd
	}
	left := targets
	_, err := train.Train(context.Background(), models.NewCNNMNIST(samples, mean, std), train.Config{
		Batch: *batch, Epochs: *epochs, Seed: *seed, Goroutines: 2,
		Test: models.NewCNNMNIST(test, mean, std), EvalEvery: 1, Target: targets[len(targets)-1],
		Progress: func(p train.Progress) error {
			for len(left) > 0 && p.Accuracy >= left[0] {
				fmt.Fprintf(out, "%.2f after %d steps of %d images\n", left[0], p.Step, *batch)
				left = left[1:]
			}
			return nil
		},
	})
	for _, target := range left {
		fmt.Fprintf(out, "%.2f not in %d passes\n", target, *epochs)
	}
	return err
}
