package jetlog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

var _ runlog.Objects = (*Log)(nil)

// An objectBucket holds the vectors of a log. A run creates the bucket when it stores its first
// vector. Only the goroutine that leads uses stored. mu guards store and
// stream.
type objectBucket struct {
	stored runlog.ObjectName // the vector that putObject stored last
	sweep  sweep

	mu     sync.Mutex // guards what follows
	store  jetstream.ObjectStore
	stream jetstream.Stream // of store
}

func (l *Log) objectBucket() string { return objectBucketOf(l.cfg.Run) }

// openObjects finds the bucket, or creates the bucket if create is set. The error matches
// ErrNoObject if there is no bucket.
func (l *Log) openObjects(ctx context.Context, create bool) (*objectBucket, error) {
	b := &l.objects
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.store != nil {
		return b, nil
	}
	bucket := l.objectBucket()
	var store jetstream.ObjectStore
	err := patiently(ctx, l.cfg.Conn, func(ctx context.Context) (err error) {
		store, err = l.js.ObjectStore(ctx, bucket)
		if errors.Is(err, jetstream.ErrBucketNotFound) && create {
			store, err = l.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
				Bucket: bucket, Replicas: l.records.replicas, Storage: jetstream.FileStorage,
				Description: "zofl: vectors that a run's records name",
				MaxBytes:    cmp.Or(l.cfg.MaxBytes, -1),
			})
			if errors.Is(err, jetstream.ErrBucketExists) {
				store, err = l.js.ObjectStore(ctx, bucket) // another process has just created it
			}
		}
		if err == nil {
			b.stream, err = l.js.Stream(ctx, "OBJ_"+bucket)
		}
		return err
	})
	switch {
	case errors.Is(err, jetstream.ErrBucketNotFound):
		return nil, runlog.ErrNoObject
	case err != nil:
		return nil, refused("bucket "+bucket, err)
	}
	if err := l.checkObjects(b.stream.CachedInfo().Config); err != nil {
		return nil, err
	}
	b.store = store
	return b, nil
}

// checkObjects returns an error if the bucket's configuration would let it lose vectors.
func (l *Log) checkObjects(c jetstream.StreamConfig) error {
	for _, s := range []setting{
		{"storage", c.Storage, c.Storage == jetstream.FileStorage, "file"},
		{"num_replicas", c.Replicas, c.Replicas >= l.records.replicas,
			fmt.Sprint("at least ", l.records.replicas)},
		{"max_age", c.MaxAge, c.MaxAge == 0, "0"},
		{"discard", c.Discard, c.Discard == jetstream.DiscardNew, "new"},
	} {
		if !s.ok {
			return fmt.Errorf("%w: stream %s: %s is %v and must be %s: correct it with `nats "+
				"stream edit %s`",
				runlog.ErrConfig, c.Name, s.field, s.got, s.want, c.Name)
		}
	}
	return nil
}

// PutObject implements [runlog.Objects]. PutObject reads the stored vector back to verify it. If
// the stream changes its leader meanwhile, the NATS client sends pieces of the vector again, in
// another order.
func (l *Log) PutObject(ctx context.Context, name runlog.ObjectName, data []byte) error {
	if err := l.putObject(ctx, name, data); err != nil {
		return fmt.Errorf("log: vector of record %d: %w%s", name.N, unheard(l.cfg.Conn, err),
			remedy(err))
	}
	return nil
}

func (l *Log) putObject(ctx context.Context, name runlog.ObjectName, data []byte) error {
	l.mu.Lock()
	lost := l.lost
	l.mu.Unlock()
	if runlog.IsLost(lost) {
		return runlog.ErrDeposed
	}
	b, err := l.openObjects(ctx, true)
	if err != nil || b.stored == name {
		return err
	}
	b.sweep.note(name) // even if putting it fails
	meta := jetstream.ObjectMeta{Name: name.String(),
		Opts: &jetstream.ObjectMetaOptions{ChunkSize: l.pieceLen()}}
	if _, err := b.store.Put(ctx, meta, bytes.NewReader(data)); err != nil {
		return err
	}
	if _, err := l.readObject(ctx, name); err != nil {
		return fmt.Errorf("read back: %w", err)
	}
	b.stored = name
	return nil
}

// publishHead bounds the bytes of a JetStream message besides its data.
const publishHead = 512

// pieceLen is how many bytes of a vector PutObject sends in one message.
func (l *Log) pieceLen() uint32 {
	if most := l.cfg.Conn.MaxPayload(); most > publishHead {
		return uint32(min(most-publishHead, wire.MaxPiece))
	}
	return wire.MaxPiece
}

// Object implements [runlog.Objects].
func (l *Log) Object(ctx context.Context, name runlog.ObjectName) ([]byte, error) {
	data, err := l.readObject(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("log: vector of record %d: %w", name.N, unheard(l.cfg.Conn, err))
	}
	return data, nil
}

// errLags: the server that answered does not have all messages of the stream's leader yet.
var errLags = errors.New("a server that should have it does not have it yet")

// damagedReads is how often readObject reads a damaged vector before it returns an error. A vector
// also looks damaged if the answering server does not have all its pieces yet.
const damagedReads = 5

func (l *Log) readObject(ctx context.Context, name runlog.ObjectName) ([]byte, error) {
	b, err := l.openObjects(ctx, false)
	if err != nil {
		return nil, err
	}
	if b.sweep.unwanted(name) {
		return nil, runlog.ErrNoObject
	}
	var wait backoff
	for damaged := 0; ; {
		data, err := l.readOnce(ctx, b, name)
		if errors.Is(err, jetstream.ErrDigestMismatch) {
			damaged++
			err = fmt.Errorf("%w: %w", runlog.ErrCorrupt, err)
		} else if !errors.Is(err, errLags) {
			return data, err
		}
		if damaged == damagedReads || l.records.replicas == 1 || !wait.sleep(ctx) {
			return nil, err
		}
	}
}

func (l *Log) readOnce(ctx context.Context, b *objectBucket, name runlog.ObjectName) ([]byte,
	error) {
	data, err := b.store.GetBytes(ctx, name.String())
	switch {
	case errors.Is(err, jetstream.ErrObjectNotFound):
		return nil, l.missing(ctx, name)
	case err != nil:
		return nil, err
	}
	return data, name.Check(data)
}

// missing asks the bucket's leader for a vector that another server lacks, perhaps only for now.
// The error matches ErrNoObject if the leader also lacks the vector.
func (l *Log) missing(ctx context.Context, name runlog.ObjectName) error {
	bucket := l.objectBucket()
	m, err := fromLeader(ctx, l.cfg.Conn, "OBJ_"+bucket,
		getRequest{LastFor: metaSubject(bucket, name)})
	var info jetstream.ObjectInfo
	switch {
	case errors.Is(err, errNotStored):
		return runlog.ErrNoObject
	case err != nil:
		return err
	case json.Unmarshal(m.Data, &info) == nil && info.Deleted:
		return runlog.ErrNoObject
	}
	return fmt.Errorf("bucket %s: %w", bucket, errLags)
}

// metaSubject is the subject of the message that describes an object in a bucket.
func metaSubject(bucket string, name runlog.ObjectName) string {
	return "$O." + bucket + ".M." + base64.URLEncoding.EncodeToString([]byte(name.String()))
}
