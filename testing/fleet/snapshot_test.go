package fleet

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/zofl/zofl/client"
)

// TestAwaySnapshot checks that a device that was away for long takes the snapshot of a witness if
// the snapshot is cheaper than the records, and ends with the bits of a replay.
func TestAwaySnapshot(t *testing.T) {
	const behind = 20_000 / slower
	a := newAway(t, 1)
	dir := t.TempDir()
	stop := a.serve()
	a.comeBack("d0", filepath.Join(dir, "d0"), 0)
	stop()
	a.train(behind)
	defer a.serve()()
	a.follow("w", filepath.Join(dir, "w"))
	h := a.comeBack("d0", filepath.Join(dir, "d0"), 500)
	if w := a.witness("away"); h.n != w.N() || h.digest != w.Digest() {
		t.Errorf("digest %x after record %d, want the log's %x after %d",
			h.digest, h.n, w.Digest(), w.N())
	}
	records := int64(90 * behind)
	t.Logf("%d records behind, d = %d, with a snapshot: %.3f s, %d bytes down; the records "+
		"are about %d", behind, *awayDim, h.seconds, h.down, records)
	if h.down > records/2 {
		t.Errorf("%d bytes came down: no snapshot was taken", h.down)
	}
}

// follow runs a passive replica with snapshots until the test ends. follow returns once the replica
// has the log's last record.
func (a *awayRun) follow(id, store string) {
	a.t.Helper()
	s, err := client.OpenStore(store)
	if err != nil {
		a.t.Fatal(err)
	}
	last, there := a.mem.Last(), make(chan struct{}, 1)
	c, err := client.New(client.Config{
		Conn: a.connect(id), Run: "away", ID: id, Store: s, Passive: &client.Passive{SnapshotEvery: 1000},
		Recorder: client.RecorderFunc(func(p client.Progress) error {
			if p.N == last && p.State == client.Waiting {
				select {
				case there <- struct{}{}:
				default:
				}
			}
			return nil
		}),
	})
	if err != nil {
		a.t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	a.t.Cleanup(func() {
		cancel(errFinished)
		<-done
		if err := s.Close(); err != nil {
			a.t.Error(err)
		}
	})
	select {
	case <-there:
	case err := <-done:
		done <- err
		a.t.Fatalf("witness: %v", err)
	}
}
