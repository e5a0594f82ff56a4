package client_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
)

// A device is a running client and the progress that the client reported.
type device struct {
	*client.Client
	t      testing.TB
	cancel context.CancelCauseFunc
	ended  chan error

	mu      sync.Mutex // guards reports
	reports []client.Progress
}

var errStopped = errors.New("stopped by the test")

// newDevice makes a client of h, and does not run it.
func (h *host) newDevice(id string, o objective.Objective, edits ...func(*client.Config)) *device {
	h.t.Helper()
	d := &device{t: h.t}
	cfg := client.Config{Bus: h.bus, Run: runName, ID: id, Objective: o, Recorder: d}
	for _, edit := range edits {
		edit(&cfg)
	}
	var err error
	if d.Client, err = client.New(cfg); err != nil {
		h.t.Fatal(err)
	}
	return d
}

// device makes a client of h, and runs it until it waits.
func (h *host) device(id string, o objective.Objective, edits ...func(*client.Config)) *device {
	h.t.Helper()
	d := h.newDevice(id, o, edits...)
	d.run()
	return d
}

// Record implements client.Recorder.
func (d *device) Record(p client.Progress) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reports = append(d.reports, p)
	return nil
}

// progress returns the reports since the last call.
func (d *device) progress() []client.Progress {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	reports := d.reports
	d.reports = nil
	return reports
}

// now returns the last report.
func (d *device) now() client.Progress {
	d.t.Helper()
	reports := d.progress()
	if len(reports) == 0 {
		d.t.Fatal("got no progress, want a report")
	}
	return reports[len(reports)-1]
}

// run runs the client until stop.
func (d *device) run() {
	ctx, cancel := context.WithCancelCause(context.Background())
	d.cancel, d.ended = cancel, make(chan error, 1)
	go func() { d.ended <- d.Run(ctx) }()
	d.t.Cleanup(func() { cancel(errStopped) })
	synctest.Wait()
}

// stop ends Run.
func (d *device) stop() {
	d.t.Helper()
	d.cancel(errStopped)
	if err := d.result(); err != errStopped {
		d.t.Fatalf("Run returned %v, want the cause of its context", err)
	}
}

// result returns what Run returned. result fails the test if Run is still running.
func (d *device) result() error {
	d.t.Helper()
	synctest.Wait()
	select {
	case err := <-d.ended:
		return err
	default:
		d.t.Fatal("Run goes on")
		return nil
	}
}

// final returns what Run returned, once the device has asked again and again. That takes below
// believed.
func (d *device) final() error {
	d.t.Helper()
	return d.finalWhile(func() {})
}

// finalWhile does the work of final, and calls do every five seconds.
func (d *device) finalWhile(do func()) error {
	d.t.Helper()
	for i := range believed / time.Second {
		if i%5 == 0 {
			do()
		}
		if pass(time.Second); len(d.ended) > 0 {
			break
		}
	}
	return d.result()
}

// believed is longer than a device doubts what somebody without the coordinator's key sent.
const believed = 10 * time.Minute

// params returns the model.
func (d *device) params(dim int) []float32 {
	d.t.Helper()
	x := make([]float32, dim)
	if _, err := d.Params(x); err != nil {
		d.t.Fatal(err)
	}
	return x
}

// agrees checks that the client's state is that of the log after record want.
func (h *host) agrees(d *device, want uint64) {
	h.t.Helper()
	synctest.Wait()
	n, digest := d.Digest()
	if n != want || digest != h.witness(want).Digest() {
		h.t.Fatalf("digest %x after record %d, the log's is %x after %d",
			digest, n, h.witness(want).Digest(), want)
	}
}

// bubble runs a test with a fake clock.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}
