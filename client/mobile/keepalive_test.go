//go:build unix

package mobile

import (
	"net"
	"syscall"
	"testing"
)

// An idle socket sends nothing. Go's keep-alive probes would wake the radio every 15
// seconds; NATS's pings detect a dead connection.
func TestDialerLeavesRadioAsleep(t *testing.T) {
	address, _ := silent(t)
	d := &dialer{ctx: t.Context(), traffic: &traffic{}, within: dialWithin}
	conn, err := d.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*socket).Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	probes := -1
	if err := raw.Control(func(fd uintptr) {
		probes, err = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_KEEPALIVE)
	}); err != nil {
		t.Fatal(err)
	}
	if probes != 0 || err != nil {
		t.Errorf("TCP probes the connection: %d, %v", probes, err)
	}
}
