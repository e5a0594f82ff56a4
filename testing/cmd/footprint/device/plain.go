package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
)

// block is how many parameters a streaming loss reads at a time.
const block = 4096

// plain takes part in a run through package client.
func plain(ctx context.Context, s *settings, m *marker) error {
	before := time.Now()
	nc, err := nats.Connect(s.url, append(client.ConnectOptions(s.id), nats.RootCAs(s.ca))...)
	if err != nil {
		return err
	}
	defer nc.Close()
	m.connect, m.began = time.Since(before), time.Now()
	contributions := int64(0)
	c, err := client.New(client.Config{
		Conn: nc, Run: s.run, ID: s.id, Objective: newObjective(s),
		Recorder: client.RecorderFunc(func(p client.Progress) error {
			if p.Err != nil {
				fmt.Fprintln(os.Stderr, p.Err)
			}
			if !p.Contributed {
				return nil
			}
			contributions++
			return m.reached(contributions)
		}),
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

func newObjective(s *settings) objective.Objective {
	if s.face == "flat" {
		return objective.Func(s.dim,
			func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
				return float64(x[0]), nil
			})
	}
	weights := make([]float32, min(block, s.dim))
	return objective.Stream(s.dim,
		func(_ context.Context, x *objective.Point, _ objective.Batch) (float64, error) {
			for off := 0; off < s.dim; off += block {
				if err := x.Read(weights[:min(block, s.dim-off)], off); err != nil {
					return 0, err
				}
			}
			return float64(weights[0]), nil
		})
}
