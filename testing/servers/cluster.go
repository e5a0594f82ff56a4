//go:build unix

package servers

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// A Cluster is a group of servers that replicate streams.
type Cluster struct {
	Servers []*Server
	opts    Options
}

// Options say how servers differ from those of Start.
type Options struct {
	// Sync is the server's sync_interval; "" means "always".
	Sync string
	// Recorded lets Server.PowerCut cut the power of the servers.
	Recorded bool
	// Routed leads what servers send each other through proxies, so that Cluster.Cut can hold it.
	Routed bool
}

// Start starts n servers, which must be 1 or at least 3, with stores in directories of the test.
// Start returns when JetStream answers on the servers. The servers end with the test. If the test
// fails, Start's cleanup shows the servers' logs.
func Start(t testing.TB, n int) *Cluster { return StartWith(t, n, Options{}) }

// StartWith is Start with options.
func StartWith(t testing.TB, n int, opts Options) *Cluster {
	t.Helper()
	program := Program
	if opts.Recorded {
		program = recorder
	}
	ports := freeport.Take(t, 2*n)
	c := &Cluster{opts: opts}
	routes := make([]string, n)
	at := make([]string, n) // where others reach a server
	for i := range n {
		at[i] = fmt.Sprint("127.0.0.1:", ports[n+i])
		s := &Server{Name: fmt.Sprint("s", i), URL: fmt.Sprint("nats://127.0.0.1:", ports[i]),
			dir: t.TempDir(), program: program}
		if opts.Routed {
			s.routes = newRoutes(t, s.Name, at[i])
			at[i] = s.routes.listener.Addr().String()
		}
		routes[i] = fmt.Sprintf(`"nats://%s"`, at[i])
		c.Servers = append(c.Servers, s)
	}
	for i, s := range c.Servers {
		cluster := ""
		if n > 1 {
			cluster = fmt.Sprintf(
				"cluster { name: zofl, listen: \"127.0.0.1:%d\", advertise: %q, routes: [%s] }\n",
				ports[n+i], at[i], strings.Join(routes, ", "))
		}
		text := config(s, ports[i], cmp.Or(opts.Sync, "always"), cluster)
		if err := os.WriteFile(filepath.Join(s.dir, "server.conf"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.start(t)
		t.Cleanup(func() {
			s.Kill()
			if t.Failed() {
				t.Logf("%s:\n%s", s.Name, s.Log())
			}
		})
	}
	for _, s := range c.Servers {
		s.await(t)
	}
	c.awaitJetStream(t)
	return c
}

// Ready waits until JetStream can make streams with as many replicas as the cluster has servers.
func (c *Cluster) Ready(t testing.TB) { t.Helper(); c.awaitJetStream(t) }

// URL returns the addresses of all servers, as nats.Connect takes them.
func (c *Cluster) URL() string {
	urls := make([]string, len(c.Servers))
	for i, s := range c.Servers {
		urls[i] = s.URL
	}
	return strings.Join(urls, ",")
}

// Connect connects to the cluster as a coordinator does, with further options. The end of the test
// closes the connection.
func (c *Cluster) Connect(t testing.TB, name string, more ...nats.Option) *nats.Conn {
	t.Helper()
	return connect(t, c.URL(), name, more)
}

// System connects to the system account.
func (c *Cluster) System(t testing.TB) *nats.Conn {
	t.Helper()
	return connect(t, c.URL(), "system", []nats.Option{nats.UserInfo("system", "system")})
}

func connect(t testing.TB, url, name string, more []nats.Option) *nats.Conn {
	t.Helper()
	opts := append([]nats.Option{
		nats.Name(name), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(100 * time.Millisecond), nats.ReconnectJitter(50*time.Millisecond, 0),
		nats.Timeout(time.Second), nats.PingInterval(time.Second), nats.MaxPingsOutstanding(2),
	}, more...)
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// awaitJetStream waits until JetStream can make streams with as many replicas as the cluster has
// servers.
func (c *Cluster) awaitJetStream(t testing.TB) {
	t.Helper()
	js := c.jetStream(t)
	Eventually(t, "a JetStream", func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := js.CreateStream(ctx,
			jetstream.StreamConfig{Name: "READY", Subjects: []string{"ready"},
				Replicas: len(c.Servers)})
		if err != nil {
			return err
		}
		return js.DeleteStream(ctx, "READY")
	})
}

func (c *Cluster) jetStream(t testing.TB) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(c.Connect(t, "test"))
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// Leader returns the server that leads a stream, and waits until a server leads it.
func (c *Cluster) Leader(t testing.TB, stream string) *Server {
	t.Helper()
	js := c.jetStream(t)
	defer js.Conn().Close()
	var leader *Server
	Eventually(t, "a leader of "+stream, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s, err := js.Stream(ctx, stream)
		if err != nil {
			return err
		}
		leader, err = c.leads(s.CachedInfo().Cluster)
		return err
	})
	return leader
}

// leads finds the leader of a stream among the servers.
func (c *Cluster) leads(info *jetstream.ClusterInfo) (*Server, error) {
	if len(c.Servers) == 1 {
		return c.Servers[0], nil
	}
	if info == nil || info.Leader == "" {
		return nil, fmt.Errorf("there is none")
	}
	for _, s := range c.Servers {
		if s.Name == info.Leader {
			return s, nil
		}
	}
	return nil, fmt.Errorf("it is %s, which is none of these servers", info.Leader)
}
