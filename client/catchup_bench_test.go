package client_test

import (
	"context"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/internal/subjects"
)

// BenchmarkCatchUp measures a device that returns 1,000 records behind: K=1, P=10, a model of
// 28,938 parameters.
func BenchmarkCatchUp(b *testing.B) {
	const dim, records = 28_938, 1000
	p := testPlan(dim)
	p.Perturbations = 10
	h := newHost(b, p)
	h.atOnce = 500 // about a frame
	for range records {
		h.commit()
	}
	h.library(h.last() - 8)
	for name, edit := range map[string]func(*client.Config){
		"replay":   func(*client.Config) {},
		"snapshot": func(c *client.Config) { c.Horizon = 100 },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ctx, cancel := context.WithCancel(b.Context())
				cfg := client.Config{Bus: h.bus, Run: runName, ID: "d0", Objective: null(dim)}
				waits := make(chan struct{}, 1)
				cfg.Recorder = client.RecorderFunc(func(p client.Progress) error {
					switch {
					case p.N == h.last():
						cancel()
					case p.State == client.Waiting:
						waits <- struct{}{}
					}
					return nil
				})
				edit(&cfg)
				c, err := client.New(cfg)
				if err != nil {
					b.Fatal(err)
				}
				ended := make(chan struct{})
				go func() { defer close(ended); c.Run(ctx) }()
				<-waits
				a := h.announcement()
				h.publish(subjects.Announce(runName, 0), a.Append(nil))
				<-ended
				cancel()
			}
			b.ReportMetric(float64(records*b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
