package jetstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/wire"
)

// A vector of a record, and its name.
type vector struct {
	name coordinator.ObjectName
	data []byte
}

func newVector(n, epoch uint64, size int) vector {
	rng := rand.New(rand.NewPCG(n, epoch))
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	return vector{coordinator.ObjectName{N: n, Epoch: epoch, Digest: wire.HashObject(data)}, data}
}

func put(t *testing.T, log *coordinator.JetStreamLog, v vector) {
	t.Helper()
	if err := log.PutObject(t.Context(), v.name, v.data); err != nil {
		t.Fatal(err)
	}
}

// has fails the test unless a log has a vector, or has not.
func has(t *testing.T, log *coordinator.JetStreamLog, v vector, want bool) {
	t.Helper()
	got, err := log.Object(t.Context(), v.name)
	if want && (err != nil || !bytes.Equal(got, v.data)) || !want && !errors.Is(err, coordinator.ErrNoObject) {
		t.Errorf("vector of record %d: %d bytes, %v; want it there: %t", v.name.N, len(got), err, want)
	}
}

// Vectors of all sizes are there for the next coordinator, which deletes what no
// record names, and never what is of a later record.
func objects(t *testing.T, p place, run string) {
	log := p.open(t, run)
	epoch := begin(t, log)
	none := newVector(9, epoch, 4)
	has(t, log, none, false)
	if err := log.KeepObjects(t.Context(), 9, nil); err != nil {
		t.Errorf("nothing is deleted: %v", err)
	}
	var all []vector
	for i, size := range []int{4, wire.MaxPiece, wire.MaxPiece + 4, 1 << 20} {
		v := newVector(uint64(i+2), epoch, size)
		all = append(all, v)
		has(t, log, v, false)
		put(t, log, v)
		put(t, log, v)
		has(t, log, v, true)
	}
	second := p.open(t, run)
	for _, v := range all {
		has(t, second, v, true)
	}
	closeLog(t, log)
	later := newVector(7, begin(t, second), 100)
	put(t, second, later)
	for range 2 {
		if err := second.KeepObjects(t.Context(), 6, []coordinator.ObjectName{all[1].name, all[3].name}); err != nil {
			t.Fatal(err)
		}
	}
	for i, v := range all {
		has(t, second, v, i%2 == 1)
	}
	has(t, second, later, true)
	// Nothing is left of what was deleted.
	js, err := jetstream.New(p.connect(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), "OBJ_ZO_"+run+"_OBJECTS")
	if err != nil {
		t.Fatal(err)
	}
	if info := s.CachedInfo(); info.State.Msgs != 3+1+18+1 || info.Config.Replicas != p.replicas || info.Config.Storage != jetstream.FileStorage {
		t.Errorf("the bucket has %d messages, %d replicas, %v; want the pieces of three vectors and what names them", info.State.Msgs, info.Config.Replicas, info.Config.Storage)
	}
	file := openFile(t)
	c := newDenseChain(t, run, second)
	if err := coordinator.CopyLog(t.Context(), file, second, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := file.(coordinator.Objects).Object(t.Context(), c.name); err != nil || !bytes.Equal(got, c.data) {
		t.Errorf("the copy's vector: %d bytes, %v", len(got), err)
	}
}

// newDenseChain appends a plan and a round with a vector.
func newDenseChain(t *testing.T, run string, log *coordinator.JetStreamLog) vector {
	t.Helper()
	v := newVector(2, 9, 40)
	plan, err := wire.Preset("decomfl", run, 10)
	if err == nil {
		err = errors.Join(plan.Set("transport", "dense"), plan.Set("dense_keep", "2"))
	}
	if err != nil {
		t.Fatal(err)
	}
	first := wire.Record{N: 1, Epoch: 9, Prev: wire.Genesis(run), Kind: wire.KindPlan, Plan: plan}
	b := first.Append(nil)
	round := wire.Record{N: 2, Epoch: 9, Prev: wire.HashRecord(b), Kind: wire.KindRound,
		Round: &wire.Round{Round: 1, Contributors: 1, Object: v.name.Digest[:]}}
	put(t, log, v)
	for i, record := range [][]byte{b, round.Append(nil)} {
		if err := log.Append(t.Context(), uint64(i+1), record); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// A coordinator that was deposed puts nothing any more, and what it put under way
// does not touch its successor's.
func objectsOfTwo(t *testing.T, p place, run string) {
	first, second := p.open(t, run), p.open(t, run)
	old := newVector(2, begin(t, first), 200_000)
	put(t, first, old)
	closeLog(t, first)
	taken := newVector(2, begin(t, second), 200_000)
	put(t, second, taken)
	if err := first.KeepObjects(t.Context(), 1, nil); err != nil {
		t.Fatal(err)
	}
	has(t, second, old, true)
	has(t, second, taken, true)
	if err := second.KeepObjects(t.Context(), 2, []coordinator.ObjectName{taken.name}); err != nil {
		t.Fatal(err)
	}
	has(t, first, old, false)
	has(t, first, taken, true)

	lost := second.Lost()
	usurp(t, p, run)
	<-lost
	more := newVector(3, taken.name.Epoch, 4)
	if err := second.PutObject(t.Context(), more.name, more.data); !errors.Is(err, coordinator.ErrDeposed) {
		t.Errorf("put by who was deposed: %v, want ErrDeposed", err)
	}
	has(t, first, more, false)
}

// usurp takes the lease of a run from who has it.
func usurp(t *testing.T, p place, run string) {
	t.Helper()
	js, err := jetstream.New(p.connect(t))
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "ZO_"+run+"_LEASE")
	if err == nil {
		_, err = kv.PutString(t.Context(), "lease", "somebody else")
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A vector that changed, or lost a piece, is not returned.
func objectsDamaged(t *testing.T, p place, run string) {
	log := p.open(t, run)
	v := newVector(2, begin(t, log), 40_000)
	put(t, log, v)
	js, err := jetstream.New(p.connect(t))
	if err != nil {
		t.Fatal(err)
	}
	store, err := js.ObjectStore(t.Context(), "ZO_"+run+"_OBJECTS")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.PutBytes(t.Context(), v.name.String(), v.data[1:]); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Object(t.Context(), v.name); !errors.Is(err, coordinator.ErrCorrupt) {
		t.Errorf("other bytes: %v, want ErrCorrupt", err)
	}
	stream, err := js.Stream(t.Context(), "OBJ_ZO_"+run+"_OBJECTS")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(t.Context(), jetstream.WithPurgeSubject(fmt.Sprintf("$O.ZO_%s_OBJECTS.C.>", run))); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if got, err := log.Object(short, v.name); err == nil {
		t.Errorf("without its pieces: %d bytes and no error", len(got))
	}
	again := newVector(2, v.name.Epoch+1, 40_000) // the next one writes its own
	put(t, log, again)
	has(t, log, again, true)
}

// A bucket that forgets is refused.
func objectSettings(t *testing.T, p place, run string) {
	js, err := jetstream.New(p.connect(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateObjectStore(t.Context(), jetstream.ObjectStoreConfig{
		Bucket: "ZO_" + run + "_OBJECTS", TTL: time.Hour, Replicas: p.replicas,
	}); err != nil {
		t.Fatal(err)
	}
	log := p.open(t, run)
	v := newVector(2, begin(t, log), 4)
	if err := log.PutObject(t.Context(), v.name, v.data); !errors.Is(err, coordinator.ErrConfig) {
		t.Errorf("a bucket with a TTL: %v, want ErrConfig", err)
	}
}
