// Package ration reads announcements that the coordinator signed, and bounds what others cost.
//
// A check of a signature takes a Raspberry Pi about a millisecond, and whoever may publish sends
// announcements much faster. He can choose all of a frame but the signature, so nothing that is
// cheaper tells his frames from the coordinator's. So checks that bring nothing are rationed. What
// comes while there is no ration is dropped, the coordinator's frames too: the device then has to
// ask the coordinator where the run is.
package ration

import (
	"bytes"
	"errors"
	"sync"
	"time"

	"github.com/zofl/zofl/wire/lean"
	"github.com/zofl/zofl/wire/signed"
)

// Checks that bring nothing: so many a second, and so many at once. An honest run has a few in an
// hour.
const (
	perSecond = 32
	atOnce    = 128
)

// remembered is how many frames of the coordinator a reader knows again.
const remembered = 16

// ErrFlood: the frame was dropped unread, because too many before it brought nothing.
var ErrFlood = errors.New("too many announcements that bring nothing")

// A Reader reads the announcements of a run. Any goroutine may call its methods.
type Reader struct {
	run  string
	keys signed.Keys

	mu    sync.Mutex // guards what follows
	used  float64    // of the ration
	at    time.Time  // when used was right
	known [][]byte   // frames that were signed, oldest first
	n     uint64     // of the newest announcement of the largest epoch
	epoch uint64
}

// NewReader returns a reader of what one of the keys signs in a run.
func NewReader(run string, keys signed.Keys) *Reader { return &Reader{run: run, keys: keys} }

// Read reads an announcement. Errors are those of [signed.Keys.Announcement], and [ErrFlood]. The
// result aliases frame.
//
// A check brings nothing if the frame is not signed, if it came before, or if it is older than one
// that came. The coordinator's own repetitions differ in the time that is left.
func (r *Reader) Read(frame []byte) (lean.Announcement, error) {
	a, err := lean.Decode(frame)
	switch {
	case err != nil:
		return a, err
	case !r.keys.MayHaveSigned(&a):
		return lean.Announcement{}, signed.ErrUnsigned
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ready(time.Now()) {
		return lean.Announcement{}, ErrFlood
	}
	if r.knows(frame) {
		r.used++
		return a, nil
	}
	if a, err = r.keys.Announcement(r.run, frame); err != nil {
		r.used++
		return a, err
	}
	r.note(frame, &a)
	return a, nil
}

// ready fills the ration, and says whether any is left.
func (r *Reader) ready(now time.Time) bool {
	r.used = max(0, r.used-now.Sub(r.at).Seconds()*perSecond)
	r.at = now
	return r.used+1 <= atOnce
}

// knows says whether a frame came before.
func (r *Reader) knows(frame []byte) bool {
	for _, known := range r.known {
		if bytes.Equal(known, frame) {
			return true
		}
	}
	return false
}

// note remembers a frame that is signed.
func (r *Reader) note(frame []byte, a *lean.Announcement) {
	switch {
	case a.Epoch > r.epoch:
		r.n, r.epoch = a.N, a.Epoch
	case a.Epoch == r.epoch && a.N >= r.n:
		r.n = a.N
	default:
		r.used++
	}
	if len(r.known) == remembered {
		r.known = append(r.known[:0], r.known[1:]...)
	}
	r.known = append(r.known, bytes.Clone(frame))
}
