package verify

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire/signed"
)

// These values limit how many wrong answers a device checks. The device must check the forged
// answers that come before the coordinator's answer. So answersAtOnce is larger than the limit for
// announcements: it is a second's work of a Raspberry Pi.
const (
	answersPerSecond = 32
	answersAtOnce    = 1024
)

// mostUnread is how many answers to one request an asker drops unread before it gives up the
// request, because each answer costs traffic and time.
const mostUnread = 1000

// An Asker makes requests to the coordinator and checks the signatures of the answers. Any
// goroutine may call the methods of an Asker.
type Asker struct {
	keys signed.Keys

	mu      sync.Mutex // guards what follows
	checks  allowance
	refused uint64 // answers that are not the coordinator's
	unread  uint64 // of these, the answers that the asker dropped unread
}

// NewAsker returns an Asker that accepts answers signed by one of the keys.
func NewAsker(keys signed.Keys) *Asker {
	return &Asker{keys: keys,
		checks: allowance{perSecond: answersPerSecond, atOnce: answersAtOnce}}
}

// Request sends a frame with a nonce, and returns the answer that is signed for this very request.
// Request ignores other answers. Errors are those of [bus.RequestGood], and [ErrFlood]: too many
// wrong answers came, so ask again after a pause.
func (a *Asker) Request(ctx context.Context, b bus.Bus, subject string, frame []byte,
) ([]byte, error) {
	var nonce [signed.NonceLen]byte
	rand.Read(nonce[:]) // never fails
	frame = signed.Ask(frame, nonce)
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	unread := 0
	answer, err := bus.RequestGood(ctx, b, subject, frame, func(answer []byte) bool {
		err := a.check(subject, frame, answer)
		if errors.Is(err, ErrFlood) {
			if unread++; unread == mostUnread {
				giveUp(err)
			}
		}
		return err == nil
	})
	if err != nil && errors.Is(context.Cause(ctx), ErrFlood) {
		err = fmt.Errorf("%w (%w)", ErrFlood, err)
	}
	return answer, err
}

// check returns an error unless one of the keys has signed the answer to this very request on a
// subject. The error is [signed.ErrUnsigned], or [ErrFlood] if check dropped the answer unread. A
// check that succeeds costs no allowance, because a request has only one such answer.
func (a *Asker) check(subject string, request, answer []byte) (err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !a.keys.MayHaveSigned(answer):
		err = signed.ErrUnsigned
	case !a.checks.left(time.Now()):
		a.unread++
		err = ErrFlood
	default:
		if err = a.keys.Answer(subject, request, answer); err != nil {
			a.checks.used++
		}
	}
	if err != nil {
		a.refused++
	}
	return err
}

// Refusals returns how many answers were not from the coordinator, and how many of these the asker
// dropped unread.
func (a *Asker) Refusals() (all, unread uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.refused, a.unread
}
