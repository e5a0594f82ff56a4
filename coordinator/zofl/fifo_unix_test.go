//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// newFIFO makes a FIFO that its owner alone can use.
func newFIFO(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestSignalWhileAFIFOHasNoWriter: a program that waits for what a FIFO says ends when it is told
// to.
func TestSignalWhileAFIFOHasNoWriter(t *testing.T) {
	url := "nats://127.0.0.1:1"
	log := filepath.Join(t.TempDir(), "log")
	for name, args := range map[string]func(fifo string) []string{
		"client --creds": func(fifo string) []string {
			return []string{"client", "--id", "a", "--run", "r", "--url", url, "--creds", fifo}
		},
		"client --creds, in the clear without": func(fifo string) []string {
			return []string{"client", "--id", "a", "--run", "r", "--url", "nats://broker.invalid",
				"--creds", fifo, "--coordinator", "ed25519:iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w"}
		},
		"client --nkey": func(fifo string) []string {
			return []string{"client", "--id", "a", "--run", "r", "--url", url, "--nkey", fifo}
		},
		"client --tls-ca": func(fifo string) []string {
			return []string{"client", "--id", "a", "--run", "r", "--url", url, "--tls-ca", fifo}
		},
		"client --tls-cert": func(fifo string) []string {
			return []string{"client", "--id", "a", "--run", "r", "--url", url, "--tls-cert", fifo,
				"--tls-key", "none.pem"}
		},
		"client --secret": func(fifo string) []string {
			return []string{"client", "--id", "a", "--run", "r", "--url", url, "--secret", fifo}
		},
		"serve --key": func(fifo string) []string {
			return []string{"serve", "--store", log, "--listen", "127.0.0.1:0", "--key", fifo}
		},
		"serve PLAN": func(fifo string) []string { return []string{"serve", fifo, "--store", log} },
	} {
		t.Run(name, func(t *testing.T) {
			fifo := newFIFO(t)
			p := start(t, args(fifo)...)
			w, err := os.OpenFile(fifo, os.O_WRONLY, 0) // returns once the program has it open
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			if code := p.interrupt(); code != 0 {
				t.Errorf("exit code %d: %s", code, p.stderr.String())
			}
		})
	}
	fifo := newFIFO(t) // a command that was not done says so
	p := start(t, "status", "--run", "r", "--url", url, "--creds", fifo)
	w, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if code := p.interrupt(); code != cli.ExitInterrupt ||
		!strings.Contains(p.stderr.String(), "something has to write the file") {
		t.Errorf("exit code %d: %s", code, p.stderr.String())
	}
}

// pour writes a file's content into a FIFO, once.
func pour(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	fifo := newFIFO(t)
	go func() { _ = os.WriteFile(fifo, content, 0) }()
	return fifo
}

// TestCredsOfAFIFO: devices whose creds come from a FIFO, which can be read only once, take part,
// and come back after their broker. So it is with authorities.
func TestCredsOfAFIFO(t *testing.T) {
	k := newEnrolled(t)
	operator := k.add("alice", "operator")
	login := k.add("a", "device")
	login[3] = pour(t, login[3])
	k.member("a", login)
	b := k.add("b", "device")
	b[3] = pour(t, b[3])
	k.member("b", b)
	n := k.recordsReach(operator, 8).N
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	k.lead = background(t, "serve", "--store", k.log, "--listen", strings.TrimPrefix(k.url, "tls://"),
		"--tls", "--auth", k.auth, "--json")
	k.recordsReach(operator, n+8)
	ca := append(operator, "--tls-ca", pour(t, filepath.Join(k.auth, "ca.pem")))
	if _, err := zofl(t, append([]string{"status"}, ca...)...); err != nil {
		t.Errorf("with authorities from a FIFO: %v", err)
	}
}
