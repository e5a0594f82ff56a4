package mqtt

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// A wire is a connection from which bytes come.
type wire struct {
	net.Conn
	from io.Reader
}

func (w wire) Read(b []byte) (int, error) { return w.from.Read(b) }

func packet(t testing.TB, write func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// messages returns the bytes that a broker may send.
func messages(t testing.TB) []byte {
	connack := packets.NewControlPacket(packets.Connack).(*packets.ConnackPacket)
	suback := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
	suback.ReturnCodes = []byte{0}
	puback := packets.NewControlPacket(packets.Puback)
	publish := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
	publish.TopicName, publish.Payload, publish.Retain = "home/kitchen", make([]byte, 300), true
	var all []byte
	for _, p := range []packets.ControlPacket{connack, suback, puback, publish,
		packets.NewControlPacket(packets.Pingresp)} {
		all = append(all, packet(t, p.Write)...)
	}
	return all
}

// TestGuard: what a broker may send passes unchanged; the first packet that it may not ends the
// connection, before anything of its length is allocated.
func TestGuard(t *testing.T) {
	good := messages(t)
	got, err := io.ReadAll(newGuard(wire{from: bytes.NewReader(good)}))
	if err != nil || !bytes.Equal(got, good) {
		t.Errorf("%d bytes of %d came: %v", len(got), len(good), err)
	}
	for name, bad := range map[string][]byte{
		"256 MB":           {0x30, 0xff, 0xff, 0xff, 0x7f, 0, 1, 'a'},
		"five bytes":       {0x30, 0xff, 0xff, 0xff, 0xff, 0x7f, 0},
		"a topic too long": {0x30, 0x03, 0xff, 0xff, 'a'},
		"no topic":         {0x30, 0x01, 0x00},
		"QoS 2":            {0x34, 0x05, 0, 1, 'a', 0, 1},
		"QoS 3":            {0x36, 0x05, 0, 1, 'a', 0, 1},
		"two return codes": {0x90, 0x04, 0, 1, 0, 0}, // for which paho has no topic, and panics
		"a long CONNACK":   {0x20, 0x03, 0, 0, 0},
		"a CONNECT":        {0x10, 0x00},
		"no kind":          {0x00, 0x00},
		"PUBREC":           {0x50, 0x02, 0, 1},
		"cut":              {0x30},
		"cut in a length":  {0x30, 0x80},
		"cut in a topic":   {0x30, 0x09, 0},
	} {
		got, err := io.ReadAll(newGuard(wire{from: bytes.NewReader(append(good[:len(good):len(good)],
			bad...))}))
		if err == nil || !bytes.Equal(got, good) {
			t.Errorf("%s: %d bytes of %d came: %v", name, len(got), len(good), err)
		}
	}
}

// FuzzGuard: paho reads what passes the guard, and nothing that is longer than what was sent.
func FuzzGuard(f *testing.F) {
	f.Add(messages(f))
	f.Add([]byte{0x30, 0x03, 0x00, 0x01, 'a'})
	f.Add([]byte{0x90, 0x03, 0x00, 0x01, 0x80, 0x40, 0x02, 0x00, 0x01})
	f.Fuzz(func(t *testing.T, sent []byte) {
		guard, read := newGuard(wire{from: bytes.NewReader(sent)}), 0
		for {
			p, err := packets.ReadPacket(guard)
			if err != nil {
				if read > len(sent) {
					t.Errorf("%d bytes came of %d", read, len(sent))
				}
				return
			}
			switch p := p.(type) {
			case *packets.PublishPacket:
				read += 4 + len(p.TopicName) + len(p.Payload)
				if p.Qos != 0 {
					t.Errorf("a message of QoS %d", p.Qos)
				}
			case *packets.SubackPacket:
				read += 4 + len(p.ReturnCodes)
				if len(p.ReturnCodes) != 1 {
					t.Errorf("%d return codes", len(p.ReturnCodes))
				}
			case *packets.ConnackPacket, *packets.PubackPacket:
				read += 4
			case *packets.PingrespPacket:
				read += 2
			default:
				t.Errorf("%T came", p)
			}
		}
	})
}

// FuzzNumber: any message is a finite number, or is none.
func FuzzNumber(f *testing.F) {
	f.Add([]byte("21.5"), "")
	f.Add([]byte(`{"a":[{"b":1}],"b":{"c":"2"}}`), "b.c")
	f.Add([]byte(`{"a":1e999}`), "a")
	f.Add(bytes.Repeat([]byte("["), 20000), "a")
	f.Fuzz(func(t *testing.T, payload []byte, field string) {
		v, err := Number(payload, field)
		if err != nil && !errors.Is(err, ErrNoNumber) || err == nil && v-v != 0 {
			t.Errorf("%v, %v", v, err)
		}
	})
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		payload, field string
		want           float64
		ok             bool
	}{
		{" 21.5\n", "", 21.5, true}, {"-1e2", "", -100, true}, {"on", "", 0, false},
		{"inf", "", 0, false}, {"", "", 0, false},
		{`{"a":{"b":[1,{"c":2}],"d":"3.5"}}`, "a.d", 3.5, true},
		{`{"a":1,"a":2}`, "a", 1, true}, {`{"a":null}`, "a", 0, false},
		{`{"a":{}}`, "a", 0, false}, {`[1]`, "a", 0, false}, {`{"b":1}`, "a", 0, false},
		{`{"b":[1`, "a", 0, false}, {`{"a":{"a":4}}`, "a.a", 4, true}, {"5", "a", 0, false},
	} {
		v, err := Number([]byte(c.payload), c.field)
		if v != c.want || (err == nil) != c.ok {
			t.Errorf("%s of %s: %v, %v, want %v", c.field, c.payload, v, err, c.want)
		}
	}
}
