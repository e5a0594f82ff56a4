package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
)

// A milestone is a step of a device that comes back.
type milestone int

const (
	connected milestone = iota
	joined
	contributed
)

var milestones = []milestone{connected, joined, contributed}

func (m milestone) String() string {
	return [...]string{"connected", "joined", "contributed"}[m]
}

// A fleet is the devices of a storm, from their start until they are killed.
type fleet struct {
	storm *storm
	ctx   context.Context
	end   context.CancelFunc
	ended sync.WaitGroup

	mu    sync.Mutex // guards what follows
	conns []*nats.Conn
	at    [3][]time.Time // when each device reached a milestone
	round uint64         // the last one that a device applied
	fault error
}

func newFleet(s *storm) *fleet {
	f := &fleet{storm: s}
	f.ctx, f.end = context.WithCancel(context.Background())
	for m := range f.at {
		f.at[m] = make([]time.Time, s.devices)
	}
	return f
}

// start starts every device.
func (f *fleet) start() {
	for i := range f.storm.devices {
		f.ended.Go(func() {
			if err := f.device(i); err != nil && f.ctx.Err() == nil {
				f.mu.Lock()
				f.fault = err
				f.mu.Unlock()
			}
		})
	}
}

// reach notes the first time that a device reached a milestone.
func (f *fleet) reach(m milestone, device int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at[m][device].IsZero() {
		f.at[m][device] = time.Now()
	}
}

func (f *fleet) device(i int) error {
	id := fmt.Sprintf("d%04d", i)
	nc, err := nats.Connect("nats://"+f.storm.address, append(client.ConnectOptions(id),
		nats.ConnectHandler(func(*nats.Conn) { f.reach(connected, i) }),
		nats.ReconnectHandler(func(*nats.Conn) { f.reach(connected, i) }))...)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.conns = append(f.conns, nc)
	f.mu.Unlock()
	defer nc.Close()
	cfg := client.Config{Conn: nc, Run: "storm", ID: id, Workers: 1,
		Objective: objective.Func(132, bowl(id)),
		Recorder: client.RecorderFunc(func(p client.Progress) error {
			if p.State != client.Joining {
				f.reach(joined, i)
			}
			if p.Contributed {
				f.reach(contributed, i)
			}
			f.mu.Lock()
			f.round = max(f.round, p.Round)
			f.mu.Unlock()
			return nil
		})}
	if f.storm.stateful {
		store, err := client.OpenStore(filepath.Join(f.storm.dir, id))
		if err != nil {
			return err
		}
		defer store.Close()
		cfg.Store = store
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	return c.Run(f.ctx)
}

// bowl is the mean of (x_i - t)^2; each device has a different t.
func bowl(id string) func(context.Context, []float32, objective.Batch) (float64, error) {
	h := fnv.New32a()
	h.Write([]byte(id))
	t := float32(h.Sum32()%1000) / 1000
	return func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
		sum := 0.0
		for _, v := range x {
			sum += float64((v - t) * (v - t))
		}
		return sum / float64(len(x)), nil
	}
}

// kill ends every device without a goodbye: its connection is gone before it could say one.
func (f *fleet) kill() {
	f.mu.Lock()
	for _, nc := range f.conns {
		nc.Close()
	}
	f.mu.Unlock()
	f.end()
	f.ended.Wait()
}

func (f *fleet) rounds() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int(f.round)
}

// contributing returns how many devices have contributed.
func (f *fleet) contributing() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, at := range f.at[contributed] {
		if !at.IsZero() {
			n++
		}
	}
	return n
}

// since returns how long after a time devices reached a milestone, in seconds.
func (f *fleet) since(m milestone, from time.Time) (seconds []float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, at := range f.at[m] {
		if !at.IsZero() {
			seconds = append(seconds, at.Sub(from).Seconds())
		}
	}
	return seconds
}

// until waits until done returns true.
func (f *fleet) until(within time.Duration, done func() bool) error {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		f.mu.Lock()
		err := f.fault
		f.mu.Unlock()
		if done() || err != nil {
			return err
		}
	}
	return fmt.Errorf("not within %v", within)
}
