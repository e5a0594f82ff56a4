//go:build linux && !race

package libzofl

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/plan"
)

// patience bounds everything that these tests wait for.
const patience = 10 * time.Minute // machines may be busy

// source is the library's folder.
const source = "../../libzofl"

// library builds libzofl.so and libzofl.h, once for all tests, and returns their folder.
func library(t *testing.T) string {
	t.Helper()
	if os.Getenv("ZOFL_LIBZOFL") == "" {
		t.Skip("set ZOFL_LIBZOFL=1: it compiles all of the client once more, as a library")
	}
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "libzofl-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command(source+"/build.sh", dir).CombinedOutput()
	if err != nil {
		return "", errors.New(err.Error() + "\n" + string(out))
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("ZOFL_LIBZOFL") != "" {
		if dir, err := built(); err == nil {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

// compiled compiles a C program without a warning, with more arguments of the compiler.
func compiled(t *testing.T, file string, more ...string) string {
	t.Helper()
	dir := library(t)
	program := filepath.Join(t.TempDir(), "program")
	run(t, "gcc", append([]string{"-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wconversion",
		"-pedantic", "-Werror", "-I", dir, "-o", program, file, "-Wl,-rpath," + dir, "-lpthread",
		"-ldl"}, more...)...)
	return program
}

// run runs a program, which must end well, and returns what it prints.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Errorf("%s %q: %v\n%s%s", name, args, err, &out, &errs)
	}
	return out.String()
}

// A site has a broker at a fixed address, which the test can restart, and a coordinator.
type site struct {
	t      *testing.T
	cfg    broker.Config
	broker *broker.Broker
	log    runlog.Memory
}

// lead starts a broker and a coordinator for a plan.
func lead(t *testing.T, p *plan.Plan) *site {
	t.Helper()
	s := &site{t: t, cfg: broker.Config{Listen: freeport.Address(t)}}
	s.start()
	c, err := coordinator.New(t.Context(), coordinator.Config{Conn: s.connect("coordinator"), Plan: p,
		Log: &s.log, Linger: patience})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		if err := c.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("coordinator: %v", err)
		}
	})
	t.Cleanup(func() { stop(); ended.Wait() })
	return s
}

func (s *site) start() {
	s.t.Helper()
	b, err := broker.Run(s.cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.broker = b
	s.t.Cleanup(b.Shutdown)
}

// restart stops the broker, and after a time starts another at its address.
func (s *site) restart(after time.Duration) {
	s.t.Helper()
	s.broker.Shutdown()
	time.Sleep(after)
	s.start()
}

// connect makes a connection of this process that survives a restart of the broker.
func (s *site) connect(name string) *nats.Conn {
	s.t.Helper()
	nc, err := nats.Connect(s.broker.URL(), client.ConnectOptions(name)...)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(nc.Close)
	return nc
}

// replayed replays the log.
func (s *site) replayed(run string) *replica.Replica {
	s.t.Helper()
	w := replica.New(replica.Config{Run: run})
	err := s.log.Read(s.t.Context(), 1, func(n uint64, record []byte) bool {
		if err := w.Apply(record); err != nil {
			s.t.Errorf("log, record %d: %v", n, err)
			return false
		}
		return true
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return w
}

// reach waits until the log has a record.
func (s *site) reach(n uint64) {
	s.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		last := s.log.Last()
		if last >= n {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("record %d of the log, want %d by now", last, n)
		}
	}
}
