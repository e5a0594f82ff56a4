package retry

import (
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/internal/memlimit"
	"github.com/zofl/zofl/wire"
)

// A device believes an answer that would end Run once the same answer came so often, over so long,
// with no good answer in between. A device that has nothing to lose, because it has no part in the
// run yet, believes a refusal sooner: a person may wait for the reason.
const (
	believeTimes = 10
	believeAfter = 3 * time.Minute
	believeFresh = 3
)

// A Claim is an error that rests on what somebody sent, for instance a refusal.
type Claim struct{ Err error }

func (c Claim) Error() string { return c.Err.Error() }
func (c Claim) Unwrap() error { return c.Err }

// Claimed says whether an error is a [Claim], or that a frame is of a later version. Without the
// coordinator's key, anybody may have sent it.
func Claimed(err error) bool {
	return !errors.As(err, new(*believed)) &&
		(errors.Is(err, wire.ErrUpgrade) || errors.As(err, new(Claim)))
}

// Unfit says whether an error means that a plan or a frame is not for this device: the plan needs
// too much memory, or the frame is of a later version.
func Unfit(err error) bool {
	return errors.Is(err, memlimit.ErrPlan) || errors.Is(err, wire.ErrUpgrade)
}

// believed is a claim that came again and again.
type believed struct {
	err   error
	times int
	span  time.Duration
}

func (b *believed) Unwrap() error { return b.err }

func (b *believed) Error() string {
	return fmt.Sprintf("%v (this answer came %d times in %v)", b.err, b.times,
		b.span.Round(time.Second))
}

// A Doubt counts claims of one kind since the last good answer. The zero Doubt has heard none. Only
// one goroutine may use a Doubt.
type Doubt struct {
	what  string
	good  uint64
	since time.Time
	times int
}

// Begins says whether the last claim was the first of its kind.
func (d *Doubt) Begins() bool { return d.times == 1 }

// Pause bounds the pause after the last claim.
func (d *Doubt) Pause(p *Pauses) time.Duration {
	bound := p.First()
	for range d.times - 1 {
		bound = p.Next(bound)
	}
	return bound
}

// Judge returns an error that ends Run if the device believes a claim by now. good is how many good
// answers the device has had, and fresh says that the device has no part in the run yet.
func (d *Doubt) Judge(claim error, good uint64, fresh bool) error {
	if what := kind(claim); what != d.what || good != d.good || d.times == 0 {
		*d = Doubt{what: what, good: good, since: time.Now()}
	}
	d.times++
	span := time.Since(d.since)
	soon := fresh && !errors.Is(claim, wire.ErrUpgrade)
	if soon && d.times >= believeFresh || d.times >= believeTimes && span >= believeAfter {
		return &believed{claim, d.times, span}
	}
	return nil
}

// kind is equal for two claims that say the same, even of two records.
func kind(claim error) string {
	if fault := (*wire.DecodeError)(nil); errors.As(claim, &fault) {
		return fault.Error()
	}
	return claim.Error()
}
