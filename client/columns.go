package client

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/client/internal/secagg"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/stats"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// Scaler returns the scaler that all devices of the run share. It is nil if the plan has no
// statistics: it has no columns, or the devices have not found them yet. A loss under a plan with
// columns always finds a Scaler. Each call makes one, so keep it. Any goroutine may call Scaler.
func (c *Client) Scaler() *stats.Scaler {
	if columns := c.Stats(); columns != nil {
		return stats.NewScaler(columns)
	}
	return nil
}

// Stats returns the statistics of the columns of all devices' data, or nil: see [Client.Scaler].
func (c *Client) Stats() (columns []plan.Column) {
	c.follower.View(func(r *replica.Replica) {
		if p := r.Plan(); p != nil && len(p.Stats) > 0 {
			columns = slices.Clone(p.Stats)
		}
	})
	return columns
}

// hasColumns returns an error unless the device has statistics of as many columns as the plan asks
// for.
func (c *Client) hasColumns() error {
	if has, want := len(c.cfg.Columns), int(c.follower.Plan().Columns); has != want {
		return fmt.Errorf("%w: the plan asks for the statistics of %d columns, and this device has %d: "+
			"set Columns in the device's configuration", probe.ErrPolicy, want, has)
	}
	return nil
}

// describe returns the statistics of this device's data.
func (c *Client) describe(context.Context) (found probe.Result, err error) {
	if err = c.hasColumns(); err == nil {
		found.Scalars, err = stats.Append(nil, c.cfg.Columns)
	}
	return found, err
}

// describeSums returns the statistics of this device's data as words of a sum.
func (c *Client) describeSums(context.Context) (found probe.Result, err error) {
	if err := c.hasColumns(); err != nil {
		return found, err
	}
	words, err := stats.AppendWords(nil, c.cfg.Columns)
	for _, word := range words {
		found.Sent = binary.LittleEndian.AppendUint32(found.Sent, word)
	}
	return found, err
}

// workColumnSums adds the statistics of this device's data to a sum under masks.
func (c *Client) workColumnSums(ctx context.Context, a *arrival) (next, error) {
	numbers := stats.Values(c.follower.Plan())
	return c.workSum(ctx, a, numbers, secagg.ColumnWords, func(closes time.Time) (computation, error) {
		return computation{closes: closes, run: c.describeSums, send: c.sendColumnSums}, nil
	})
}

// sendColumnSums stores the words of a sum, and adds them to it.
func (c *Client) sendColumnSums(
	ctx context.Context, round *working, r *wire.Reply, found *probe.Result,
) (Progress, error) {
	r.Values, r.Rest = found.Sent, survey.Answer(survey.Columns)
	return c.promiseMasked(ctx, round, r)
}
