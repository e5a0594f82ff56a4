//go:build linux

package scaling

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/testing/bowl"
)

const dim = 100 // of the page's plans

// A fleet is the devices of a site's run.
type fleet struct {
	s       *site
	devices []*device
	ended   sync.WaitGroup
	stop    context.CancelFunc
}

// A device is a production client with a connection of its own.
type device struct {
	client      *client.Client
	conn        *nats.Conn
	contributed atomic.Uint64 // the last record that it contributed to
	err         error         // of Run, once the fleet has ended
}

// devices connects devices and runs them until the run ends. Device i connects to the servers that
// ports returns for i, first to the first server.
func (s *site) devices(n int, ports func(i int) []string) *fleet {
	s.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	f := &fleet{s: s, stop: stop}
	s.t.Cleanup(func() { stop(); f.ended.Wait() })
	for i := range n {
		d := &device{}
		f.devices = append(f.devices, d)
		id := fmt.Sprint("d", i)
		d.conn = s.connect(id, "device:change-me-3", ports(i))
		var err error
		d.client, err = client.New(client.Config{
			Conn: d.conn, Run: "field", ID: id, Objective: objective.Func(dim, bowl.Of(i)),
			RetryMax: time.Second,
			Recorder: client.RecorderFunc(func(p client.Progress) error {
				if p.Contributed {
					d.contributed.Store(p.N + 1)
				}
				return nil
			}),
		})
		if err != nil {
			s.t.Fatal(err)
		}
		f.ended.Go(func() { d.err = d.client.Run(ctx) })
	}
	return f
}

// connect connects to the first of the servers that answers, and later to any.
func (s *site) connect(name, user string, ports []string) *nats.Conn {
	s.t.Helper()
	urls := ""
	for _, p := range ports {
		urls += s.local(fmt.Sprintf(",nats://%s@127.0.0.1:%s", user, p))
	}
	opts := append(client.ConnectOptions(name), nats.DontRandomize(),
		nats.CustomReconnectDelay(func(int) time.Duration { return 100 * time.Millisecond }))
	nc, err := nats.Connect(urls[1:], opts...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(nc.Close)
	s.until(name+" to connect", nc.IsConnected)
	return nc
}

// last is the last record that any device contributed to.
func (f *fleet) last() (n uint64) {
	for _, d := range f.devices {
		n = max(n, d.contributed.Load())
	}
	return n
}

// more waits until each of some devices has contributed to a record that comes at least count
// records after the newest now.
func (f *fleet) more(what string, devices []*device, count uint64) {
	f.s.t.Helper()
	first, began := f.last(), time.Now()
	from := first + count
	f.s.until(what, func() bool {
		for _, d := range devices {
			if d.contributed.Load() < from {
				return false
			}
		}
		return true
	})
	took := time.Since(began)
	f.s.t.Logf("%s: %v, %v a round", what, took.Round(time.Millisecond),
		(took / time.Duration(f.last()-first)).Round(10*time.Microsecond))
}

// gone waits until devices have noticed that their server is gone.
func (f *fleet) gone(devices []*device) {
	f.s.t.Helper()
	f.s.until("devices without a connection", func() bool {
		return !slices.ContainsFunc(devices, func(d *device) bool { return d.conn.IsConnected() })
	})
}

// agree ends the run, and checks that all devices learn of it and hold the same state.
func (f *fleet) agree(command string) {
	t := f.s.t
	t.Helper()
	f.s.run(command)
	f.ended.Wait()
	n, want := f.devices[0].client.Digest()
	if n < f.last() {
		t.Errorf("the log ends with record %d, and a device contributed to record %d", n, f.last())
	}
	for i, d := range f.devices {
		if d.err != nil {
			t.Errorf("device %d: %v", i, d.err)
		}
		if got, digest := d.client.Digest(); got != n || digest != want {
			t.Errorf("device %d: digest %x after record %d, device 0 has %x after %d", i,
				digest[:4], got, want[:4], n)
		}
	}
}
