package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// brokerOf starts a nats-server with options on a free port, and returns its URL.
func brokerOf(t *testing.T, opts *server.Options) string {
	t.Helper()
	opts.Host, opts.Port, opts.NoSigs, opts.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	s, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server is not ready")
	}
	return s.ClientURL()
}

// A way is where a coordinator and its devices connect: to one broker, or to two in a row.
type way struct{ serve, device string }

// leaf starts a broker whose messages of other accounts go over another one's leaf port.
func leaf(t *testing.T, payload int32, hub int) string {
	t.Helper()
	remote := &url.URL{Scheme: "nats-leaf", Host: fmt.Sprint("127.0.0.1:", hub)}
	opts := &server.Options{MaxPayload: payload, ServerName: fmt.Sprint("leaf", payload)}
	opts.LeafNode.Remotes = []*server.RemoteLeafOpts{{URLs: []*url.URL{remote}}}
	return brokerOf(t, opts)
}

// TestNarrowBrokers: a run works over brokers that accept only short messages, at the coordinator,
// at the device, or in between. A late device, export and log read all records, and a device gets
// its model in pieces.
func TestNarrowBrokers(t *testing.T) {
	for name, make := range map[string]func(t *testing.T) way{
		"one of 64000": func(t *testing.T) way {
			u := brokerOf(t, &server.Options{MaxPayload: 64000})
			return way{u, u}
		},
		"one of 3000": func(t *testing.T) way {
			u := brokerOf(t, &server.Options{MaxPayload: 3000})
			return way{u, u}
		},
		"the device's": func(t *testing.T) way {
			port := freeport.Take(t, 1)[0]
			hub := &server.Options{ServerName: "hub"}
			hub.LeafNode.Host, hub.LeafNode.Port = "127.0.0.1", port
			u := brokerOf(t, hub)
			return way{u, leaf(t, 5000, port)}
		},
		"the coordinator's": func(t *testing.T) way {
			port := freeport.Take(t, 1)[0]
			hub := &server.Options{ServerName: "hub"}
			hub.LeafNode.Host, hub.LeafNode.Port = "127.0.0.1", port
			u := brokerOf(t, hub)
			return way{leaf(t, 5000, port), u}
		},
		"one between": func(t *testing.T) way {
			port := freeport.Take(t, 1)[0]
			hub := &server.Options{ServerName: "hub", MaxPayload: 7000}
			hub.LeafNode.Host, hub.LeafNode.Port = "127.0.0.1", port
			brokerOf(t, hub)
			return way{leaf(t, 1<<20, port), leaf(t, 1<<20+1, port)}
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); narrow(t, make(t)) })
	}
}

func narrow(t *testing.T, at way) {
	dir := t.TempDir()
	plan, model := filepath.Join(dir, "plan.json"), filepath.Join(dir, "model.npy")
	if _, err := zofl(t, "plan", "--run", "kitchen", "--preset", "decomfl", "--dim", "10",
		"--set", "members=1", "--set", "target=1", "--set", "quorum=1", "--set", "rounds=500",
		"--set", "perturbations=40", "--write", plan); err != nil {
		t.Fatal(err)
	}
	serve := start(t, "serve", plan, "--store", filepath.Join(dir, "log"), "--url", at.serve,
		"--linger", "5m")
	serve.says(&serve.stderr, "leading")
	device := func(id string) {
		t.Helper()
		code, _, said := runs(t, "client", "--url", at.device, "--run", "kitchen", "--id", id,
			"--objective", "bowl", "--dim", "10", "--quiet")
		if code != 0 {
			t.Errorf("device %s: exit code %d: %s", id, code, said)
		}
	}
	device("first")
	device("late")
	code, _, said := runs(t, "export", "--url", at.device, "--run", "kitchen", "--out", model)
	if info, err := os.Stat(model); code != 0 || err != nil || info.Size() == 0 {
		t.Errorf("export: exit code %d, %v: %s", code, err, said)
	}
	code, out, said := runs(t, "log", "--url", at.device, "--run", "kitchen")
	if code != 0 || strings.Count(out, "\n") < 500 {
		t.Errorf("log: exit code %d, %d lines: %s", code, strings.Count(out, "\n"), said)
	}
	for _, verb := range []string{"status", "devices", "history"} {
		code, out, said := runs(t, verb, "--url", at.device, "--run", "kitchen")
		if code != 0 || out == "" {
			t.Errorf("%s: exit code %d, %q: %s", verb, code, out, said)
		}
	}
	if text := serve.stderr.String(); strings.Contains(text, "not sent") {
		t.Errorf("serve says:\n%s", text)
	}
}
