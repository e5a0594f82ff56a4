// Package verify reads frames that the coordinator signed, and limits the cost of other frames.
//
// A Raspberry Pi checks a signature in about a millisecond, but anyone who may publish can send
// frames much faster. An attacker can choose all of a frame except the signature. So no cheaper
// check can tell the attacker's frames from the coordinator's. So this package bounds the number of
// useless checks. Beyond the bound, the device drops all frames, even the coordinator's. A device
// that misses announcements has to ask the coordinator how far the run is, and a device that misses
// an answer has to ask again.
package verify

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/zofl/zofl/wire/compact"
	"github.com/zofl/zofl/wire/signed"
)

// A check of an announcement is useless if the frame is not signed or not new. A reader makes at
// most perSecond useless checks a second, and at most atOnce of them at once. An honest run causes
// a few useless checks an hour.
const (
	perSecond = 32
	atOnce    = 128
)

// remembered is how many signed frames a reader keeps, to recognize repetitions.
const remembered = 16

// ErrFlood says that the device dropped the frame unread, because too many checks of earlier frames
// were useless.
var ErrFlood = errors.New("too many frames that bring nothing")

// An allowance says how many checks may be useless.
type allowance struct {
	perSecond, atOnce float64
	used              float64   // of atOnce
	at                time.Time // the time for which used is right
}

// left refills the allowance, and says whether any is left.
func (a *allowance) left(now time.Time) bool {
	a.used = max(0, a.used-now.Sub(a.at).Seconds()*a.perSecond)
	a.at = now
	return a.used+1 <= a.atOnce
}

// A Reader reads the announcements of a run. Any goroutine may call the methods of a Reader.
type Reader struct {
	run  string
	keys signed.Keys

	mu     sync.Mutex // guards what follows
	checks allowance
	known  [][]byte // frames that were signed, oldest first
	n      uint64   // of the newest announcement of the largest epoch
	epoch  uint64
}

// NewReader returns a reader of frames that one of the keys signs in a run.
func NewReader(run string, keys signed.Keys) *Reader {
	return &Reader{run: run, keys: keys, checks: allowance{perSecond: perSecond, atOnce: atOnce}}
}

// Read reads an announcement. Errors are those of [signed.Keys.Announcement], and [ErrFlood]. The
// result aliases frame.
//
// A check was useless if the frame is not signed, came before, or is older than a frame that came.
// Repetitions by the coordinator count as new frames, because they differ in the time that is left.
func (r *Reader) Read(frame []byte) (compact.Announcement, error) {
	a, err := compact.Decode(frame)
	switch {
	case err != nil:
		return a, err
	case !r.keys.MayHaveSigned(a.Rest):
		return compact.Announcement{}, signed.ErrUnsigned
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.checks.left(time.Now()) {
		return compact.Announcement{}, ErrFlood
	}
	if r.knows(frame) {
		r.checks.used++
		return a, nil
	}
	if a, err = r.keys.Announcement(r.run, frame); err != nil {
		r.checks.used++
		return a, err
	}
	r.note(frame, &a)
	return a, nil
}

// knows says whether the reader has read the same frame before.
func (r *Reader) knows(frame []byte) bool {
	return slices.ContainsFunc(r.known, func(known []byte) bool { return bytes.Equal(known, frame) })
}

// note notes a frame that is signed.
func (r *Reader) note(frame []byte, a *compact.Announcement) {
	switch {
	case a.Epoch > r.epoch:
		r.n, r.epoch = a.N, a.Epoch
	case a.Epoch == r.epoch && a.N >= r.n:
		r.n = a.N
	default:
		r.checks.used++
	}
	if len(r.known) == remembered {
		r.known = append(r.known[:0], r.known[1:]...)
	}
	r.known = append(r.known, bytes.Clone(frame))
}
