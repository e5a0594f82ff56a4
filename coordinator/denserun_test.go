package coordinator

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/internal/engine"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// vectorAt returns the vector that a device sends for record n.
func vectorAt(d *device, n uint64, size uint64) []byte {
	return chaintest.RandomVector(rand.New(rand.NewPCG(n, uint64(d.slot))), int(size))
}

// uploadsOf returns an answer that sends a device's vector in pieces.
func uploadsOf(piece int) func(*device, *wire.Announcement) {
	return func(d *device, a *wire.Announcement) {
		if a.State != wire.Open || !a.Cohort.Has("r", a.N, a.Attempt, d.slot, d.id) {
			return
		}
		<-time.After(100 * time.Millisecond) // of work
		vector := vectorAt(d, a.N, d.plan.Object(d.plan.Phase(0)))
		d.mu.Lock()
		u := wire.Upload{N: a.N, Tip: d.tips[a.N-1], Weight: 1, Loss: 1, Size: uint64(len(vector)),
			Digest: wire.HashObject(vector)}
		d.mu.Unlock()
		for range 1000 {
			<-time.After(time.Millisecond) // on its way, beside others
			rest := vector[u.Offset:]
			u.Data = rest[:min(piece, len(rest))]
			switch r, err := d.upload(&u); {
			case err != nil || r.State == wire.UploadTaken || r.State == wire.UploadRefused:
				return
			case r.State == wire.UploadMore:
				u.Offset = r.Offset
			default:
				<-time.After(time.Duration(r.Wait) * time.Millisecond)
			}
		}
		d.t.Errorf("%s: its vector of record %d does not arrive", d.id, a.N)
	}
}

func (d *device) upload(u *wire.Upload) (wire.UploadReply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	b, err := d.bus.Request(ctx, subjects.Upload("r", d.id), u.Append(nil))
	if err != nil {
		return wire.UploadReply{}, err
	}
	return wire.DecodeUploadReply(b)
}

// fetch fetches a record's vector, piece by piece. fetch returns nil if the log has no such vector.
func fetch(t testing.TB, b bus.Bus, digest []byte, piece uint64) ([]byte, error) {
	t.Helper()
	var vector []byte
	for {
		q := wire.ObjectRequest{Digest: [wire.ObjectLen]byte(digest), Offset: uint64(len(vector)),
			MaxBytes: piece}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		frame, err := b.Request(ctx, subjects.Object("r", "d0"), q.Append(nil))
		cancel()
		if err != nil {
			return nil, err
		}
		r, err := wire.DecodeObjectReply(frame)
		if err != nil || r.Offset != uint64(len(vector)) || uint64(len(r.Data)) > piece {
			t.Fatalf("%d bytes from %d on of %d, %v", len(r.Data), r.Offset, r.Size, err)
		}
		if vector = append(vector, r.Data...); uint64(len(vector)) >= r.Size || len(r.Data) == 0 {
			return vector, nil
		}
	}
}

func records(t testing.TB, log runlog.Log) (list []wire.Record) {
	t.Helper()
	err := log.Read(context.Background(), 1, func(_ uint64, record []byte) bool {
		r, err := wire.DecodeRecord(bytes.Clone(record))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// denseLog returns the log of a run with one device and a number of rounds.
func denseLog(t testing.TB, plan *plan.Plan, rounds int) *runlog.Memory {
	t.Helper()
	b := bus.NewMemory()
	defer b.Close()
	log := &runlog.Memory{}
	c, err := New(t.Context(), Config{Plan: plan, Log: log, Bus: b})
	if err != nil {
		t.Fatal(err)
	}
	c.mustPerform(t, c.start())
	c.mustPerform(t, c.step(joinOf("d0")))
	for range rounds {
		vector := chaintest.RandomVector(rand.New(rand.NewPCG(c.core.N, 1)), int(plan.Object(0)))
		u := wire.Upload{N: c.core.N + 1, Tip: c.core.Hash.Tip(), Weight: 1,
			Size: uint64(len(vector)), Digest: wire.HashObject(vector), Data: vector}
		c.mustPerform(t, c.step(engine.Input{Kind: engine.InUpload, ID: "d0", Token: "_INBOX.d0",
			Frame: u.Append(nil)}))
	}
	return log
}

func TestDenseRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := densePlan(t, 3)
		plan.Dim, plan.Rounds = 5000, 8
		log := openFile(t, t.TempDir())
		r := run(t, Config{Plan: plan, Log: log, UploadMemory: 30_000, ObjectCache: -1, Linger: -1})
		synctest.Wait()
		devices := r.join(ids(3), uploadsOf(3000))
		pass(time.Minute)
		s := r.Status()
		if s.Rounds != 8 || s.Counters.Busy == 0 || s.Counters.Contributions != 24 ||
			s.Counters.UploadBytes < 8*3*20_000 {
			t.Fatalf("status %+v, want 8 rounds, and devices that wait for a place", s)
		}
		var objects [][]byte
		for _, record := range records(t, log)[1:9] {
			objects = append(objects, record.Round.Object)
		}
		for i, digest := range objects {
			for _, piece := range []uint64{777, 1 << 20} {
				got, err := fetch(t, r.bus, digest, piece)
				var list [][]byte
				for _, d := range devices {
					list = append(list, vectorAt(d, uint64(i+2), 5000))
				}
				want := chaintest.Vector(chaintest.Mean(list, []int64{1, 1, 1})...)
				if i < 4 {
					want = nil // it is no longer kept
				}
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("vector of record %d: %d bytes, %v; want %d", i+2, len(got), err,
						len(want))
				}
			}
		}
		if got, err := fetch(t, r.bus, objects[7], 0); err != nil || len(got) > 0 {
			t.Errorf("no bytes: %d, %v", len(got), err)
		}
		if s := r.Status(); s.Counters.Objects < 50 || s.Counters.ObjectBytes < 4*2*20_000 ||
			s.Counters.ObjectErrors > 0 {
			t.Errorf("counters %+v", s.Counters)
		}
		// A malformed request is not answered.
		for _, bad := range [][]byte{{1}, make([]byte, 5000)} {
			if err := r.bus.Publish(subjects.Object("r", "d0"), bad); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if got := r.Status().Counters.Malformed; got != 2 {
			t.Errorf("%d malformed, want 2", got)
		}
	})
}

// After the end, Run waits for devices that fetch vectors, at most as long as a round takes.
func TestLingersForVectors(t *testing.T) {
	for _, tt := range []struct {
		asks        int // one each second
		least, most time.Duration
	}{
		{0, 4 * time.Second, 4 * time.Second},
		{1, 4 * time.Second, 4 * time.Second},
		{9, 10 * time.Second, 12 * time.Second},
		{100, 14 * time.Second, 14 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			log := denseLog(t, densePlan(t, 1, "rounds=3", "deadline=10000"), 3)
			r := run(t, Config{Log: log, Linger: 4 * time.Second})
			began, digest := time.Now(), records(t, log)[3].Round.Object
			ended := make(chan time.Duration, 1)
			go func() {
				if err := <-r.done; err != nil {
					t.Error(err)
				}
				ended <- time.Since(began)
			}()
			for range tt.asks {
				pass(time.Second)
				if len(ended) > 0 {
					break
				}
				if got, err := fetch(t, r.bus, digest, 100); err != nil || len(got) == 0 {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			}
			if took := <-ended; took < tt.least || took > tt.most {
				t.Errorf("%d requests: ended after %v, want %v to %v", tt.asks, took, tt.least,
					tt.most)
			}
		})
	}
}

// The pieces in the queue take at most Config.UploadMemory bytes.
func TestPiecesThatWaitAreBounded(t *testing.T) {
	b := bus.NewMemory()
	defer b.Close()
	c, err := New(t.Context(), Config{Plan: densePlan(t, 1), Log: &runlog.Memory{}, Bus: b,
		UploadMemory: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	m := bus.Message{Subject: subjects.Upload("r", "d0"), Reply: "_INBOX.1",
		Data: make([]byte, 60_000)}
	for range 10 {
		c.arriveUpload(m)
	}
	if got := c.Status().Counters.Overflow; c.arrivals.Len() != 3 || got != 7 {
		t.Errorf("%d wait, %d overflow, want 3 and 7", c.arrivals.Len(), got)
	}
	c.take()
	c.arriveUpload(bus.Message{Data: make([]byte, wire.MaxFrame+1)})
	if got := c.Status().Counters.Malformed; c.pieces.Load() != 0 || got != 4 {
		t.Errorf("%d bytes wait, %d malformed", c.pieces.Load(), got)
	}
}
