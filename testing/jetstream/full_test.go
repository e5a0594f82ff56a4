//go:build linux

package jetstream

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/testing/servers"
	"github.com/zofl/zofl/wire"
)

// TestFullDisk checks that the log reports a full disk when nats-server does not answer because its
// disk is full. Only root can make a small disk. Other users test only that mounting fails.
func TestFullDisk(t *testing.T) {
	dir, err := os.MkdirTemp("", "zofl-full-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(dir)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=3m"); err != nil {
		if !errors.Is(err, syscall.EPERM) {
			t.Fatal(err)
		}
		t.Logf("a small disk needs root: %v", err)
		return
	}
	defer func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	t.Setenv("TMPDIR", dir)
	c := servers.Start(t, 1)
	p := place{url: c.URL(), replicas: 1, cluster: c}
	log, err := p.tryOpen(t, jetlog.Config{Conn: p.connect(t), Run: "full",
		Timeout: 4 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, log)
	records := newChain(t, "full")
	records.appendTo(log, 1)
	for err == nil {
		r, bad := wire.DecodeRecord(records.next(1))
		if bad != nil {
			t.Fatal(bad)
		}
		r.Round.Terms[0].Scalars = make(wire.Scalars, 4*plan.MaxScalars)
		record := r.Append(nil)
		if err = log.Append(t.Context(), r.N, record); err == nil {
			records.add(record)
		}
	}
	for _, words := range []string{"disk is full", "restart nats-server"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want %q in it", err, words)
		}
	}
	if errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("a full disk counts as damage: %v", err)
	}
}
