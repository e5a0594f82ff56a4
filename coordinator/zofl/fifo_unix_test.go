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

// TestSignalWhileAFIFOHasNoWriter: a program that waits for the writer of a FIFO ends when it gets
// a signal.
func TestSignalWhileAFIFOHasNoWriter(t *testing.T) {
	url := "nats://127.0.0.1:1"
	log, own := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
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
				"--tls-key", own}
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

// TestFIFOOfOthers: a command refuses a secret that other users can read before it reads the
// secret, so even if a FIFO has no writer.
func TestFIFOOfOthers(t *testing.T) {
	client := []string{"client", "--id", "a", "--run", "r", "--url", "nats://127.0.0.1:1"}
	key := "ed25519:iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w"
	for name, args := range map[string]func(fifo string) []string{
		"--creds": func(fifo string) []string { return append(client, "--creds", fifo) },
		"--creds, with a key": func(fifo string) []string {
			return append(client, "--coordinator", key, "--creds", fifo)
		},
		"--nkey":   func(fifo string) []string { return append(client, "--nkey", fifo) },
		"--secret": func(fifo string) []string { return append(client, "--secret", fifo) },
		"--tls-key": func(fifo string) []string {
			return append(client, "--tls-cert", "none.pem", "--tls-key", fifo)
		},
		"status --creds": func(fifo string) []string {
			return []string{"status", "--run", "r", "--url", "nats://127.0.0.1:1", "--creds", fifo}
		},
		"serve --key": func(fifo string) []string {
			return []string{"serve", "--store", t.TempDir(), "--listen", "127.0.0.1:0", "--key", fifo}
		},
		"serve --creds": func(fifo string) []string {
			return []string{"serve", "--store", t.TempDir(), "--url", "nats://127.0.0.1:1", "--creds", fifo}
		},
		"plan --secret": func(fifo string) []string {
			return []string{"plan", "--run", "r", "--dim", "2", "--secret", fifo}
		},
	} {
		t.Run(name, func(t *testing.T) {
			fifo := newFIFO(t)
			if err := os.Chmod(fifo, 0o640); err != nil {
				t.Fatal(err)
			}
			code, _, stderr := runs(t, args(fifo)...)
			if code != cli.ExitUsage || !strings.Contains(stderr, "mode 0640): chmod 600 "+fifo) ||
				!strings.Contains(stderr, name[strings.Index(name, "--"):][:5]) {
				t.Errorf("exit code %d: %s", code, stderr)
			}
		})
	}
}

// TestModelOfAFIFO: a command refuses a FIFO as the file of a model or of images, and does not wait
// for a writer.
func TestModelOfAFIFO(t *testing.T) {
	digits := []string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
		"t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"}
	plan := filepath.Join(t.TempDir(), "plan.json")
	if code, _, stderr := runs(t, "plan", "--run", "r", "--dim", "2", "--write", plan); code != 0 {
		t.Fatal(stderr)
	}
	for _, tt := range []struct {
		name string
		args func(fifo string) []string
	}{
		{"m.f32", func(fifo string) []string {
			return []string{"client", "--id", "a", "--run", "r", "--url", "nats://127.0.0.1:1",
				"--initial", fifo}
		}},
		{"m.npy", func(fifo string) []string {
			return []string{"plan", "--run", "r", "--initial", fifo}
		}},
		{"m.safetensors", func(fifo string) []string {
			return []string{"plan", "--run", "r", "--initial", fifo}
		}},
		{"offered.onnx", func(fifo string) []string {
			return []string{"serve", plan, "--store", t.TempDir(), "--listen", "127.0.0.1:0",
				"--offer", fifo}
		}},
		{"state", func(fifo string) []string {
			return []string{"recover", "--from", fifo, "--store", filepath.Join(t.TempDir(), "new")}
		}},
		{digits[0], func(fifo string) []string {
			return []string{"demo", "--data", filepath.Dir(fifo)}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fifo := filepath.Join(t.TempDir(), tt.name)
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			if tt.name == digits[0] {
				for _, other := range digits[1:] {
					if err := os.WriteFile(filepath.Join(filepath.Dir(fifo), other), nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			code, _, stderr := runs(t, tt.args(fifo)...)
			if code == 0 || !strings.Contains(stderr, fifo+" is a FIFO") {
				t.Errorf("exit code %d: %s", code, stderr)
			}
		})
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

// TestCredsOfAFIFO: devices take part with creds from a FIFO, which they can read only once, and
// reconnect after their broker's restart. A FIFO with authorities works too.
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
