package jetlog

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/runlog"
)

// A register is one key of a JetStream key-value bucket. The method entry reads the key from the
// leader of the bucket's stream.
type register struct {
	nc     *nats.Conn
	kv     jetstream.KeyValue
	bucket string
	key    string
	ttl    time.Duration // of the bucket
}

// openRegister finds a bucket, or creates the bucket.
func openRegister(
	ctx context.Context, l *Log, cfg jetstream.KeyValueConfig, key string,
) (register, error) {
	r := register{nc: l.cfg.Conn, bucket: cfg.Bucket, key: key}
	err := patiently(ctx, l.cfg.Conn, func(ctx context.Context) (err error) {
		r.kv, err = l.js.KeyValue(ctx, cfg.Bucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			r.kv, err = l.js.CreateKeyValue(ctx, cfg)
			if errors.Is(err, jetstream.ErrBucketExists) {
				r.kv, err = l.js.KeyValue(ctx, cfg.Bucket) // another process has just created it
			}
		}
		if err != nil {
			return err
		}
		status, err := r.kv.Status(ctx)
		if err == nil {
			r.ttl = status.TTL()
		}
		return err
	})
	if err != nil {
		return r, refused("bucket "+cfg.Bucket, err)
	}
	if (r.ttl == 0) != (cfg.TTL == 0) {
		return r, fmt.Errorf("%w: bucket %s: its TTL is %v and must be %v: delete the bucket, it "+
			"is made again",
			runlog.ErrConfig, cfg.Bucket, r.ttl, cfg.TTL)
	}
	return r, nil
}

// entry returns the register's value, or nil if there is none, and the revision with which the
// caller can update the register.
func (r *register) entry(ctx context.Context) (value []byte, rev uint64, err error) {
	m, err := fromLeader(ctx, r.nc, "KV_"+r.bucket,
		getRequest{LastFor: "$KV." + r.bucket + "." + r.key})
	if errors.Is(err, errNotStored) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if len(m.Header) > 0 {
		header, err := nats.DecodeHeadersMsg(m.Header)
		if err != nil {
			return nil, 0, err
		}
		if header.Get("KV-Operation") != "" { // the value was deleted
			return nil, m.Seq, nil
		}
	}
	return m.Data, m.Seq, nil
}

// stored returns the error of a message to the bucket. If the bucket is gone, no server answers a
// message, so stored asks for the bucket.
func (r *register) stored(ctx context.Context, err error) error {
	if err == nil || !silent(err) {
		return err
	}
	if _, _, gone := r.entry(ctx); deleted(gone) {
		return fmt.Errorf("it does not exist any more: restart `zofl serve`, which makes it "+
			"again: %w", gone)
	}
	return err
}

// A lease says which coordinator leads. Without a renewal, the lease expires after the bucket's
// TTL.
//
// Invariants:
//  1. Between take and release one goroutine renews the lease, and only that goroutine uses rev.
//     The goroutine has ended when done is closed.
type lease struct {
	register
	own  claim
	last func() uint64 // the log's last record, as far as known
	seen atomic.Uint64 // the last record that a claim named
	told waiting

	rev  uint64 // of our claim; 0 when another coordinator may hold the lease
	stop context.CancelFunc
	done chan struct{}
}

func openLease(ctx context.Context, l *Log, replicas int) (*lease, error) {
	r, err := openRegister(ctx, l, jetstream.KeyValueConfig{
		Bucket: leaseBucket(l.cfg.Run), TTL: l.cfg.LeaseTTL, Replicas: replicas, MaxBytes: l.cfg.MaxBytes,
		Description: "zofl: who coordinates a run",
	}, "lease")
	own := claim{Name: l.cfg.Name, ID: cmp.Or(l.cfg.Owner, rand.Text())}
	return &lease{register: r, own: own, last: l.Last, told: waiting{logger: l.cfg.Logger}}, err
}

// A claim is the value of the lease.
type claim struct {
	Name string `json:"name"`
	ID   string `json:"id"`             // Config.Owner, or random: of one open Log
	Last uint64 `json:"last,omitempty"` // record that the coordinator knows to be stored
}

// value returns this log's claim, encoded as the bucket stores it.
func (l *lease) value() []byte {
	own := l.own
	own.Last = l.last()
	b, err := json.Marshal(own)
	if err != nil {
		panic("jetlog: internal error: " + err.Error())
	}
	return b
}

// ours says whether this log, or an earlier one of the same owner, wrote a stored claim. ours notes
// the last record that the claim names.
func (l *lease) ours(stored []byte) bool {
	var c claim
	if json.Unmarshal(stored, &c) != nil {
		return false
	}
	l.seen.Store(max(l.seen.Load(), c.Last))
	return c.ID == l.own.ID
}

// holds stops the renewals, and says whether this log still held the lease.
func (l *lease) holds() bool {
	l.halt()
	return l.rev != 0 && !l.nc.IsClosed()
}

// take waits until no other coordinator holds the lease, takes the lease, and starts a goroutine
// that renews it. That goroutine closes lost if it cannot renew the lease in time.
func (l *lease) take(ctx context.Context, lost chan<- struct{}) error {
	l.halt()
	var updates <-chan jetstream.KeyValueEntry
	for watching := false; ; {
		until, err := l.try(ctx)
		switch {
		case err == nil:
			l.start(until, lost)
			return nil
		case ctx.Err() != nil:
			return errors.Join(context.Cause(ctx), unheard(l.nc, err))
		case !transient(err) && !errors.Is(err, errHeld):
			return err
		}
		l.told.wait(unheard(l.nc, err))
		switch {
		// ask again: the other coordinator may have released the lease before the watch began
		case !watching && errors.Is(err, errHeld):
			var stop func()
			updates, stop = l.watch(ctx)
			defer stop()
			watching = true
			continue
		}
		if err := l.wait(ctx, updates); err != nil {
			return err
		}
	}
}

// errHeld: another coordinator holds the lease.
var errHeld = errors.New("another coordinator leads")

// heldBy is errHeld with the name in the other coordinator's claim.
func heldBy(stored []byte) error {
	var c claim
	if json.Unmarshal(stored, &c) != nil || c.Name == "" {
		return errHeld
	}
	return fmt.Errorf("%w: %s", errHeld, c.Name)
}

// try takes the lease if no other coordinator holds it. The lease cannot expire before until.
func (l *lease) try(ctx context.Context) (until time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.ttl/2)
	defer cancel()
	held, rev, err := l.entry(ctx)
	switch {
	case err != nil:
		return until, err
	case held != nil && !l.ours(held):
		return until, heldBy(held)
	}
	until = time.Now().Add(l.ttl)
	l.rev, err = l.kv.Update(ctx, l.key, l.value(), rev)
	if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		err = errHeld // by a faster coordinator, or by us, if the answer to an update was lost
	}
	return until, err
}

// watch returns changes of the lease from now on, so that a waiting coordinator learns at once when
// the leader releases the lease. If the watch fails, wait asks again when its timer fires.
func (l *lease) watch(ctx context.Context) (updates <-chan jetstream.KeyValueEntry, stop func()) {
	w, err := l.kv.Watch(ctx, l.key, jetstream.UpdatesOnly())
	if err != nil {
		return nil, func() {}
	}
	return w.Updates(), func() { _ = w.Stop() } // fails only if the connection is closed
}

// wait returns when its timer fires or the lease is deleted: then the caller asks for the lease
// again.
func (l *lease) wait(ctx context.Context, updates <-chan jetstream.KeyValueEntry) error {
	timer := time.NewTimer(l.ttl/20 + mathrand.N(l.ttl/20))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			return nil
		case e, ok := <-updates:
			switch {
			case !ok:
				updates = nil
			case e != nil && e.Operation() != jetstream.KeyValuePut:
				return nil
			}
		}
	}
}

func (l *lease) start(until time.Time, lost chan<- struct{}) {
	ctx, stop := context.WithCancel(context.Background())
	l.stop, l.done = stop, make(chan struct{})
	go func() {
		defer close(l.done)
		if !l.renew(ctx, until) {
			l.rev = 0
			close(lost)
		}
	}()
}

// renew renews the lease until ctx ends. renew returns false if another coordinator took the lease,
// or if no renewal succeeded in time.
func (l *lease) renew(ctx context.Context, until time.Time) bool {
	wait := l.ttl / 3
	for pause(ctx, wait) {
		now := time.Now()
		if !now.Before(until) {
			return false
		}
		once, cancel := context.WithTimeout(ctx, min(until.Sub(now), l.ttl/3))
		rev, err := l.kv.Update(once, l.key, l.value(), l.rev)
		if errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			held, latest, unknown := l.entry(once)
			if unknown == nil && !l.ours(held) {
				cancel()
				return false
			}
			if unknown == nil {
				l.rev = latest // the answer to an earlier update was lost
			}
		}
		cancel()
		if err == nil {
			l.rev, until, wait = rev, now.Add(l.ttl), l.ttl/3
		} else {
			wait = min(l.ttl/12, max(time.Until(until), 0))
		}
	}
	return true
}

// halt stops the goroutine that renews the lease, and waits until that goroutine has ended.
func (l *lease) halt() {
	if l.stop != nil {
		l.stop()
		<-l.done
		l.stop = nil
	}
}

// release deletes the lease, if this log holds it.
func (l *lease) release(ctx context.Context) error {
	l.halt()
	if l.rev == 0 || l.nc.IsClosed() {
		return nil // the lease expires by itself
	}
	err := l.kv.Delete(ctx, l.key, jetstream.LastRevision(l.rev))
	l.rev = 0
	if wrongLast(err) {
		return nil // another coordinator holds the lease
	}
	return unheard(l.nc, err)
}

// A counter is the register that holds the last epoch.
type counter struct{ register }

func openCounter(ctx context.Context, l *Log, replicas int) (*counter, error) {
	r, err := openRegister(ctx, l, jetstream.KeyValueConfig{
		Bucket: epochBucket(l.cfg.Run), Replicas: replicas, MaxBytes: l.cfg.MaxBytes,
		Description: "zofl: last epoch of a run's coordinators",
	}, "epoch")
	return &counter{r}, err
}

// last returns the last epoch, or 0 if there was none, and the revision with which the caller can
// update the counter.
func (c *counter) last(ctx context.Context) (epoch, rev uint64, err error) {
	value, rev, err := c.entry(ctx)
	if err != nil || value == nil {
		return 0, rev, err
	}
	if epoch, err = strconv.ParseUint(string(value), 10, 62); err != nil {
		err = fmt.Errorf("%w: %w", runlog.ErrCorrupt, err)
	}
	return epoch, rev, err
}

// next raises the counter to an epoch above least, and returns that epoch. No other coordinator
// gets the same epoch.
func (c *counter) next(ctx context.Context, least uint64) (epoch uint64, err error) {
	for taken := true; taken; {
		err = patiently(ctx, c.nc, func(ctx context.Context) error {
			last, rev, err := c.last(ctx)
			if err != nil {
				return err
			}
			epoch = max(last, least) + 1
			_, err = c.kv.Update(ctx, c.key, strconv.AppendUint(nil, epoch, 10), rev)
			return err
		})
		taken = errors.Is(err, jetstream.ErrKeyRevisionMismatch) && ctx.Err() == nil
	}
	if err != nil {
		return 0, fmt.Errorf("bucket %s: %w", c.bucket, err)
	}
	return epoch, nil
}
