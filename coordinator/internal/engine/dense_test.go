package engine

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A sender is a device that sends a vector.
type sender struct {
	id     string
	vector []byte
	weight uint32
	loss   float32
	digest *[wire.ObjectLen]byte // nil: that of vector
}

func senders(rng *rand.Rand, devices, elements int) []*sender {
	list := make([]*sender, devices)
	for i, id := range ids(devices) {
		list[i] = &sender{id: id, vector: chaintest.RandomVector(rng, elements),
			weight: uint32(1 + i), loss: float32(i) / 3}
	}
	return list
}

// frame returns the piece of at most size bytes from offset on, for the open record.
func (d *sender) frame(c *Core, offset, size int) []byte {
	u := wire.Upload{N: c.N + 1, Tip: c.Hash.Tip(), Weight: d.weight, Loss: d.loss,
		Size: uint64(len(d.vector)), Offset: uint64(offset)}
	if u.Digest = wire.HashObject(d.vector); d.digest != nil {
		u.Digest = *d.digest
	}
	rest := d.vector[min(offset, len(d.vector)):]
	u.Data = rest[:min(size, len(rest))]
	return u.Append(nil)
}

// sendFrame hands a piece to the core, and returns the answer and the other outputs.
func sendFrame(t testing.TB, c *Core, now uint64, id string, frame []byte) (wire.UploadReply,
	[]Output) {
	t.Helper()
	out := c.Step(now, Input{Kind: InUpload, ID: id, Token: "_INBOX." + id, Frame: frame})
	if len(out) == 0 || out[0].Kind != OutRespond || out[0].Token != "_INBOX."+id {
		t.Fatalf("a piece of %s: outputs %+v, want an answer first", id, out)
	}
	r, err := wire.DecodeUploadReply(out[0].Frame)
	if err != nil {
		t.Fatal(err)
	}
	return r, out[1:]
}

// piece sends a piece of d's vector and checks the answer.
func (d *sender) piece(t testing.TB, c *Core, now uint64, offset, size int, want wire.UploadState,
	from int) []Output {
	t.Helper()
	r, out := sendFrame(t, c, now, d.id, d.frame(c, offset, size))
	if r.State != want || r.Offset != uint64(from) || (r.Wait > 0) != (want == wire.UploadBusy) {
		t.Fatalf("%s's piece at %d: answer %+v, want %v from %d", d.id, offset, r, want, from)
	}
	return out
}

// whole sends d's vector in one piece.
func (d *sender) whole(t testing.TB, c *Core, now uint64) []Output {
	t.Helper()
	return d.piece(t, c, now, 0, len(d.vector), wire.UploadTaken, 0)
}

// storeAll makes the log store the outputs' records, and the records that follow.
func storeAll(t testing.TB, c *Core, log *runlog.Memory, outputs []Output) {
	t.Helper()
	if len(outputs) == 0 {
		return
	}
	queue := append([]Output(nil), outputs...)
	for len(queue) > 0 {
		o := queue[0]
		queue = queue[1:]
		var err error
		switch o.Kind {
		case OutAppend:
			if o.Object != nil {
				err = log.PutObject(t.Context(), o.Object.Name, o.Object.Data)
			}
			if err == nil {
				err = log.Append(t.Context(), o.N, o.Frame)
			}
			queue = append(queue, c.Step(c.now, Input{Kind: InAppended, N: o.N})...)
		case OutKeep:
			err = log.KeepObjects(t.Context(), o.N, o.Names)
		case OutMember:
			err = log.AddMembers(t.Context(), []string{o.ID})
			queue = append(queue, c.Step(c.now, Input{Kind: InStored, Count: 1})...)
		case OutFail:
			err = o.Err
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := c.valid(log.Last()); err != nil {
		t.Fatal(err)
	}
}

// restartDense returns another core on a log.
func restartDense(t testing.TB, log *runlog.Memory, plan *plan.Plan) *Core {
	t.Helper()
	epoch, err := log.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCore(context.Background(), plan, log, epoch)
	if err != nil {
		t.Fatal(err)
	}
	storeAll(t, c, log, c.Start(0))
	return c
}

// newDenseCore returns a core with an open round that asks all devices.
func newDenseCore(t testing.TB, plan *plan.Plan) (*Core, *runlog.Memory) {
	t.Helper()
	log := &runlog.Memory{}
	c := restartDense(t, log, plan)
	for _, id := range ids(int(plan.Members)) {
		storeAll(t, c, log, c.Step(0, joinOf(id)))
	}
	if c.phase() != collecting {
		t.Fatalf("phase %d, want an open round", c.phase())
	}
	return c, log
}

// exactMean returns the mean of the senders' vectors.
func exactMean(list []*sender, weighted bool) []float32 {
	vectors, weights := make([][]byte, len(list)), make([]int64, len(list))
	for i, d := range list {
		vectors[i], weights[i] = d.vector, 1
		if weighted {
			weights[i] = int64(d.weight)
		}
	}
	return chaintest.Mean(vectors, weights)
}

// lastRound returns the log's last record, which must be a round, and the record's vector.
func lastRound(t testing.TB, log *runlog.Memory) (wire.Record, []byte) {
	t.Helper()
	r, err := wire.DecodeRecord(recordOf(t, log, log.Last()))
	if err != nil || r.Kind != wire.KindRound {
		t.Fatalf("the last record is a %v, %v", r.Kind, err)
	}
	data, err := log.Object(t.Context(), runlog.ObjectName{N: r.N, Epoch: r.Epoch,
		Digest: [wire.ObjectLen]byte(r.Round.Object)})
	if err != nil {
		t.Fatal(err)
	}
	return r, data
}

// recordOf returns record n of a log.
func recordOf(t testing.TB, log runlog.Log, n uint64) (record []byte) {
	t.Helper()
	err := log.Read(t.Context(), n, func(_ uint64,
		r []byte) bool {
		record = bytes.Clone(r)
		return false
	})
	if err != nil || record == nil {
		t.Fatalf("record %d: %d bytes, %v", n, len(record), err)
	}
	return record
}
