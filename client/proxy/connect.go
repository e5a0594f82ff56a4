package proxy

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// mostHead bounds the head of a proxy's answer.
const mostHead = 64 << 10

// connect asks an HTTP proxy for a connection to an address.
func (p *proxy) connect(conn net.Conn, address string) (net.Conn, error) {
	head := "CONNECT " + address + " HTTP/1.1\r\nHost: " + address + "\r\n"
	name, password, known := p.user()
	if known {
		head += "Proxy-Authorization: Basic " +
			base64.StdEncoding.EncodeToString([]byte(name+":"+password)) + "\r\n"
	}
	if _, err := io.WriteString(conn, head+"\r\n"); err != nil {
		return nil, err
	}
	limited := &io.LimitedReader{R: conn, N: mostHead}
	reader := bufio.NewReader(limited)
	answer, err := http.ReadResponse(reader, &http.Request{Method: http.MethodConnect})
	switch {
	case err != nil && timedOut(err):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("no answer of an HTTP proxy (%s)", printable(err.Error()))
	case answer.StatusCode/100 == 2:
		limited.N = 1<<63 - 1
		return &buffered{conn, reader}, nil
	}
	return nil, p.fault(address, p.remedyOf(answer, known, address),
		errors.New(printable(answer.Status)))
}

// remedyOf says what to do about a refusal.
func (p *proxy) remedyOf(answer *http.Response, known bool, address string) string {
	login := strings.Join(answer.Header.Values("Proxy-Authenticate"), ", ")
	switch answer.StatusCode {
	case http.StatusProxyAuthRequired:
		switch {
		case login != "" && !strings.Contains(strings.ToLower(login), "basic"):
			return "it takes no password of the kind Basic, but " + printable(login) +
				": run a program beside this one that logs in, such as cntlm, and name it in " + p.Variable
		case known:
			return "it does not know this user, or the password is wrong: correct " + p.Variable
		}
		return "it wants a user and a password: write " + p.Variable + "=" + p.Scheme +
			"://USER:PASSWORD@" + p.address()
	case http.StatusForbidden, http.StatusMethodNotAllowed:
		return "it does not connect to " + address + ": ask who runs it to allow CONNECT to this " +
			"port, or let the broker listen at 443"
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return "it does not reach " + address + ": check the broker's address, and whether it runs"
	}
	return "correct " + p.Variable + ", or ask who runs it"
}

// A buffered connection first reads what came with the proxy's answer.
type buffered struct {
	net.Conn
	reader *bufio.Reader
}

func (b *buffered) Read(to []byte) (int, error) { return b.reader.Read(to) }

func timedOut(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
