//go:build unix

package jetstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/testing/servers"
	"github.com/zofl/zofl/wire"
)

// A vector is the vector of a record, and its name.
type vector struct {
	name runlog.ObjectName
	data []byte
}

func newVector(n, epoch uint64, size int) vector {
	rng := rand.New(rand.NewPCG(n, epoch))
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(rng.Uint32()) & 0x3f // finite as float32
	}
	return vector{runlog.ObjectName{N: n, Epoch: epoch, Digest: wire.HashObject(data)}, data}
}

func put(t *testing.T, log *jetlog.Log, v vector) {
	t.Helper()
	if err := log.PutObject(t.Context(), v.name, v.data); err != nil {
		t.Fatal(err)
	}
}

// has fails the test if the log has the vector and want is false, or the reverse.
func has(t *testing.T, log *jetlog.Log, v vector, want bool) {
	t.Helper()
	got, err := log.Object(t.Context(), v.name)
	if want && (err != nil || !bytes.Equal(got, v.data)) ||
		!want && !errors.Is(err, runlog.ErrNoObject) {
		t.Errorf("vector of record %d: %d bytes, %v; want it present: %t", v.name.N, len(got), err, want)
	}
}

// objects checks that the next coordinator finds vectors of all sizes. That coordinator deletes the
// vectors that no record names, but never the vectors of later records.
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
		if err := second.KeepObjects(t.Context(), 6,
			[]runlog.ObjectName{all[1].name, all[3].name}); err != nil {
			t.Fatal(err)
		}
	}
	for i, v := range all {
		has(t, second, v, i%2 == 1)
	}
	has(t, second, later, true)
	// Nothing remains of the deleted vectors.
	js, err := jetstream.New(p.connect(t), jetstream.WithDefaultTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	servers.Eventually(t, "a bucket with the pieces of three vectors", func() error {
		s, err := js.Stream(t.Context(), "OBJ_ZO_"+run+"_OBJECTS")
		if err != nil {
			return err
		}
		if info := s.CachedInfo(); info.State.Msgs != 3+1+18+1 || info.Config.Replicas != p.replicas ||
			info.Config.Storage != jetstream.FileStorage {
			return fmt.Errorf("the bucket has %d messages, %d replicas, %v", info.State.Msgs,
				info.Config.Replicas, info.Config.Storage)
		}
		return nil
	})
	file := openFile(t)
	c := newDenseChain(t, run, second)
	if err := runlog.Copy(t.Context(), file, second, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := file.(runlog.Objects).Object(t.Context(), c.name); err != nil ||
		!bytes.Equal(got, c.data) {
		t.Errorf("the copy's vector: %d bytes, %v", len(got), err)
	}
}

// newDenseChain appends a plan and a round with a vector.
func newDenseChain(t *testing.T, run string, log *jetlog.Log) vector {
	t.Helper()
	v := newVector(2, 9, 40)
	plan, err := preset.Unbound("decomfl", run, 10)
	if err == nil {
		err = errors.Join(planfile.Set(plan, "transport", "dense"), planfile.Set(plan, "dense_keep", "2"))
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

// objectsOfTwo checks that a deposed coordinator can store no more vectors, and that a vector that
// it was storing does not affect its successor's vector.
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
	if err := second.KeepObjects(t.Context(), 2, []runlog.ObjectName{taken.name}); err != nil {
		t.Fatal(err)
	}
	servers.Eventually(t, "the deletion of a vector", func() error {
		if _, err := first.Object(t.Context(), old.name); !errors.Is(err, runlog.ErrNoObject) {
			return fmt.Errorf("it is there: %w", err)
		}
		return nil
	})
	has(t, first, taken, true)

	lost := second.Lost()
	usurp(t, p, run)
	<-lost
	more := newVector(3, taken.name.Epoch, 4)
	if err := second.PutObject(t.Context(), more.name,
		more.data); !errors.Is(err, runlog.ErrDeposed) {
		t.Errorf("put by who was deposed: %v, want ErrDeposed", err)
	}
	has(t, first, more, false)
}

// usurp takes the lease of a run from its holder.
func usurp(t *testing.T, p place, run string) {
	t.Helper()
	js, err := jetstream.New(p.connect(t), jetstream.WithDefaultTimeout(patience))
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

// objectsDamaged checks that the log does not return a vector that changed or lost a piece.
func objectsDamaged(t *testing.T, p place, run string) {
	log := p.open(t, run)
	v := newVector(2, begin(t, log), 40_000)
	put(t, log, v)
	js, err := jetstream.New(p.connect(t), jetstream.WithDefaultTimeout(patience))
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
	if _, err := log.Object(t.Context(), v.name); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("other bytes: %v, want ErrCorrupt", err)
	}
	stream, err := js.Stream(t.Context(), "OBJ_ZO_"+run+"_OBJECTS")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Purge(t.Context(),
		jetstream.WithPurgeSubject(fmt.Sprintf("$O.ZO_%s_OBJECTS.C.>", run))); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if got, err := log.Object(short, v.name); err == nil {
		t.Errorf("without its pieces: %d bytes and no error", len(got))
	}
	again := newVector(2, v.name.Epoch+1, 40_000) // the successor stores its own
	put(t, log, again)
	has(t, log, again, true)
}

// objectSettings checks that a log refuses a bucket that deletes objects by itself.
func objectSettings(t *testing.T, p place, run string) {
	js, err := jetstream.New(p.connect(t), jetstream.WithDefaultTimeout(patience))
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

// denseTakeover checks that a coordinator that takes over serves the vectors of its
// predecessor, and that a device starts its interrupted upload again.
func denseTakeover(t *testing.T, p place, run string) {
	plan, err := preset.Unbound("decomfl", run, 30_000)
	for _, f := range []string{"transport=dense", "dense_keep=2", "members=1", "target=1",
		"quorum=1", "deadline=600000", "reannounce=1000"} {
		name, value, _ := strings.Cut(f, "=")
		err = errors.Join(err, planfile.Set(plan, name, value))
	}
	if err != nil {
		t.Fatal(err)
	}
	d := &denseDevice{t: t, run: run, bus: bus.NATS(p.connect(t))}
	log, stop := d.lead(p, plan)
	d.send(newVector(2, 1, 120_000).data, 120_000)
	d.send(newVector(3, 1, 120_000).data, 60_000)
	stop()
	closeLog(t, log)

	log, stop = d.lead(p, nil)
	defer func() { stop(); closeLog(t, log) }()
	want := newVector(2, 1, 120_000).data
	q := wire.ObjectRequest{Digest: wire.HashObject(want), MaxBytes: wire.MaxPiece}
	var got []byte
	for len(got) < len(want) {
		q.Offset = uint64(len(got))
		r, err := wire.DecodeObjectReply(d.request(subjects.Object(run, "dev"), q.Append(nil)))
		if err != nil || r.Size != uint64(len(want)) || len(r.Data) == 0 {
			t.Fatalf("%d bytes of %d, %v", len(r.Data), r.Size, err)
		}
		got = append(got, r.Data...)
	}
	if !bytes.Equal(got, want) {
		t.Error("the vector of record 2 differs")
	}
	d.send(newVector(3, 1, 120_000).data, 120_000)
}

// A denseDevice sends the only vector of each round.
type denseDevice struct {
	t   *testing.T
	run string
	bus bus.Bus
}

// lead starts a coordinator and joins its run.
func (d *denseDevice) lead(p place, plan *plan.Plan) (log *jetlog.Log, stop func()) {
	log = p.open(d.t, d.run)
	c, err := coordinator.New(d.t.Context(),
		coordinator.Config{Conn: p.connect(d.t), Plan: plan, Log: log})
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	return log, func() { cancel(); <-done }
}

func (d *denseDevice) request(subject string, frame []byte) []byte {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	for {
		once, cancel := context.WithTimeout(ctx, 2*time.Second)
		b, err := d.bus.Request(once, subject, frame)
		cancel()
		if err == nil {
			return b
		}
		if ctx.Err() != nil {
			d.t.Fatal(err)
		}
	}
}

// open returns the open record, and the tip of the record before it.
func (d *denseDevice) open() (n uint64, tip wire.Tip) {
	for {
		r, err := wire.DecodeJoinReply(d.request(subjects.Join(d.run, "dev"),
			(&wire.JoinRequest{}).Append(nil)))
		if err != nil {
			d.t.Fatal(err)
		}
		a, err := wire.DecodeAnnouncement(r.Announcement)
		if err != nil || a.State != wire.Open {
			continue // about to be announced
		}
		q := wire.CatchUpRequest{From: a.N - 1, MaxBytes: 1 << 10}
		c, err := wire.DecodeCatchUpReply(d.request(subjects.CatchUp(d.run, "dev"), q.Append(nil)))
		if err != nil {
			d.t.Fatal(err)
		}
		c.Records.Each(func(record []byte) bool { tip = wire.HashRecord(record).Tip(); return false })
		return a.N, tip
	}
}

// send sends the first bytes of a vector.
func (d *denseDevice) send(vector []byte, end int) {
	d.t.Helper()
	n, tip := d.open()
	u := wire.Upload{N: n, Tip: tip, Weight: 1, Size: uint64(len(vector)),
		Digest: wire.HashObject(vector)}
	for at := 0; at < end; at += 60_000 {
		u.Offset, u.Data = uint64(at), vector[at:at+60_000]
		r, err := wire.DecodeUploadReply(d.request(subjects.Upload(d.run, "dev"), u.Append(nil)))
		last := at+60_000 == len(vector)
		if err != nil || last != (r.State == wire.UploadTaken) || !last && r.Offset != uint64(at+60_000) {
			d.t.Fatalf("record %d, piece at %d: %+v, %v", n, at, r, err)
		}
	}
}
