package coordinator

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

var signingKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{5}, ed25519.SeedSize))

// TestSignedSegments: a coordinator with a key sends signed answers, with a whole segment in each,
// to devices that ask for a signature. Devices that do not ask get the same answers as without a
// key.
func TestSignedSegments(t *testing.T) {
	for size := 200; size < 300; size += 10 { // what is left of a segment differs
		testSignedSegments(t, size)
	}
}

func testSignedSegments(t *testing.T, size int) {
	synctest.Test(t, func(t *testing.T) {
		log := &runlog.Memory{}
		const records = 600
		chaintest.Append(t, log, chaintest.LongRecords(t, records, size))
		if err := log.AddMembers(t.Context(), ids(2)); err != nil {
			t.Fatal(err)
		}
		announced := make(chan []byte, 100)
		r := run(t, Config{Log: log, Key: signingKey})
		if _, err := r.bus.Subscribe(subjects.Announce("r", 0), func(m bus.Message) {
			announced <- m.Data
		}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		keys := signed.Keys{signed.Key(signingKey.Public().(ed25519.PublicKey))}
		if got := r.Status().Key; got != keys.String() {
			t.Errorf("status: key %q", got)
		}
		subject := subjects.CatchUp("r", "x")
		ask := func(from uint64, sign bool) (wire.CatchUpReply, int) {
			request := (&wire.CatchUpRequest{From: from, MaxBytes: wire.MaxFrame}).Append(nil)
			if sign {
				request = signed.Ask(request, [signed.NonceLen]byte{byte(from)})
			}
			b, err := r.bus.Request(context.Background(), subject, request)
			if err != nil {
				t.Fatal(err)
			}
			if err := keys.Answer(subject, request, b); (err == nil) != sign || len(b) > wire.MaxFrame {
				t.Errorf("from %d, signed %v: %d bytes, %v", from, sign, len(b), err)
			}
			reply, err := wire.DecodeCatchUpReply(b)
			if err != nil {
				t.Fatal(err)
			}
			return reply, len(b)
		}
		answers, total := 0, 0
		for from := uint64(1); from <= records; answers++ {
			reply, size := ask(from, true)
			plain, _ := ask(from, false)
			if plain.Records.Len() != reply.Records.Len() || len(plain.Rest) > 0 {
				t.Errorf("from %d: %d records, unsigned %d", from, reply.Records.Len(),
					plain.Records.Len())
			}
			from += uint64(reply.Records.Len())
			total += size
		}
		if least := total/wire.MaxFrame + 1; answers > least {
			t.Errorf("%d answers with %d bytes, want %d", answers, total, least)
		}
		synctest.Wait()
		for len(announced) > 0 {
			if _, err := keys.Announcement("r", <-announced); err != nil {
				t.Errorf("announcement: %v", err)
			}
		}
	})
}

// TestSigningConfig: New refuses an invalid key, and a broker that cannot carry the signatures.
func TestSigningConfig(t *testing.T) {
	_, err := New(t.Context(), Config{Bus: bus.NewMemory(), Log: &runlog.Memory{},
		Plan: chaintest.Plan(t), Key: signingKey[:31]})
	if !errors.Is(err, ErrConfig) {
		t.Errorf("a key of 31 bytes: %v", err)
	}
	need := int64(valid.FrameBytes(chaintest.Plan(t)))
	for _, tt := range []struct {
		key   ed25519.PrivateKey
		most  int64
		fails bool
	}{{nil, need, false}, {signingKey, need, true}, {signingKey, need + int64(signed.Len), false}} {
		_, err := New(t.Context(), Config{Bus: &narrowBus{bus.NewMemory(), tt.most},
			Log: &runlog.Memory{}, Plan: chaintest.Plan(t), Key: tt.key})
		if (err != nil) != tt.fails {
			t.Errorf("max_payload %d, key %v: %v", tt.most, tt.key != nil, err)
		}
	}
}
