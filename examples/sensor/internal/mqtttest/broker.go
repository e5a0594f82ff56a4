// Package mqtttest has brokers for tests: one in this process, and mosquitto where ZOFL_MOSQUITTO
// names its program.
package mqtttest

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// Patience bounds the waits of a test.
const Patience = 2 * time.Minute

// User and Password are the login for a broker with Settings.Closed.
const User, Password = "pi", "correct horse"

// Settings are the settings of a broker.
type Settings struct {
	Closed    bool       // it asks for User and Password
	Authority *Authority // of its certificate; nil: no TLS
}

// A Broker listens at an address, and can be stopped and started there.
type Broker struct {
	Address  string
	settings Settings
	start    func(*Broker) (stop func(), err error)
	stop     func()
}

// Each runs a test with each broker that there is.
func Each(t *testing.T, s Settings, test func(*testing.T, *Broker)) {
	for _, kind := range []struct {
		name  string
		start func(*testing.T, *Broker) (func(), error)
	}{{"mochi", inside}, {"mosquitto", mosquitto}} {
		t.Run(kind.name, func(t *testing.T) {
			if kind.name == "mosquitto" && os.Getenv("ZOFL_MOSQUITTO") == "" {
				t.Skip("ZOFL_MOSQUITTO is not set: apt-get install -y mosquitto, and set it to mosquitto")
			}
			b := &Broker{Address: freeport.Address(t), settings: s,
				start: func(b *Broker) (func(), error) { return kind.start(t, b) }}
			b.Start(t)
			t.Cleanup(b.Stop)
			test(t, b)
		})
	}
}

// Start starts the broker anew: it has kept no messages.
func (b *Broker) Start(t *testing.T) {
	t.Helper()
	var err error
	if b.stop, err = b.start(b); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; {
		c, err := net.Dial("tcp", b.Address)
		if err == nil {
			c.Close()
			return
		}
		if time.Since(began) > Patience {
			t.Fatal(err)
		}
	}
}

// Stop ends it, with all connections.
func (b *Broker) Stop() {
	if b.stop != nil {
		b.stop()
	}
	b.stop = nil
}

func inside(_ *testing.T, b *Broker) (func(), error) {
	server := mochi.New(&mochi.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	var err error
	if b.settings.Closed {
		err = server.AddHook(new(auth.Hook), &auth.Options{Ledger: &auth.Ledger{
			Auth: auth.AuthRules{{Username: User, Password: Password, Allow: true}}}})
	} else {
		err = server.AddHook(new(auth.AllowHook), nil)
	}
	if err != nil {
		return nil, err
	}
	cfg := listeners.Config{ID: "tcp", Address: b.Address}
	if a := b.settings.Authority; a != nil {
		cfg.TLSConfig = &tls.Config{Certificates: []tls.Certificate{a.pair}}
	}
	if err := server.AddListener(listeners.NewTCP(cfg)); err != nil {
		return nil, err
	}
	return func() { server.Close() }, server.Serve()
}

func mosquitto(t *testing.T, b *Broker) (func(), error) {
	dir := t.TempDir()
	_, port, err := net.SplitHostPort(b.Address)
	if err != nil {
		return nil, err
	}
	conf := fmt.Sprintf("listener %s 127.0.0.1\nallow_anonymous %v\nuser root\n", port,
		!b.settings.Closed)
	if b.settings.Closed {
		users := filepath.Join(dir, "users")
		out, err := exec.Command("mosquitto_passwd", "-c", "-b", users, User, Password).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("mosquitto_passwd: %w\n%s", err, out)
		}
		conf += "password_file " + users + "\n"
	}
	if a := b.settings.Authority; a != nil {
		conf += "certfile " + a.Chain + "\nkeyfile " + a.Key + "\n"
	}
	name := filepath.Join(dir, "mosquitto.conf")
	if err := os.WriteFile(name, []byte(conf), 0o600); err != nil {
		return nil, err
	}
	var said bytes.Buffer
	cmd := exec.Command(os.Getenv("ZOFL_MOSQUITTO"), "-c", name)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("mosquitto: %s", said.Bytes())
		}
	}, nil
}
