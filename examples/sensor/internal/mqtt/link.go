// Package mqtt connects an agent to a broker of MQTT 3.1.1. The package publishes the agent's
// topics at the broker, and reads other topics. If the broker is away or restarts, the package
// waits for it. A broker may send any bytes: see guard.
package mqtt

import (
	"context"
	"crypto/tls"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

const (
	dialWithin    = 10 * time.Second
	publishWithin = 10 * time.Second // until the broker has answered
	closeWithin   = 2 * time.Second
	retryEvery    = 5 * time.Second
	retryMost     = time.Minute
)

// What a status topic says.
const (
	online  = "online"
	offline = "offline"
)

// A Config says how to connect.
type Config struct {
	Address        string      // HOST:PORT
	TLS            *tls.Config // nil: without
	User, Password string
	Client         string // MQTT's client identifier, unlike any other's at the broker
	// Will is a topic whose message is online while the link is connected. If the agent is killed or
	// its device loses power, the broker itself publishes offline at this topic.
	Will string
	// Topics holds the topics to read, each with a function. The link calls the function with each
	// message, on one goroutine; the function must not keep the payload. The link ignores messages
	// that the broker had kept, because their age is unknown.
	Topics map[string]func(payload []byte)
	Log    *slog.Logger
}

// A Link is a connection that connects again whenever the connection is lost.
type Link struct {
	cfg    Config
	client paho.Client
	wake   chan struct{}
	end    context.CancelFunc
	ended  chan struct{}

	mu   sync.Mutex
	kept map[string][]byte // by topic
	due  map[string]bool   // those that the broker may not have
	told string            // why there is no connection; "": there is one
}

// Open begins to connect, and does not wait for the connection.
func Open(cfg Config) *Link {
	ctx, end := context.WithCancel(context.Background())
	l := &Link{cfg: cfg, wake: make(chan struct{}, 1), end: end, ended: make(chan struct{}),
		kept: map[string][]byte{cfg.Will: []byte(online)}, due: map[string]bool{}}
	l.client = paho.NewClient(l.options())
	l.client.Connect() // which is retried until Disconnect
	go l.publish(ctx)
	return l
}

func (l *Link) options() *paho.ClientOptions {
	return paho.NewClientOptions().
		AddBroker("tcp://"+l.cfg.Address). // for dial, which knows better
		SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) {
			return l.dial()
		}).
		SetProtocolVersion(4).
		SetClientID(l.cfg.Client).SetUsername(l.cfg.User).SetPassword(l.cfg.Password).
		SetCleanSession(true).
		SetBinaryWill(l.cfg.Will, []byte(offline), 1, true).
		SetKeepAlive(30 * time.Second).SetPingTimeout(10 * time.Second).
		SetConnectTimeout(dialWithin).SetWriteTimeout(publishWithin).
		SetConnectRetry(true).SetConnectRetryInterval(retryEvery).
		SetAutoReconnect(true).SetMaxReconnectInterval(retryMost).
		SetOrderMatters(true).
		SetDefaultPublishHandler(func(paho.Client, paho.Message) {}).
		SetOnConnectHandler(func(paho.Client) { l.connected() }).
		SetConnectionNotificationHandler(l.notified)
}

// dial connects, and guards the bytes from the broker.
func (l *Link) dial() (net.Conn, error) {
	d := &net.Dialer{Timeout: dialWithin}
	if l.cfg.TLS == nil {
		c, err := d.Dial("tcp", l.cfg.Address)
		if err != nil {
			return nil, err
		}
		return newGuard(c), nil
	}
	c, err := tls.DialWithDialer(d, "tcp", l.cfg.Address, l.cfg.TLS)
	if err != nil {
		return nil, err
	}
	return newGuard(c), nil
}

// connected subscribes, and publishes everything again: a broker that has just started has no
// messages.
func (l *Link) connected() {
	l.tell("")
	for _, topic := range slices.Sorted(maps.Keys(l.cfg.Topics)) {
		take := l.cfg.Topics[topic]
		token := l.client.Subscribe(topic, 0, func(_ paho.Client, m paho.Message) {
			if !m.Retained() {
				take(m.Payload())
			}
		})
		if token.WaitTimeout(publishWithin) && token.Error() != nil {
			l.cfg.Log.Warn("a topic is not read", "topic", topic, "err", token.Error())
		}
	}
	l.mu.Lock()
	for topic := range l.kept {
		l.due[topic] = true
	}
	l.mu.Unlock()
	l.stir()
}

// notified logs why there is no connection, once for each reason.
func (l *Link) notified(_ paho.Client, n paho.ConnectionNotification) {
	var err error
	switch n := n.(type) {
	case paho.ConnectionNotificationLost:
		err = n.Reason
	case paho.ConnectionNotificationFailed:
		err = n.Reason
	}
	if err != nil {
		l.tell(err.Error())
	}
}

func (l *Link) tell(why string) {
	l.mu.Lock()
	before := l.told
	l.told = why
	l.mu.Unlock()
	switch {
	case why == "":
		l.cfg.Log.Info("connected to the household's broker", "broker", l.cfg.Address)
	case why != before:
		l.cfg.Log.Warn("not connected to the household's broker: trying again", "broker",
			l.cfg.Address, "err", why)
	}
}

// Close says that the agent is offline, and ends the connection.
func (l *Link) Close() {
	l.end()
	<-l.ended
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	if l.client.IsConnectionOpen() {
		if err := l.send(ctx, l.cfg.Will, []byte(offline)); err != nil {
			l.cfg.Log.Warn("the broker will notice by itself that this agent has ended", "err", err)
		}
	}
	l.client.Disconnect(uint(closeWithin.Milliseconds()))
}
