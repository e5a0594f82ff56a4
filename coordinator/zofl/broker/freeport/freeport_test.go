package freeport

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// No two tests have the same port at the same time, whether anybody listens at the port or not.
func TestTake(t *testing.T) {
	seen := make(map[int]bool)
	for range 20 {
		for _, port := range Take(t, 6) {
			if seen[port] {
				t.Fatalf("port %d was given twice", port)
			}
			seen[port] = true
		}
	}
}

// A port is free again when its test has ended.
func TestReleased(t *testing.T) {
	var port int
	t.Run("a test", func(t *testing.T) {
		port = Take(t, 1)[0]
		if _, err := reserve(port); err == nil {
			t.Errorf("port %d was given twice", port)
		}
	})
	hold, err := reserve(port)
	if err != nil {
		t.Fatal(err)
	}
	hold.Close()
}

// Take does not return a port at which somebody listens, and does not reserve that port.
func TestTaken(t *testing.T) {
	var address string
	t.Run("a test", func(t *testing.T) { address = Address(t) })
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if _, err := reserve(port); err == nil {
		t.Errorf("port %d was given, and a server has it", port)
	}
	l.Close()
	hold, err := reserve(port)
	if err != nil {
		t.Fatalf("after the server has ended: %v", err)
	}
	hold.Close()
}

const asHolder = "ZOFL_HOLD_A_PORT"

func TestMain(m *testing.M) {
	if os.Getenv(asHolder) != "" {
		hold()
		return
	}
	os.Exit(m.Run())
}

// hold reserves a port, prints its number, and holds the port until the input ends.
func hold() {
	for port := first; ; port++ {
		if _, err := reserve(port); err == nil {
			fmt.Println(port)
			break
		}
	}
	bufio.NewReader(os.Stdin).ReadString('\n')
}

// Take does not return a port of another process until that process has been killed.
func TestProcesses(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asHolder+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var port int
	if _, err := fmt.Fscan(out, &port); err != nil {
		t.Fatal(err)
	}
	if _, err := reserve(port); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("port %d: %v, want that it is in use", port, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed is how it ends
	hold, err := reserve(port)
	if err != nil {
		t.Fatalf("after the process was killed: %v", err)
	}
	hold.Close()
}
