//go:build unix

package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/testing/servers"
	"github.com/zofl/zofl/wire"
)

// edit changes a stream of a run.
func (p place) edit(t *testing.T, name string, f func(c *jetstream.StreamConfig)) {
	t.Helper()
	js, s := p.stream(t, name)
	cfg := s.CachedInfo().Config
	f(&cfg)
	if _, err := js.UpdateStream(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}

func (p place) stream(t *testing.T, name string) (jetstream.JetStream, jetstream.Stream) {
	t.Helper()
	js, err := jetstream.New(p.connect(t), jetstream.WithDefaultTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return js, s
}

// atOnce is less than the 30 s during which a log retries after a temporary error.
const atOnce = 20 * time.Second

// full checks that a full stream refuses records and says that it is full, that no record is lost,
// and that the log continues once there is room.
func full(t *testing.T, p place, run string) {
	log := p.open(t, run)
	c := newChain(t, run)
	c.appendTo(log, 3)
	p.edit(t, "ZO_"+run+"_LOG", func(c *jetstream.StreamConfig) { c.MaxBytes = 2000 })
	var err error
	began := time.Now()
	for range 20 {
		record := c.next(0.5)
		began = time.Now()
		if err = log.Append(t.Context(), uint64(len(c.records))+1, record); err != nil {
			break
		}
		c.add(record)
	}
	if err == nil || !strings.Contains(err.Error(), "max_bytes") || time.Since(began) > atOnce {
		t.Fatalf("after %v: got %v, want a full stream that says so at once", time.Since(began), err)
	}
	c.check(log)
	p.edit(t, "ZO_"+run+"_LOG", func(c *jetstream.StreamConfig) { c.MaxBytes = -1 })
	c.appendTo(log, 3)
	c.check(log)
	c.check(p.open(t, run))
}

// largest checks that the largest record can be stored, read and read back.
func largest(t *testing.T, p place, run string) {
	log := p.open(t, run)
	c := newChain(t, run)
	c.appendTo(log, 1)
	r, err := wire.DecodeRecord(c.next(1))
	if err != nil {
		t.Fatal(err)
	}
	r.Round.Terms[0].Scalars = make(wire.Scalars, 4*plan.MaxScalars)
	big := c.add(r.Append(nil))
	if len(big) < 4*plan.MaxScalars {
		t.Fatalf("the record has %d bytes", len(big))
	}
	for range 2 {
		if err := log.Append(t.Context(), 2, big); err != nil {
			t.Fatal(err)
		}
	}
	c.appendTo(log, 30)
	c.check(log)
}

// hostile checks that a log does not trust the content of its stream: a message that is not the
// next record is an error, not a panic.
func hostile(t *testing.T, p place, run string) {
	good := newChain(t, "other")
	for range 3 {
		good.add(good.next(1))
	}
	for i, messages := range [][][]byte{
		{nil},
		{[]byte("hello")},
		{{0xdd, 0xff, 0xff, 0xff, 0xff}},
		{good.records[0]}, // another run's
		{good.records[1]}, // not the first
		{good.records[0][:20]},
	} {
		run := fmt.Sprint(run, "_", i)
		closeLog(t, p.open(t, run))
		nc := p.connect(t)
		for _, m := range messages {
			if _, err := nc.Request(subjects.Log(run), m, patience); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.tryOpen(t,
			jetlog.Config{Conn: nc, Run: run}); !errors.Is(err, runlog.ErrCorrupt) {
			t.Errorf("content %d: got %v, want ErrCorrupt", i, err)
		}
	}

	log := p.open(t, run) // a log that is already open
	c := newChain(t, run)
	c.appendTo(log, 2)
	nc := p.connect(t)
	for _, s := range []string{subjects.Log(run), subjects.Members(run)} {
		if _, err := nc.Request(s, []byte("no \x00 name"), patience); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Append(t.Context(), 3, c.next(1)); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("append over garbage: got %v, want ErrCorrupt", err)
	}
	if err := log.AddMembers(t.Context(), []string{"d"}); !errors.Is(err, runlog.ErrDeposed) {
		t.Errorf("members over garbage: got %v, want ErrDeposed", err)
	}
	if _, err := log.Begin(t.Context()); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("begin over garbage: got %v, want ErrCorrupt", err)
	}
}

// settings checks that a log refuses a stream that somebody else made and that could lose records,
// and names the setting.
func settings(t *testing.T, p place, run string) {
	js, err := jetstream.New(p.connect(t), jetstream.WithDefaultTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	for field, spoil := range map[string]func(c *jetstream.StreamConfig){
		"storage":              func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage },
		"discard":              func(c *jetstream.StreamConfig) { c.Discard = jetstream.DiscardOld },
		"deny_delete":          func(c *jetstream.StreamConfig) { c.DenyDelete = false },
		"deny_purge":           func(c *jetstream.StreamConfig) { c.DenyPurge = false },
		"max_age":              func(c *jetstream.StreamConfig) { c.MaxAge = time.Hour },
		"max_msgs_per_subject": func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 },
		"max_msg_size":         func(c *jetstream.StreamConfig) { c.MaxMsgSize = 100 },
		"retention": func(c *jetstream.StreamConfig) {
			c.Retention = jetstream.InterestPolicy
		},
		"first_seq": func(c *jetstream.StreamConfig) { c.FirstSeq = 10 },
		"subjects": func(c *jetstream.StreamConfig) {
			c.Subjects = append(c.Subjects,
				"zo."+run+".more")
		},
		"none": func(c *jetstream.StreamConfig) {},
	} {
		cfg := jetstream.StreamConfig{
			Name: "ZO_" + run + "_LOG", Subjects: []string{subjects.Log(run)},
			Storage: jetstream.FileStorage,
			Discard: jetstream.DiscardNew, DenyDelete: true, DenyPurge: true, MaxBytes: 1 << 20,
			AllowDirect: true,
		}
		spoil(&cfg)
		if _, err := js.CreateStream(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		_, err := p.tryOpen(t, jetlog.Config{Conn: js.Conn(), Run: run, Replicas: 1})
		if field == "none" && err != nil || field != "none" &&
			(!errors.Is(err, coordinator.ErrConfig) || !strings.Contains(err.Error(), field+" is ")) {
			t.Errorf("%s: got %v", field, err)
		}
		if field == "none" {
			_, err := p.tryOpen(t, jetlog.Config{Conn: js.Conn(), Run: run, Replicas: 3})
			if !errors.Is(err, coordinator.ErrConfig) || !strings.Contains(err.Error(), "num_replicas") {
				t.Errorf("3 replicas of a stream with one: got %v", err)
			}
		}
		if err := js.DeleteStream(t.Context(), cfg.Name); err != nil {
			t.Fatal(err)
		}
	}
}

// setBack checks that a log never overwrites a stream that was set back, as when its servers lost
// the last records.
func setBack(t *testing.T, p place, run string) {
	nc := p.connect(t)
	log, err := p.tryOpen(t, jetlog.Config{Conn: nc, Run: run, LeaseTTL: leaseTTL})
	if err != nil {
		t.Fatal(err)
	}
	c := newChain(t, run)
	c.appendTo(log, 5)
	corrupt := func(what string) {
		t.Helper()
		record, stored := c.next(1), [][]byte(nil)
		var err error
		for end := time.Now().Add(time.Minute); ; {
			err = log.Append(t.Context(), 6, record)
			if errors.Is(err, runlog.ErrCorrupt) || err == nil || time.Now().After(end) {
				break
			}
		}
		if !errors.Is(err, runlog.ErrCorrupt) {
			t.Errorf("%s: append: got %v, want ErrCorrupt", what, err)
		}
		if _, err := log.Begin(t.Context()); !errors.Is(err, runlog.ErrCorrupt) {
			t.Errorf("%s: begin: got %v, want ErrCorrupt", what, err)
		}
		other := p.open(t, run)
		if err := other.Read(t.Context(), 1,
			func(_ uint64, r []byte) bool { stored = append(stored, r); return true }); err != nil {
			t.Error(err)
		}
		for _, r := range stored {
			if string(r) == string(record) {
				t.Errorf("%s: record 6 was stored", what)
			}
		}
	}
	remake(t, p, run, c.records[:3])
	corrupt("two records lost")

	// Two other records take the places of the lost records, so that the next number is free.
	lost := newChain(t, run)
	lost.records = c.records[:3:3]
	lost.add(lost.next(7))
	lost.add(lost.next(7))
	remake(t, p, run, lost.records)
	// Servers that restart close the connection; then the log checks its earlier records.
	before := nc.Stats().Reconnects
	if err := nc.ForceReconnect(); err != nil {
		t.Fatal(err)
	}
	servers.Eventually(t, "a new connection", func() error {
		if nc.Stats().Reconnects == before {
			return errors.New("still the old one")
		}
		return nil
	})
	corrupt("two records replaced")
}

// hole checks that every reader detects a missing record in the middle of the log.
func hole(t *testing.T, p place, run string) {
	log := p.open(t, run)
	c := newChain(t, run)
	c.appendTo(log, 10)
	js, s := p.stream(t, "ZO_"+run+"_LOG")
	cfg := s.CachedInfo().Config
	if err := s.DeleteMsg(t.Context(), 5); err == nil {
		t.Error("a record can be deleted")
	}
	if err := s.Purge(t.Context()); err == nil {
		t.Error("the log can be purged")
	}
	if err := js.DeleteStream(t.Context(), cfg.Name); err != nil {
		t.Fatal(err)
	}
	cfg.DenyDelete = false
	s, err := js.CreateStream(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.records {
		if _, err := js.Publish(t.Context(), subjects.Log(run), r); err != nil {
			t.Fatal(err)
		}
	}
	c.check(log) // appending the same bytes again succeeds
	if err := s.DeleteMsg(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Begin(t.Context()); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("begin: got %v, want ErrCorrupt", err)
	}
	last := uint64(0)
	err = log.Read(t.Context(), 1, func(n uint64, _ []byte) bool { last = n; return true })
	if !errors.Is(err, runlog.ErrCorrupt) || last != 4 {
		t.Errorf("read up to record %d: %v; want 4 and ErrCorrupt", last, err)
	}
}

// TestReadEnds checks that a read ends with its context, even if no server answers.
func TestReadEnds(t *testing.T) {
	t.Parallel()
	b, err := broker.Run(broker.Config{JetStream: t.TempDir(), Listen: freeport.Address(t)})
	if err != nil {
		t.Fatal(err)
	}
	log := place{url: b.URL(), replicas: 1}.open(t, "ends")
	newChain(t, "ends").appendTo(log, 3)
	b.Shutdown()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err = log.Read(ctx, 1, func(uint64, []byte) bool { return true })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Read returned %v, want the end of its context", err)
	}
}

// Servers report to their system account whether they sync.
func TestCheckSync(t *testing.T) {
	t.Parallel()
	c := servers.Start(t, 1)
	system := c.System(t)
	servers.Eventually(t, "an answer", func() error { // each attempt waits a second for an answer
		names, err := jetlog.CheckSync(t.Context(), system)
		if err == nil && (len(names) != 1 || names[0] != c.Servers[0].Name) {
			t.Fatalf("got %q; want the one server", names)
		}
		return err
	})
	if names, err := jetlog.CheckSync(t.Context(), c.Connect(t, "app")); err == nil {
		t.Errorf("a connection to no system account got %q", names)
	}
	lazy := runLazy(t)
	servers.Eventually(t, "an answer that a server does not sync", func() error {
		_, err := jetlog.CheckSync(t.Context(), lazy)
		switch {
		case err == nil:
			t.Fatal("a server that does not sync was accepted")
		case !strings.Contains(err.Error(), "sync_interval: always"):
			return err
		}
		return nil
	})
}

// runLazy runs a server with default settings, and connects to its system account.
func runLazy(t *testing.T) *nats.Conn {
	t.Helper()
	opts := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: t.TempDir()}
	sys := server.NewAccount("SYS")
	opts.Accounts, opts.SystemAccount = []*server.Account{sys}, "SYS"
	opts.Users = []*server.User{{Username: "system", Password: "system", Account: sys}}
	s, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server is not ready")
	}
	nc, err := nats.Connect(s.ClientURL(), nats.UserInfo("system", "system"), nats.Timeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}
