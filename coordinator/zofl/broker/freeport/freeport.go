// Package freeport gives tests TCP ports for servers that stop and start again:
//
//	address := freeport.Address(t) // "127.0.0.1:23517"
//
// A port belongs to a test until the test ends, even while no server listens there. No other test
// gets the port, neither in this process nor in others. All ports are below the range from which
// the system takes ports for outgoing connections.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

const (
	first = 20000
	count = 12000 // Linux's outgoing connections begin at 32768
)

// Take returns n ports of 127.0.0.1.
func Take(t testing.TB, n int) []int {
	t.Helper()
	var ports []int
	for range 1000 {
		port := first + rand.IntN(count)
		hold, err := reserve(port)
		if err != nil {
			continue
		}
		t.Cleanup(func() { hold.Close() })
		if ports = append(ports, port); len(ports) == n {
			return ports
		}
	}
	t.Fatalf("of %d ports wanted %d are free between %d and %d", n, len(ports), first, first+count)
	return nil
}

// Address returns "127.0.0.1" with a port.
func Address(t testing.TB) string {
	t.Helper()
	return fmt.Sprint("127.0.0.1:", Take(t, 1)[0])
}

// reserve reserves a TCP port at which nobody listens. To reserve the port, it holds the UDP port
// of the same number. No server here uses that UDP port. The system gives a UDP port to one process
// only, and frees the port however the process ends.
func reserve(port int) (net.PacketConn, error) {
	address := fmt.Sprint("127.0.0.1:", port)
	hold, err := net.ListenPacket("udp", address)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		hold.Close()
		return nil, err
	}
	return hold, l.Close()
}
