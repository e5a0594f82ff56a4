//go:build unix

package jetstream

import (
	"bytes"
	"context"
	"flag"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/testing/servers"
	"github.com/zofl/zofl/wire"
)

var (
	raceRecords = flag.Int("records", 300, "that two coordinators race for")
	lostLeaders = flag.Int("rounds", 1, "how often a stream's leader is killed and paused")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if spec := os.Getenv(holderSpec); spec != "" {
		os.Exit(hold(spec))
	}
	// These tests mostly wait for elections and leases.
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// A place is a set of brokers that can store a log.
type place struct {
	url      string
	replicas int
	cluster  *servers.Cluster // nil: the broker is in this process
}

// places are the ways to run brokers.
var places = map[string]func(t testing.TB) place{
	"embedded": func(t testing.TB) place {
		b, err := broker.Run(broker.Config{JetStream: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Shutdown)
		return place{url: b.URL(), replicas: 1}
	},
	"server": func(t testing.TB) place {
		c := servers.Start(t, 1)
		return place{url: c.URL(), replicas: 1, cluster: c}
	},
	"cluster": func(t testing.TB) place {
		c := servers.Start(t, 3)
		return place{url: c.URL(), replicas: 3, cluster: c}
	},
}

func (p place) connect(t testing.TB, more ...nats.Option) *nats.Conn {
	t.Helper()
	opts := append([]nats.Option{
		nats.MaxReconnects(-1), nats.ReconnectBufSize(-1), nats.ReconnectWait(20 * time.Millisecond),
		nats.ReconnectJitter(10*time.Millisecond, 0), nats.Timeout(time.Second),
		nats.PingInterval(time.Second), nats.MaxPingsOutstanding(2),
	}, more...)
	var nc *nats.Conn
	servers.Eventually(t, "a connection", func() (err error) {
		nc, err = nats.Connect(p.url, opts...)
		return err
	})
	t.Cleanup(nc.Close)
	return nc
}

// open opens the log of a run over a new connection.
func (p place) open(t testing.TB, run string, more ...nats.Option) *jetlog.Log {
	t.Helper()
	return p.openFor(t, run, longLease, more...)
}

// openFor opens a log. If the log is the run's first, the log gets this lease.
func (p place) openFor(t testing.TB, run string, lease time.Duration,
	more ...nats.Option) *jetlog.Log {
	t.Helper()
	cfg := jetlog.Config{Conn: p.connect(t, more...), Run: run,
		LeaseTTL: lease, Name: t.Name()}
	// Tests with a long lease wait for slow servers. The other tests wait for stopped servers, or for
	// an answer on a cut connection.
	if lease == longLease && len(more) == 0 {
		cfg.Timeout = longLease
	}
	log, err := p.tryOpen(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// patience is the time limit of every wait. No test takes that long unless it fails.
const patience = 2 * time.Minute

const (
	leaseTTL = 2 * time.Second // for tests in which leases expire
	// for the other tests, so that a short stall of the machine loses no lease
	longLease = 30 * time.Second
)

func (p place) tryOpen(t testing.TB,
	cfg jetlog.Config) (*jetlog.Log, error) {
	if cfg.Replicas == 0 {
		cfg.Replicas = p.replicas
	}
	return jetlog.Open(t.Context(), cfg)
}

func begin(t *testing.T, log runlog.Log) uint64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	epoch, err := log.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return epoch
}

func closeLog(t *testing.T, log runlog.Log) {
	t.Helper()
	if err := log.Close(); err != nil {
		t.Error(err)
	}
}

// A chain is the records of a run.
type chain struct {
	t       testing.TB
	run     string
	epoch   uint64
	records [][]byte
}

func newChain(t testing.TB, run string) *chain { return &chain{t: t, run: run, epoch: 1} }

// next returns a record that follows the last one. Different steps give different records.
func (c *chain) next(step float32) []byte {
	n := uint64(len(c.records)) + 1
	r := wire.Record{N: n, Epoch: c.epoch, Prev: wire.Genesis(c.run)}
	if n == 1 {
		p, err := preset.Unbound("decomfl", c.run, 10)
		if err != nil {
			c.t.Fatal(err)
		}
		p.RunKey, p.StepSize = make(plan.Bytes, 32), step
		r.Kind, r.Plan = wire.KindPlan, p
		return r.Append(nil)
	}
	r.Prev = wire.HashRecord(c.records[n-2])
	r.Kind = wire.KindRound
	r.Round = &wire.Round{Round: n - 1, StepSize: step, Perturbations: 1, Contributors: 1,
		Terms: []wire.Term{{Scalars: wire.AppendScalars(nil, float32(n))}}}
	return r.Append(nil)
}

func (c *chain) add(record []byte) []byte {
	c.records = append(c.records, record)
	return record
}

// appendTo appends count records to a log.
func (c *chain) appendTo(log runlog.Log, count int) {
	c.t.Helper()
	for range count {
		record := c.add(c.next(0.5))
		if err := log.Append(c.t.Context(), uint64(len(c.records)), record); err != nil {
			c.t.Fatal(err)
		}
	}
}

// check compares the content of a log with the chain.
func (c *chain) check(log runlog.Log) {
	c.t.Helper()
	if got := log.Last(); got != uint64(len(c.records)) {
		c.t.Errorf("Last() = %d, want %d", got, len(c.records))
	}
	for _, from := range []int{0, 1, 2, len(c.records), len(c.records) + 1} {
		at := max(from, 1)
		err := log.Read(c.t.Context(), uint64(from), func(n uint64, record []byte) bool {
			if n != uint64(at) || at > len(c.records) || !bytes.Equal(record, c.records[at-1]) {
				c.t.Errorf("Read(%d): got record %d, %x; want record %d", from, n, record, at)
				return false
			}
			at++
			return true
		})
		if err != nil {
			c.t.Error(err)
		}
		if want := max(from, len(c.records)+1); at != want && len(c.records) > 0 {
			c.t.Errorf("Read(%d) ended before record %d, want %d", from, at, want)
		}
	}
}

// A scissors cuts a connection between a message and the message's acknowledgment.
type scissors struct {
	mark   []byte // in the messages to cut after
	armed  atomic.Bool
	cuts   atomic.Int64
	before bool // cut before the message as well
}

func (s *scissors) Dial(network, address string) (net.Conn, error) {
	c, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return nil, err
	}
	return &cutConn{Conn: c, scissors: s}, nil
}

// A cutConn drops what it reads after the program wrote a marked message.
type cutConn struct {
	net.Conn
	*scissors
	cut atomic.Bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	if bytes.Contains(b, c.mark) && c.armed.CompareAndSwap(true, false) {
		c.cut.Store(true)
		if c.before {
			c.cuts.Add(1)
			return 0, c.Close()
		}
	}
	return c.Conn.Write(b)
}

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.cut.Load() && err == nil && bytes.Contains(b[:n], []byte(`"stream":"`)) {
		c.cuts.Add(1)
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}
