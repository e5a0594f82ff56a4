package enrol

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
	"github.com/zofl/zofl/coordinator/zofl/internal/grant"
)

// guarded runs a broker for a directory, and returns both.
func guarded(t *testing.T) (*Dir, *broker.Broker) {
	t.Helper()
	d, err := Make(filepath.Join(t.TempDir(), "auth"), About{Run: "r", Listen: freeport.Address(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if err := d.Certify([]string{"127.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	conf, err := d.Conf(Server{Connections: broker.MaxConnections()})
	if err != nil {
		t.Fatal(err)
	}
	b, err := broker.Run(broker.Config{Conf: conf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	return d, b
}

// dial connects to the broker of a directory.
func dial(t *testing.T, d *Dir, opts ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect("tls://"+d.Listen, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// enrolled returns the options of a new user.
func enrolled(t *testing.T, d *Dir, role grant.Role, name string) []nats.Option {
	t.Helper()
	card, err := d.Add(role, name)
	if err != nil {
		t.Fatal(err)
	}
	return []nats.Option{nats.UserJWTAndSeed(card.JWT, string(card.Seed)),
		nats.RootCAs(d.Authority())}
}

// TestManySubscriptions: the broker keeps as many subscriptions of a device as a device needs, and
// refuses more.
func TestManySubscriptions(t *testing.T) {
	d, b := guarded(t)
	var refused sync.WaitGroup
	refused.Add(1)
	once := sync.OnceFunc(refused.Done)
	nc := dial(t, d, append(enrolled(t, d, grant.Device, "evil"),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrMaxSubscriptionsExceeded) {
				once()
			}
		}))...)
	before := b.Subscriptions()
	use := grant.Use{Run: "r", ID: "evil"}
	for range 2000 {
		if _, err := nc.SubscribeSync(use.Inbox(grant.Device) + "." + nats.NewInbox()); err != nil {
			break
		}
	}
	refused.Wait()
	if more := b.Subscriptions() - before; more > int(grant.LimitsOf(grant.Device).Subs) {
		t.Errorf("the broker has %d subscriptions of the device, want at most %d", more,
			int(grant.LimitsOf(grant.Device).Subs))
	}
}

// TestManyConnections: of the connections of a device the two newest stay, and the log names the
// device. An operator may have as many as it likes.
func TestManyConnections(t *testing.T) {
	d, b := guarded(t)
	opts, account, err := d.Observer()
	if err != nil {
		t.Fatal(err)
	}
	var log await.Text
	err = NewGuard(b, account, slog.New(slog.NewTextHandler(&log, nil))).Watch(dial(t, d, opts...))
	if err != nil {
		t.Fatal(err)
	}
	operator := append(enrolled(t, d, grant.Operator, "desk"), nats.NoReconnect())
	var operators, devices []*nats.Conn
	device := append(enrolled(t, d, grant.Device, "evil"), nats.NoReconnect())
	for range 8 {
		operators = append(operators, dial(t, d, operator...))
		devices = append(devices, dial(t, d, device...))
	}
	await.That(t, "six connections of the device are closed", func() bool {
		closed := 0
		for _, nc := range devices {
			if nc.IsClosed() {
				closed++
			}
		}
		return closed == 6
	})
	for i, nc := range devices {
		if newest := i >= 6; nc.IsClosed() == newest {
			t.Errorf("connection %d of 8 is closed: %v", i+1, nc.IsClosed())
		}
	}
	for _, nc := range operators {
		if err := nc.Flush(); err != nil {
			t.Errorf("operator: %v", err)
		}
	}
	if said := log.String(); strings.Count(said, "id=evil") != 1 ||
		!strings.Contains(said, "zofl device revoke") {
		t.Errorf("said %q", said)
	}
	// A device whose newest connection is gone may come again, and keeps the one before.
	watch := dial(t, d, opts...)
	gone, err := watch.SubscribeSync(events(account))
	if err == nil {
		err = watch.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	leave(t, devices[7], gone)
	for _, nc := range []*nats.Conn{dial(t, d, device...), devices[6]} {
		if err := nc.Flush(); err != nil {
			t.Error(err)
		}
	}
}

// leave closes a connection, and waits until the broker has said so.
func leave(t *testing.T, nc *nats.Conn, events *nats.Subscription) {
	t.Helper()
	id, err := nc.GetClientID()
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	for {
		m, err := events.NextMsg(time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		var event server.DisconnectEventMsg
		if strings.HasSuffix(m.Subject, ".DISCONNECT") && json.Unmarshal(m.Data, &event) == nil &&
			event.Client.ID == id {
			return
		}
	}
}

// TestIdleConnection: a connection that does not begin TLS is closed soon.
func TestIdleConnection(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for 5 s")
	}
	d, _ := guarded(t)
	nc, err := net.Dial("tcp", d.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := nc.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, nc); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the broker keeps a connection that does nothing")
	}
}

// TestBarred: the broker lets a banned user in no more, then lets it in again, and another user
// notices nothing.
func TestBarred(t *testing.T) {
	d, b := guarded(t)
	evil := append(enrolled(t, d, grant.Device, "evil"), nats.NoReconnect())
	good := dial(t, d, append(enrolled(t, d, grant.Device, "good"), nats.NoReconnect())...)
	nc := dial(t, d, evil...)
	u, err := d.User("evil")
	if err != nil {
		t.Fatal(err)
	}
	account, err := d.account.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Bar(account, []string{u.Key}); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the banned user's connection is closed", nc.IsClosed)
	if _, err := nats.Connect("tls://"+d.Listen, evil...); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("a banned user connects: %v", err)
	}
	if err := b.Bar(account, nil); err != nil {
		t.Fatal(err)
	}
	if err := dial(t, d, evil...).Flush(); err != nil {
		t.Error(err)
	}
	if err := good.Flush(); err != nil {
		t.Errorf("another user: %v", err)
	}
}
