package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/wire"
)

// decline stores and sends the reply of a device that does not contribute because of a fault.
func (c *Client) decline(ctx context.Context, a *arrival, fault error) (Progress, error) {
	r := wire.Reply{Kind: wire.Decline, N: a.N, Tip: c.follower.Replica().Hash().Tip(),
		Reason: reasonOf(fault)}
	if stuck := c.prober.Stuck(); stuck > 0 && errors.Is(fault, errDeadline) {
		fault = fmt.Errorf("%w, and see whether the loss hangs: a call had not returned after %v", fault,
			stuck)
	}
	if r.Reason == wire.DeclineTime {
		fault = fmt.Errorf("%w; deadline is %d ms", fault, c.follower.Plan().Deadline)
	}
	pause := time.Duration(0)
	if !errors.Is(fault, probe.ErrBusy) { // a device that is busy may be free at any moment
		deadline := time.Duration(c.follower.Plan().Deadline) * time.Millisecond
		pause = c.backoff.Decline(c.pauses, deadline, errors.Is(fault, probe.ErrPolicy))
	}
	if pause > 0 {
		r.Rest = (&wire.Away{Milliseconds: uint64(pause.Milliseconds())}).Append(nil)
	}
	frame, err := c.outbox.Promise(&a.Ask, &r)
	if err == nil {
		err = c.send(ctx, frame)
	}
	if err != nil {
		return Progress{}, err
	}
	if err := c.strict(fault); err != nil {
		return Progress{}, err
	}
	c.cfg.Logger.Warn("declined", "record", a.N, "reason", r.Reason, "err", fault, "backoff", pause)
	return Progress{State: Waiting, Declined: r.Reason, Backoff: pause, Err: fault}, nil
}

// strict returns an error that ends Run if fault is the second error of a loss that has never
// worked. The coordinator hears of both errors first.
func (c *Client) strict(fault error) error {
	if c.cfg.NotStrict || !probe.Failed(fault) || c.prober.Answered() || c.outbox.Worked() {
		return nil
	}
	if c.failures++; c.failures == 1 {
		return nil
	}
	c.failures = 0 // the app may have mended the loss before it calls Run again
	return fmt.Errorf("%w: %w; a device that is not strict goes on trying", ErrLoss, fault)
}

// reasonOf returns the reason why a device declines that cannot contribute because of err.
func reasonOf(err error) wire.DeclineReason {
	switch {
	case errors.Is(err, errDeadline), errors.Is(err, probe.ErrSlow), errors.Is(err, probe.ErrLate):
		return wire.DeclineTime
	case errors.Is(err, probe.ErrBusy):
		return wire.DeclineBusy
	case errors.Is(err, probe.ErrPolicy):
		return wire.DeclinePolicy
	case errors.Is(err, probe.ErrTooLarge):
		return wire.DeclineTooLarge
	}
	return wire.DeclineLoss
}
