package mqtt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
)

// packetMost is the longest packet that a guard accepts, in bytes after the packet's length
// field. A longer packet ends the connection, because paho would allocate as much as the first
// five bytes of a packet announce, up to 256 MB.
const packetMost = 16 << 10

// A guard is a connection that lets only packets pass that a broker may send to this client (MQTT
// 3.1.1, sections 2.2 and 3), with the lengths that they may have. Within a packet a guard checks
// only the length of the topic, because paho trusts this length without a check.
//
//	CONNACK 2 bytes, PUBACK 2, SUBACK 3, as a SUBSCRIBE has one topic, PINGRESP 0,
//	PUBLISH up to packetMost, of QoS 0, as it was asked for
type guard struct {
	net.Conn
	from *bufio.Reader
	head []byte // of a packet that was checked, to be read
	left int    // of its rest, to be read
}

func newGuard(c net.Conn) *guard { return &guard{Conn: c, from: bufio.NewReaderSize(c, 4096)} }

// Read implements io.Reader.
func (g *guard) Read(b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	if len(g.head) == 0 && g.left == 0 {
		if err := g.next(); err != nil {
			g.head = nil
			return 0, err
		}
	}
	if len(g.head) > 0 {
		n = copy(b, g.head)
		g.head = g.head[n:]
		return n, nil
	}
	n, err = g.from.Read(b[:min(len(b), g.left)])
	g.left -= n
	return n, err
}

// lengths are the packet lengths, by first byte, of the packets with a fixed length.
var lengths = map[byte]int{0x20: 2, 0x40: 2, 0x90: 3, 0xd0: 0}

// next reads and checks the beginning of a packet.
func (g *guard) next() error {
	kind, err := g.from.ReadByte()
	if err != nil {
		return err
	}
	g.head = append(g.head[:0], kind)
	length := 0
	for shift := 0; ; shift += 7 {
		b, err := g.from.ReadByte()
		if err != nil {
			return cut(err)
		}
		g.head = append(g.head, b)
		length |= int(b&0x7f) << shift
		if b < 0x80 {
			break
		}
		if shift == 21 {
			return errors.New("mqtt: a packet's length has more than 4 bytes")
		}
	}
	want, fixed := lengths[kind]
	switch {
	case fixed && length == want:
		g.left = length
		return nil
	case !fixed && kind&^0x09 == 0x30: // PUBLISH, repeated or not, retained or not
		return g.publish(length)
	}
	return fmt.Errorf("mqtt: a packet that begins with %#x and has a length of %d: no broker "+
		"sends that here", kind, length)
}

// publish checks that the topic of a message ends within the message.
func (g *guard) publish(length int) error {
	if length > packetMost || length < 2 {
		return fmt.Errorf("mqtt: a message of %d bytes, which are not 2 to %d", length, packetMost)
	}
	topic, err := g.from.Peek(2)
	if err != nil {
		return cut(err)
	}
	if n := int(topic[0])<<8 | int(topic[1]); 2+n > length {
		return fmt.Errorf("mqtt: a topic of %d bytes in a message of %d", n, length)
	}
	g.left = length
	return nil
}

// cut turns the end of the connection within a packet into an error.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
