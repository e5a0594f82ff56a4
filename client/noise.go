package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/internal/mask"
	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// errPrivacy: with dp_by=device the device answers each record once, and keeps the answer, because
// the mean of several answers with other noise would show what the noise hides. It did not answer,
// as it answered this record before, or lacks a store that works.
var errPrivacy = errors.New("the answer would weaken the device's privacy")

// hidden returns a reply as it leaves the device. Where the device adds noise, a contribution has
// nothing of its data but the scalars, cut and with noise that nobody can draw again.
func hidden(plan *plan.Plan, r *wire.Reply) wire.Reply {
	device, _ := plan.Noisy()
	if !device || r.Kind != wire.Contribution {
		return *r
	}
	values := make([]float32, len(r.Values)/plan.Precision.Bytes(1))
	plan.Precision.Decode(values, r.Values, 0)
	m := dpnoise.New(plan.DPClip, plan.DPNoise)
	if plan.DPOf == dpnoise.OfSum {
		m = m.Share(plan.Quorum)
	}
	m.Add(values, rand.Reader)
	return wire.Reply{Kind: r.Kind, N: r.N, Tip: r.Tip, Weight: 1,
		Values: plan.Precision.Append(nil, values...)}
}

// withheld says why the device must not compute an answer to a record, nil if it may.
func (c *Client) withheld(a *arrival, plan *plan.Plan) error {
	device, _ := plan.Noisy()
	switch {
	case !device:
		return nil
	case !c.files.Keeps():
		return fmt.Errorf("%w: set Config.Store, which keeps it", errPrivacy)
	case c.outbox.Contributed(a.N):
		return fmt.Errorf("%w: record %d was answered under another announcement", errPrivacy, a.N)
	}
	return nil
}

// sendKept sends a reply, under masks if there are any. Where the device adds noise, it first makes
// sure that the store has it: after a crash another would be computed. Otherwise it reports why it
// does not send.
func (c *Client) sendKept(
	ctx context.Context, masks *mask.Session, plan *plan.Plan, frame []byte,
) (sent bool, err error) {
	if device, _ := plan.Noisy(); device {
		kept, err := c.outbox.Kept()
		switch {
		case err != nil:
			return false, err
		case !kept:
			return false, c.report(Progress{State: Waiting,
				Err: fmt.Errorf("%w: the store did not keep it", errPrivacy)})
		}
	}
	if masks != nil {
		return c.add(ctx, masks, frame)
	}
	return true, c.send(ctx, frame)
}
