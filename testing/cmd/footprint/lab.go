package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan/preset"
)

// A lab is the environment for measuring devices: a broker, and the program that devices run.
type lab struct {
	dir    string // for its files
	ca     string // file with the broker's certificate
	broker *broker.Broker
	device func() (string, error) // builds the program once
	last   atomic.Int64           // number of the last run
}

func newLab() (*lab, error) {
	dir, err := os.MkdirTemp("", "footprint-")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir, ca: filepath.Join(dir, "ca.pem")}
	l.device = sync.OnceValues(l.build)
	if err := l.serve(); err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return l, nil
}

// serve starts the broker, and writes the certificate of its authority into a file for devices.
func (l *lab) serve() error {
	a, err := broker.NewAuthority()
	if err != nil {
		return err
	}
	if err := os.WriteFile(l.ca, a.PEM(), 0o600); err != nil {
		return err
	}
	own, err := a.Server(time.Time{})
	if err != nil {
		return err
	}
	l.broker, err = broker.Run(broker.Config{TLS: own})
	return err
}

func (l *lab) close() {
	l.broker.Shutdown()
	os.RemoveAll(l.dir)
}

// root returns the directory of the root module, in which programs are built.
func root() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/zofl/zofl").Output()
	if err != nil {
		return "", fmt.Errorf("go list -m: %w", err)
	}
	return string(out[:len(out)-1]), nil
}

// build builds the program that devices run, stripped like a released one, but without
// -trimpath: that changes nothing about memory, and compiles everything anew.
func (l *lab) build() (string, error) {
	r, err := root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(l.dir, "device")
	cmd := exec.Command("go", "build", "-C", filepath.Join(r, "testing"), "-ldflags", "-s -w",
		"-o", path, "./cmd/footprint/device")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
}

var errFinished = errors.New("the measurement is over")

// lead runs a coordinator of a new run for one device until the caller calls stop. The run's rounds
// are those of DeComFL with K = 1, P = 10.
func (l *lab) lead(dim int) (run string, stop func() error, err error) {
	run = fmt.Sprintf("run-%d", l.last.Add(1))
	p, err := preset.Unbound("decomfl", run, uint64(dim))
	if err != nil {
		return "", nil, err
	}
	p.Members, p.Target, p.Quorum = 1, 1, 1
	p.Steps, p.Perturbations, p.StepSize = 1, 10, 1e-3
	nc, err := nats.Connect(l.broker.URL(),
		append(client.ConnectOptions("coordinator"), nats.RootCAs(l.ca))...)
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	c, err := coordinator.New(ctx,
		coordinator.Config{Conn: nc, Plan: p, Log: &runlog.Memory{}})
	if err != nil {
		cancel(err)
		nc.Close()
		return "", nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	return run, func() error {
		cancel(errFinished)
		err := <-ended
		nc.Close()
		if errors.Is(err, errFinished) || fmt.Sprint(err) == "coordinator: "+errFinished.Error() {
			return nil
		}
		return err
	}, nil
}
