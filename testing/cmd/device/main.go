// Command device is one device of a run, for tests that need devices in separate processes or on
// other processors. The device takes part in a run, with its own quadratic loss, until the run
// ends, and prints its final state.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
)

// A Report is the JSON that a device prints at the end.
type Report struct {
	ID     string `json:"id"`
	Arch   string `json:"arch"`
	N      uint64 `json:"n"`
	Digest string `json:"digest"`
	// Contributions is how many rounds counted a contribution of this device.
	Contributions int `json:"contributions"`
}

func main() {
	url := flag.String("url", nats.DefaultURL, "broker")
	run := flag.String("run", "test", "name of the run")
	id := flag.String("id", "device", "name of this device")
	dim := flag.Int("dim", 5000, "parameters")
	within := flag.Duration("within", 5*time.Minute, "give up after this long")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), *within)
	defer cancel()
	report, err := takePart(ctx, *url, *run, *id, *dim)
	if err != nil {
		fmt.Fprintf(os.Stderr, "device %s: %v\n", *id, err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(report); err != nil {
		os.Exit(1)
	}
}

func takePart(ctx context.Context, url, run, id string, dim int) (*Report, error) {
	nc, err := nats.Connect(url, nats.Name(id), nats.MaxReconnects(-1), nats.Timeout(20*time.Second))
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	report := &Report{ID: id, Arch: runtime.GOARCH}
	c, err := client.New(client.Config{
		Conn: nc, Run: run, ID: id,
		Objective: objective.Func(dim, quadratic(id)),
		Recorder: client.RecorderFunc(func(p client.Progress) error {
			if p.Contributed {
				report.Contributions++
			}
			return nil
		}),
	})
	if err != nil {
		return nil, err
	}
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	n, digest := c.Digest()
	report.N, report.Digest = n, hex.EncodeToString(digest[:])
	return report, nil
}

// quadratic is the mean of (x_i - t_i)^2 over the parameters; each device has a different t.
func quadratic(id string) func(context.Context, []float32, objective.Batch) (float64, error) {
	h := fnv.New32a()
	h.Write([]byte(id))
	shift := float64(h.Sum32()%1000) / 1000
	return func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
		sum := 0.0
		for i, v := range x {
			e := float64(v) - shift - float64(i%7)
			sum += e * e
		}
		return sum / float64(len(x)), nil
	}
}
