package outbox

import (
	"context"
	"fmt"

	"github.com/zofl/zofl/wire"
)

// LastVector returns the vector that this device promised last, as float32 little-endian, and the
// record for which the device computed the vector. LastVector returns nil if that record is not
// after record n, or not part of this log. LastVector asks the log for that record. An error says
// that the log did not answer.
func (o *Outbox) LastVector(ctx context.Context, n uint64) (at uint64, vector []byte, err error) {
	u := &o.upload
	if u.n <= n || u.n > o.cfg.Log.N() {
		return 0, nil, nil
	}
	record, err := o.cfg.Log.Record(ctx, u.n)
	if err != nil {
		return 0, nil, fmt.Errorf("asking the log for record %d: %w", u.n, err)
	}
	r, err := wire.DecodeRecord(record)
	if err != nil {
		return 0, nil, fmt.Errorf("asking the log for record %d: %w", u.n, err)
	}
	if r.N != u.n || r.Prev.Tip() != u.tip {
		return 0, nil, nil // the device computed the vector in another log
	}
	return u.n, u.vector, nil
}
