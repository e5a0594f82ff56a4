package mobile

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/zofl/zofl/client/mobile"
)

// An impostor is a server without TLS that records what it gets.
type impostor struct {
	t      *testing.T
	listen net.Listener
	talk   func(conn net.Conn, in *bufio.Reader)

	mu   sync.Mutex // guards what follows
	sent strings.Builder
	all  sync.WaitGroup
}

// newImpostor starts an impostor that greets with further INFO fields, then calls talk.
func newImpostor(t *testing.T, more string, talk func(conn net.Conn, in *bufio.Reader)) *impostor {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	i := &impostor{t: t, listen: l, talk: talk}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			i.all.Go(func() { i.serve(conn, more) })
		}
	}()
	t.Cleanup(func() { l.Close() })
	return i
}

func (i *impostor) serve(conn net.Conn, more string) {
	defer conn.Close()
	fmt.Fprintf(conn, `INFO {"server_id":"X","version":"2.11.0","proto":1,"headers":true,`+
		`"max_payload":65536,"nonce":"bm9uY2U"%s}`+"\r\n", more)
	in := bufio.NewReader(io.TeeReader(conn, i))
	if i.talk != nil {
		i.talk(conn, in)
	}
	io.Copy(io.Discard, in)
}

// Write records what was received.
func (i *impostor) Write(b []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.sent.Write(b)
}

// got returns what the impostor received, once its connections have ended.
func (i *impostor) got() string {
	i.listen.Close()
	i.all.Wait()
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.sent.String()
}

// TestLiveNothingInTheClear checks that a client sends no byte to a server without TLS. A server
// that claims to have TLS and has none receives only a TLS greeting: no names, no key.
func TestLiveNothingInTheClear(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	secrets := []string{"CONNECT", "phone", "nowhere", s.app.public, s.app.seed, "bm9uY2U", "sig"}
	for name, tt := range map[string]struct {
		more, scheme string
		bytes        bool
	}{
		"no TLS":            {"", "tls", false},
		"no TLS, nats://":   {"", "nats", false},
		"asks for keys":     {`,"auth_required":true`, "tls", false},
		"says it has TLS":   {`,"tls_available":true`, "nats", true},
		"says it wants TLS": {`,"tls_required":true`, "tls", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newImpostor(t, tt.more, func(conn net.Conn, in *bufio.Reader) {
				if tt.bytes {
					in.ReadByte()
					io.WriteString(conn, "PONG\r\n-ERR 'no'\r\n") // no TLS at all
				}
			})
			at := *s
			at.t, at.url = t, tt.scheme+"://"+i.listen.Addr().String()
			p := newPhone(t, at.settings("nowhere", "phone", 10))
			p.start()
			p.faulted(mobile.CodeTLS)
			p.stopped()
			got := i.got()
			if (got != "") != tt.bytes {
				t.Errorf("the server got %q", got)
			}
			for _, secret := range secrets {
				if strings.Contains(got, secret) {
					t.Errorf("the server got %q, which contains %q", got, secret)
				}
			}
		})
	}
}
