package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
)

// These bytes are of SOCKS version 5 (RFC 1928) and of its login (RFC 1929).
const (
	socksVersion   = 5
	loginVersion   = 1
	loginNone      = 0
	loginPassword  = 2
	loginRefused   = 0xff
	commandConnect = 1
	addressIPv4    = 1
	addressName    = 3
	addressIPv6    = 4
)

// socksFaults are the answers to a request, by their number.
var socksFaults = [...]string{
	1: "general failure", 2: "not allowed by its rules", 3: "network unreachable",
	4: "host unreachable", 5: "connection refused by the server", 6: "TTL expired",
	7: "command not supported", 8: "address type not supported",
}

// socks asks a SOCKS proxy for a connection to an address. The proxy resolves the name.
func (p *proxy) socks(conn net.Conn, address string) error {
	if err := p.greet(conn, address); err != nil {
		return err
	}
	request, err := socksRequest(address)
	if err != nil {
		return err
	}
	if _, err := conn.Write(request); err != nil {
		return err
	}
	var answer [4]byte
	if err := read(conn, answer[:]); err != nil {
		return err
	}
	if code := answer[1]; code != 0 {
		text := "unknown failure " + strconv.Itoa(int(code))
		if int(code) < len(socksFaults) {
			text = socksFaults[code]
		}
		remedy := "it does not reach " + address + ": check the broker's address, and whether it runs"
		if code == 2 {
			remedy = "ask who runs it to allow " + address
		}
		return p.fault(address, remedy, errors.New(text))
	}
	return skipBound(conn, answer[3])
}

// greet agrees on a login, and logs in.
func (p *proxy) greet(conn net.Conn, address string) error {
	name, password, known := p.user()
	greeting := []byte{socksVersion, 1, loginNone}
	if known {
		greeting = []byte{socksVersion, 2, loginNone, loginPassword}
	}
	if _, err := conn.Write(greeting); err != nil {
		return err
	}
	var choice [2]byte
	if err := read(conn, choice[:]); err != nil {
		return err
	}
	switch {
	case choice[0] != socksVersion:
		return errors.New("no answer of a SOCKS 5 proxy")
	case choice[1] == loginNone:
		return nil
	case choice[1] == loginPassword && known:
		return p.logIn(conn, address, name, password)
	case choice[1] == loginRefused && !known:
		return p.fault(address, "write "+p.Variable+"="+p.Scheme+"://USER:PASSWORD@"+p.address(),
			errors.New("it wants a user and a password"))
	}
	return errors.New("it takes no login that zofl knows")
}

func (p *proxy) logIn(conn net.Conn, address, name, password string) error {
	if len(name) > 255 || len(password) > 255 {
		return errors.New("user and password have at most 255 bytes each")
	}
	login := append([]byte{loginVersion, byte(len(name))}, name...)
	login = append(append(login, byte(len(password))), password...)
	if _, err := conn.Write(login); err != nil {
		return err
	}
	var answer [2]byte
	if err := read(conn, answer[:]); err != nil {
		return err
	}
	if answer[1] != 0 {
		return p.fault(address, "correct "+p.Variable,
			errors.New("it does not know this user, or the password is wrong"))
	}
	return nil
}

// socksRequest is the request to connect to an address.
func socksRequest(address string) ([]byte, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, err
	}
	request := []byte{socksVersion, commandConnect, 0}
	switch ip := net.ParseIP(host); {
	case ip.To4() != nil:
		request = append(append(request, addressIPv4), ip.To4()...)
	case ip != nil:
		request = append(append(request, addressIPv6), ip...)
	case len(host) > 255:
		return nil, fmt.Errorf("the host's name has %d bytes, more than 255", len(host))
	default:
		request = append(append(request, addressName, byte(len(host))), host...)
	}
	return append(request, byte(port>>8), byte(port)), nil
}

// skipBound reads the address at which the proxy connects to the server.
func skipBound(conn net.Conn, kind byte) error {
	length := make([]byte, 1)
	switch kind {
	case addressIPv4:
		length[0] = net.IPv4len
	case addressIPv6:
		length[0] = net.IPv6len
	case addressName:
		if err := read(conn, length); err != nil {
			return err
		}
	default:
		return errors.New("no answer of a SOCKS 5 proxy")
	}
	return read(conn, make([]byte, int(length[0])+2))
}

// read fills a buffer. A proxy that closes the connection is no SOCKS proxy.
func read(conn net.Conn, to []byte) error {
	_, err := io.ReadFull(conn, to)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it closed the connection: no answer of a SOCKS 5 proxy")
	}
	return err
}
