//go:build js && wasm

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall/js"
	"time"

	"github.com/zofl/zofl/examples/browser/queue"
)

const (
	openWithin = 20 * time.Second
	// mostWaiting is the largest number of received messages that wait to be read. With more, the
	// socket closes the connection.
	mostWaiting = 10_000
)

// A dialer opens WebSockets for nats.go. The dialer of nats.go itself needs TCP, and pages cannot
// use TCP. In a WebSocket the broker speaks the same protocol as over TCP, split into WebSocket
// messages at any byte.
type dialer struct{ scheme string } // ws or wss

// Dial implements [nats.CustomDialer].
func (d dialer) Dial(_, address string) (c net.Conn, err error) {
	defer caught(&err)
	s := &socket{ws: js.Global().Get("WebSocket").New(d.scheme + "://" + address),
		in: queue.New[[]byte](), state: make(chan error, 1)}
	s.ws.Set("binaryType", "arraybuffer")
	s.listen()
	timer := time.NewTimer(openWithin)
	defer timer.Stop()
	select {
	case err = <-s.state:
	case <-timer.C:
		err = fmt.Errorf("No answer from the broker at %s within %v.", address, openWithin)
	}
	told := ""
	if err != nil {
		s.close()
		told = err.Error() + " Trying again."
	}
	tell(map[string]any{"kind": "link", "fault": told})
	if err != nil {
		return nil, err
	}
	// nats.go sets deadlines on its connection, and a pipe supports deadlines.
	near, far := net.Pipe()
	go s.send(far)
	go s.receive(far)
	return near, nil
}

// SkipTLSHandshake tells nats.go that the browser does the TLS handshake.
func (d dialer) SkipTLSHandshake() bool { return true }

// A socket is a WebSocket with the bytes received from it.
type socket struct {
	ws    js.Value
	in    *queue.Queue[[]byte]
	state chan error // nil once it is open, or why it is not
	funcs []js.Func
}

// listen registers functions for the events of the WebSocket. The functions must not wait.
func (s *socket) listen() {
	s.on("open", func(js.Value) { s.became(nil) })
	s.on("message", func(event js.Value) {
		if s.in.Push(bytesOf(js.Global().Get("Uint8Array").New(event.Get("data")))) > mostWaiting {
			s.close()
		}
	})
	s.on("close", func(event js.Value) {
		s.became(fmt.Errorf("No connection to the broker (code %d): is it there, and does it let "+
			"this page in (--origin)?", event.Get("code").Int()))
		s.in.Close()
		go s.release()
	})
}

func (s *socket) on(event string, do func(js.Value)) {
	f := js.FuncOf(func(_ js.Value, args []js.Value) any { do(args[0]); return nil })
	s.funcs = append(s.funcs, f)
	s.ws.Call("addEventListener", event, f)
}

func (s *socket) release() {
	for _, f := range s.funcs {
		f.Release()
	}
}

// became stores the first state of the socket, open or failed. Dial waits for this state.
func (s *socket) became(err error) {
	select {
	case s.state <- err:
	default:
	}
}

func (s *socket) close() { s.ws.Call("close") }

// send sends the bytes that nats.go writes, until it closes the pipe.
func (s *socket) send(from net.Conn) {
	defer s.close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && s.write(buffer[:n]) != nil || err != nil {
			return
		}
	}
}

func (s *socket) write(b []byte) (err error) {
	defer caught(&err)
	s.ws.Call("send", arrayOf(b))
	return nil
}

// receive gives nats.go the received bytes, until the WebSocket is closed.
func (s *socket) receive(to net.Conn) {
	defer to.Close()
	for {
		b, ok := s.in.Pull()
		if !ok {
			return
		}
		if _, err := to.Write(b); err != nil {
			if !errors.Is(err, io.ErrClosedPipe) {
				failed(err)
			}
			return
		}
	}
}
