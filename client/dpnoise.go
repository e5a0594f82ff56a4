package client

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// errPrivacy says that this device did not answer. With dp_by=device, a device answers each record
// once and keeps the answer: the mean of several answers with fresh noise would reveal what the
// noise hides. Either the device had answered this record before, or its store does not work.
var errPrivacy = errors.New("the answer would weaken the device's privacy")

// addsNoise says whether this device adds noise to what it contributes.
func (c *Client) addsNoise() bool {
	device, _ := c.follower.Plan().Noisy()
	return device
}

// hidden returns a contribution in the form in which a device that adds noise sends it. The result
// contains no data of the device except the clipped scalars, with noise that nobody can draw again.
func hidden(plan *plan.Plan, r *wire.Reply) wire.Reply {
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

// withheld returns the reason why a device that adds noise must not answer a record; nil: the
// device may answer.
func (c *Client) withheld(a *arrival) error {
	switch {
	case c.files == nil:
		return fmt.Errorf("%w: set Config.Store, which keeps it", errPrivacy)
	case c.outbox.Contributed(a.N):
		return fmt.Errorf("%w: record %d was answered under another announcement", errPrivacy, a.N)
	}
	return nil
}

// unkept returns the reason why a reply must not leave the device; nil: the device may send the
// reply. If the device adds noise, the store must keep the reply, because after a crash the device
// would draw other noise.
func (c *Client) unkept() (fault, err error) {
	if !c.addsNoise() {
		return nil, nil
	}
	kept, err := c.outbox.Kept()
	if err == nil && !kept {
		fault = fmt.Errorf("%w: the store did not keep it", errPrivacy)
	}
	return fault, err
}
