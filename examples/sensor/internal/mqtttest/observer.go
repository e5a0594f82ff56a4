package mqtttest

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// An Observer is a household's other client: it sees and sends messages.
type Observer struct {
	t      *testing.T
	client paho.Client
	heard  chan paho.Message
	passed []paho.Message // while waiting for others
}

var observers atomic.Int64

// Observe connects to a broker, and hears all topics.
func Observe(t *testing.T, b *Broker) *Observer {
	t.Helper()
	o := &Observer{t: t, heard: make(chan paho.Message, 1024)}
	opts := paho.NewClientOptions().SetClientID(fmt.Sprint("observer-", observers.Add(1))).
		SetUsername(User).SetPassword(Password).
		SetAutoReconnect(false)
	if a := b.settings.Authority; a != nil {
		opts.AddBroker("ssl://" + b.Address).SetTLSConfig(&tls.Config{RootCAs: a.Pool})
	} else {
		opts.AddBroker("tcp://" + b.Address)
	}
	o.client = paho.NewClient(opts)
	o.wait(o.client.Connect())
	o.wait(o.client.Subscribe("#", 1, func(_ paho.Client, m paho.Message) { o.heard <- m }))
	t.Cleanup(func() { o.client.Disconnect(0) })
	return o
}

func (o *Observer) wait(token paho.Token) {
	o.t.Helper()
	if !token.WaitTimeout(Patience) || token.Error() != nil {
		o.t.Fatal(token.Error())
	}
}

// Until waits for a message on a topic whose payload has a text, and returns it. Messages that
// came before it wait for another call.
func (o *Observer) Until(topic, text string) paho.Message {
	o.t.Helper()
	want := func(m paho.Message) bool {
		return m.Topic() == topic && strings.Contains(string(m.Payload()), text)
	}
	if i := slices.IndexFunc(o.passed, want); i >= 0 {
		m := o.passed[i]
		o.passed = slices.Delete(o.passed, i, i+1)
		return m
	}
	for late := time.After(Patience); ; {
		select {
		case m := <-o.heard:
			if want(m) {
				return m
			}
			o.passed = append(o.passed, m)
		case <-late:
			o.t.Fatalf("no message with %q came on %s", text, topic)
		}
	}
}

// Send sends a message.
func (o *Observer) Send(topic, payload string, retained bool) {
	o.t.Helper()
	o.wait(o.client.Publish(topic, 1, retained, payload))
}

// Offer sends a message that may be lost.
func (o *Observer) Offer(topic, payload string) { o.client.Publish(topic, 0, false, payload) }
