//go:build !race

// The MQTT client and the broker of these tests have races of their own: a client that connects
// again marks packets that it is writing, and a broker that closes does not wait for what listens.

package mqtt_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/mqtt"
	"github.com/zofl/zofl/examples/sensor/internal/mqtttest"
	"github.com/zofl/zofl/examples/sensor/internal/notice"
)

// A journal is a log that can be read while others write.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newJournal() (*journal, *slog.Logger) {
	j := &journal{more: make(chan struct{}, 1)}
	return j, slog.New(slog.NewTextHandler(j, nil))
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	select {
	case j.more <- struct{}{}:
	default:
	}
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// until waits until a text was logged.
func (j *journal) until(t *testing.T, text string) {
	t.Helper()
	for late := time.After(mqtttest.Patience); !strings.Contains(j.String(), text); {
		select {
		case <-j.more:
		case <-late:
			t.Fatalf("%q was not logged, but:\n%s", text, j)
		}
	}
}

const will = "zofl/kitchen/status"

func open(t *testing.T, cfg mqtt.Config) *mqtt.Link {
	l := mqtt.Open(cfg)
	t.Cleanup(sync.OnceFunc(l.Close))
	return l
}

// TestHome checks that Home Assistant finds the topics whenever it connects, that forecasts and
// anomalies arrive, and that an agent that ends says that it is offline.
func TestHome(t *testing.T) {
	t.Parallel()
	mqtttest.Each(t, mqtttest.Settings{}, func(t *testing.T, b *mqtttest.Broker) {
		_, log := newJournal()
		h := &mqtt.Home{Link: mqtt.Open(mqtt.Config{Address: b.Address, Client: "a", Will: will,
			Log: log}), Prefix: "zofl", ID: "kitchen", Discovery: "homeassistant", Period: time.Minute}
		h.Announce([]mqtt.Channel{{Name: "temperature", Unit: "°C"}})
		o := mqtttest.Observe(t, b)
		o.Until("homeassistant/sensor/zofl_kitchen_temperature_forecast/config",
			`"state_topic":"zofl/kitchen/temperature/forecast"`)
		o.Until(will, "online")
		h.Forecast(notice.Forecast{Channel: "temperature", Value: 20.123456789, Record: 7})
		o.Until("zofl/kitchen/temperature/forecast", `"value":20.1235,"record":7`)
		h.Unusual(notice.Unusual{Channel: "temperature", Reading: 5})
		o.Until("zofl/kitchen/temperature/unusual", `"state":"ON"`)
		h.Unusual(notice.Unusual{Channel: "temperature", Over: true})
		o.Until("zofl/kitchen/temperature/unusual", `"state":"OFF"`)

		late := mqtttest.Observe(t, b) // what is kept comes at once
		if m := late.Until("zofl/kitchen/temperature/forecast", "20.1235"); !m.Retained() {
			t.Error("the forecast is not kept")
		}
		h.Link.Close()
		o.Until(will, "offline")
	})
}

// TestBrokerStartsAgain: a broker that has forgotten everything is told again, the newest of each,
// and its topics are read again. What it had kept of them is no reading.
func TestBrokerStartsAgain(t *testing.T) {
	t.Parallel()
	mqtttest.Each(t, mqtttest.Settings{}, func(t *testing.T, b *mqtttest.Broker) {
		j, log := newJournal()
		heard := make(chan string, 100)
		first := mqtttest.Observe(t, b)
		first.Send("home/kitchen", "old", true)
		first.Until("home/kitchen", "old") // so the broker keeps it before the link comes
		l := open(t, mqtt.Config{Address: b.Address, Client: "a", Will: will, Log: log,
			Topics: map[string]func([]byte){"home/kitchen": func(p []byte) { heard <- string(p) }}})
		l.Keep("zofl/a", []byte("1"))
		o := mqtttest.Observe(t, b)
		o.Until(will, "online")
		o.Until("zofl/a", "1")
		o.Send("home/kitchen", "new", false)
		if got := <-heard; got != "new" {
			t.Errorf("heard %q first, want what was not kept", got)
		}
		b.Stop()
		j.until(t, "not connected")
		l.Keep("zofl/a", []byte("2"))
		l.Keep("zofl/a", []byte("3"))
		b.Start(t)
		o = mqtttest.Observe(t, b)
		o.Until("zofl/a", "3")
		o.Until(will, "online")
		o.Send("home/kitchen", "again", false)
		if got := <-heard; got != "again" {
			t.Errorf("heard %q", got)
		}
	})
}

// A relay passes the bytes between a link and its broker, and can cut the connection.
type relay struct {
	net.Listener
	mu   sync.Mutex
	away bool // no connection gets through
	open []net.Conn
}

func newRelay(t *testing.T, to string) *relay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l}
	t.Cleanup(func() { l.Close(); r.cut() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			r.mu.Lock()
			r.open = append(r.open, near, far)
			away := r.away
			r.mu.Unlock()
			if away {
				near.Close()
				far.Close()
				continue
			}
			go io.Copy(near, far)
			go io.Copy(far, near)
		}
	}()
	return r
}

// cut ends all connections without an MQTT message, and accepts no connection until mend.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = true
	for _, c := range r.open {
		c.Close()
	}
	r.open = nil
}

func (r *relay) mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.away = false
}

// TestWill checks that the broker says offline for an agent whose connection broke, and that the
// agent connects again by itself.
func TestWill(t *testing.T) {
	t.Parallel()
	mqtttest.Each(t, mqtttest.Settings{}, func(t *testing.T, b *mqtttest.Broker) {
		_, log := newJournal()
		r := newRelay(t, b.Address)
		open(t, mqtt.Config{Address: r.Addr().String(), Client: "a", Will: will, Log: log})
		o := mqtttest.Observe(t, b)
		o.Until(will, "online")
		r.cut()
		o.Until(will, "offline") // before the agent is back, or the broker may not say it
		r.mend()
		o.Until(will, "online")
	})
}

// TestCredentials checks that an agent connects to a broker with TLS and users only with the
// right password and authority. Otherwise the agent logs the reason once, without a secret.
func TestCredentials(t *testing.T) {
	t.Parallel()
	s := mqtttest.Settings{Closed: true, Authority: mqtttest.NewAuthority(t)}
	mqtttest.Each(t, s, func(t *testing.T, b *mqtttest.Broker) {
		good := mqtt.Config{Address: b.Address, Client: "good", Will: will, User: mqtttest.User,
			Password: mqtttest.Password, TLS: &tls.Config{RootCAs: s.Authority.Pool}}
		for name, bad := range map[string]struct {
			edit func(*mqtt.Config)
			says string
		}{
			"password": {func(c *mqtt.Config) { c.Password = "battery staple" }, "uthori"},
			"authority": {func(c *mqtt.Config) {
				c.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
			}, "certificate"},
			"no TLS": {func(c *mqtt.Config) { c.TLS = nil }, "not connected"},
		} {
			j, log := newJournal()
			cfg := good
			cfg.Log, cfg.Client = log, "bad"
			bad.edit(&cfg)
			l := open(t, cfg)
			j.until(t, bad.says)
			l.Close()
			if text := j.String(); strings.Contains(text, "staple") ||
				strings.Contains(text, `msg="connected to`) {
				t.Errorf("%s: logged %s", name, text)
			}
		}
		_, good.Log = newJournal()
		open(t, good)
		mqtttest.Observe(t, b).Until(will, "online")
	})
}

// TestHostile checks that for any bytes from a broker, the agent continues and connects again.
func TestHostile(t *testing.T) {
	t.Parallel()
	connack := "\x20\x02\x00\x00"
	for name, sent := range map[string]string{
		"nothing":          "",
		"no MQTT":          "HTTP/1.1 400 Bad Request\r\n\r\n",
		"a refusal":        "\x20\x02\x00\x05",
		"256 MB":           connack + "\x30\xff\xff\xff\x7f\x00\x01a",
		"two return codes": connack + "\x90\x04\x00\x01\x00\x00",
		"all return codes": connack + strings.Repeat("\x90\x03\x00\x01\x02", 50),
		"no such answers":  connack + strings.Repeat("\x40\x02\xff\xff\x40\x02\x00\x00", 50),
		"an odd topic":     connack + "\x30\x05\x00\x01\x00xx\x30\x04\x00\x00xx",
		"a message":        connack + "\x30\x05\x00\x01axy",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			_, log := newJournal()
			link := open(t, mqtt.Config{Address: l.Addr().String(), Client: "a", Will: will, Log: log,
				Topics: map[string]func([]byte){"a": func([]byte) {}}})
			for range 2 {
				c, err := l.Accept()
				if err != nil {
					t.Fatal(err)
				}
				io.WriteString(c, sent)
				c.(*net.TCPConn).CloseWrite()
				io.Copy(io.Discard, c)
				c.Close()
			}
			link.Keep("b", nil)
		})
	}
}
