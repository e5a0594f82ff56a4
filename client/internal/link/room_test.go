package link_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// TestRoom: a device asks for answers as long as its own broker allows. If such answers do not come
// while the device hears the coordinator, it asks for shorter answers, and after many answers for
// longer ones again. A device that does not hear the coordinator does not change the length.
func TestRoom(t *testing.T) {
	each(t, nil, func(t *testing.T, d *device) {
		room := func(want uint64) {
			t.Helper()
			if got := d.Room(wire.MaxFrame); got != want {
				t.Errorf("room for %d bytes, want %d", got, want)
			}
		}
		var answers atomic.Bool
		answers.Store(true)
		d.serve(t, subjects.CatchUp(run, id), func([]byte) [][]byte {
			if !answers.Load() {
				return nil
			}
			return [][]byte{nil}
		})
		ask := func(n int) {
			for range n {
				_, _ = d.Records(t.Context(), nil)
			}
		}
		room(wire.MaxFrame)
		answers.Store(false)
		ask(4)
		room(wire.MaxFrame) // the device has not heard the coordinator, either
		hearing := func(n int) {
			for range n {
				d.heard = time.Now()
				ask(1)
			}
		}
		hearing(1)
		answers.Store(true)
		ask(1)
		answers.Store(false)
		hearing(1)
		room(wire.MaxFrame) // two answers did not come, but one between them did
		hearing(1)
		room(wire.MaxFrame / 4)
		hearing(100)
		room(wire.LeastRoom)
		d.line.most = 4000
		room(wire.LeastRoom) // a device never asks for less, unless its broker allows less
		d.line.most = 1000
		room(1000 - 256)
		d.line.most = 0
		answers.Store(true)
		ask(255)
		answers.Store(false)
		hearing(1)
		answers.Store(true)
		ask(255)
		room(wire.LeastRoom) // 510 answers, but not 256 in a row
		ask(1)
		room(4 * wire.LeastRoom)
		ask(600)
		room(wire.MaxFrame)
		d.line.most = 4000
		room(4000 - 256)
	})
}
