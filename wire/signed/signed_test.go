package signed_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"math"
	"testing"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
	"github.com/zofl/zofl/wire/signed"
	"github.com/zofl/zofl/wire/survey"
)

const run = "mnist"

func signer(t testing.TB, fill byte) *signed.Signer {
	t.Helper()
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{fill}, ed25519.SeedSize))
	s, err := signed.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A sample is an announcement, its frame, and the parts of its tail that a reader must find.
type sample struct {
	name  string
	a     wire.Announcement
	frame []byte
}

func record() wire.Record {
	return wire.Record{N: 9, Prev: wire.Hash{1}, Epoch: 3, Kind: wire.KindRound, Round: &wire.Round{
		Round: 8, StepSize: 0.5, Perturbations: 2, Contributors: 4,
		Terms: []wire.Term{{Scalars: wire.AppendScalars(nil, 1, 2)}},
	}}
}

// samples returns announcements with each kind of tail, in the long and the short form.
func samples(t testing.TB) []sample {
	t.Helper()
	reference := wire.Reference{N: 8, Tip: wire.Tip{5}, Digest: [8]byte{6}}
	missing, _ := wire.MissingOf([]uint32{1, 3})
	tails := []struct {
		name string
		rest []byte
	}{
		{"plain", nil},
		{"reference", wire.Tail(reference, nil, false)},
		{"missing", wire.Tail(wire.Reference{}, missing, true)},
		{"reference, missing", wire.Tail(reference, missing, true)},
		{"survey", survey.Ask(nil, survey.Mu)},
		{"groups", grouping.Tail(reference, nil, false, [][]uint32{{0, 1}, {4}})},
	}
	r := record()
	var list []sample
	for _, tail := range tails {
		a := wire.Announcement{N: 10, Attempt: 1, Epoch: 3, Left: 30000, StepSize: 0.25,
			Cohort: wire.Cohort{Sampled: 4, Members: 9}, Perturbations: 2, Rest: tail.rest}
		short, ok := compact.Append(nil, &a, r.Append(nil))
		if !ok {
			t.Fatalf("%s: no lean form", tail.name)
		}
		list = append(list, sample{tail.name + ", lean", a, short})
		a.Records.Add(r.Append(nil))
		list = append(list, sample{tail.name, a, a.Append(nil)})
	}
	return list
}

// TestAnnouncements: a signature does not change what an announcement says, neither to readers with
// the key nor to readers that know no keys. With another key or run the check fails.
func TestAnnouncements(t *testing.T) {
	s := signer(t, 1)
	keys := signed.Keys{s.Key()}
	for _, sample := range samples(t) {
		frame, said, err := s.Announcement(run, sample.frame)
		if err != nil || said.N != 10 || len(frame) > len(sample.frame)+signed.Len+1 {
			t.Fatalf("%s: %d bytes of %d, n = %d, %v", sample.name, len(frame), len(sample.frame),
				said.N, err)
		}
		got, err := keys.Announcement(run, frame)
		if err != nil {
			t.Errorf("%s: %v", sample.name, err)
			continue
		}
		sameToOlderReaders(t, sample, frame)
		if r := record(); got.Compact() {
			again, err := got.Record(r.Prev)
			if err != nil || !bytes.Equal(again, r.Append(nil)) {
				t.Errorf("%s: record %x, %v", sample.name, again, err)
			}
		}
		if _, err := keys.Announcement("other", frame); !errors.Is(err, signed.ErrUnsigned) {
			t.Errorf("%s: in another run: %v", sample.name, err)
		}
		if _, err := keys.Announcement(run, sample.frame); !errors.Is(err, signed.ErrUnsigned) {
			t.Errorf("%s: unsigned: %v", sample.name, err)
		}
		for _, other := range []signed.Keys{nil, {signer(t, 2).Key()}} {
			if _, err := other.Announcement(run, frame); !errors.Is(err, signed.ErrUnsigned) {
				t.Errorf("%s: with keys %v: %v", sample.name, other, err)
			}
		}
	}
}

// sameToOlderReaders checks that a reader without a key reads the same announcement from a signed
// frame.
func sameToOlderReaders(t *testing.T, s sample, frame []byte) {
	t.Helper()
	read := func(frame []byte) (a compact.Announcement) {
		a, err := compact.Decode(frame)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		return a
	}
	before, after := read(s.frame), read(frame)
	r, ok := before.Reference()
	r2, ok2 := after.Reference()
	m, named := before.Missing()
	m2, named2 := after.Missing()
	g, in := grouping.Of(&before.Announcement, 4)
	g2, in2 := grouping.Of(&after.Announcement, 4)
	if r != r2 || ok != ok2 || !bytes.Equal(m, m2) || named != named2 || g != g2 || in != in2 ||
		survey.Asked(before.Rest) != survey.Asked(after.Rest) {
		t.Errorf("%s: an older reader takes the signature for something", s.name)
	}
	before.Rest, after.Rest = nil, nil
	if !bytes.Equal(before.Announcement.Append(nil), after.Announcement.Append(nil)) ||
		before.Tip != after.Tip {
		t.Errorf("%s: the signed frame says something else", s.name)
	}
}

// TestEveryBit: after a change of any bit of a signed announcement or answer the check fails.
func TestEveryBit(t *testing.T) {
	s := signer(t, 1)
	keys := signed.Keys{s.Key()}
	flipped := func(frame []byte, bit int) []byte {
		frame = bytes.Clone(frame)
		frame[bit/8] ^= 1 << (bit % 8)
		return frame
	}
	for _, sample := range samples(t)[2:4] {
		frame, _, err := s.Announcement(run, sample.frame)
		if err != nil {
			t.Fatal(err)
		}
		for bit := range 8 * len(frame) {
			if _, err := keys.Announcement(run, flipped(frame, bit)); err == nil {
				t.Errorf("%s: bit %d changed and the frame passes", sample.name, bit)
			}
		}
	}
	request := signed.Ask([]byte("request"), [12]byte{7})
	answer := s.Answer("zo.mnist.j.pi", signed.RequestOf(request), []byte("answer"))
	for bit := range 8 * len(answer) {
		if keys.Answer("zo.mnist.j.pi", request, flipped(answer, bit)) == nil {
			t.Errorf("bit %d of an answer changed", bit)
		}
	}
}

// TestAnswers: the signature of an answer is valid for only one request of one device.
func TestAnswers(t *testing.T) {
	s := signer(t, 1)
	keys := signed.Keys{signer(t, 2).Key(), s.Key()} // while the coordinator changes its key
	request := signed.Ask([]byte("request"), [12]byte{7})
	if !signed.Asks(request) || signed.Asks([]byte("request")) || signed.Asks(nil) {
		t.Error("Asks")
	}
	answer := s.Answer("zo.mnist.j.pi", signed.RequestOf(request), []byte("answer"))
	for _, c := range []struct {
		name, subject string
		request       []byte
		answer        []byte
		good          bool
	}{
		{"own", "zo.mnist.j.pi", request, answer, true},
		{"another device's", "zo.mnist.j.po", request, answer, false},
		{"another run's", "zo.minst.j.pi", request, answer, false},
		{"another kind", "zo.mnist.c.pi", request, answer, false},
		{"an earlier one", "zo.mnist.j.pi", signed.Ask([]byte("request"), [12]byte{8}), answer, false},
		{"unsigned", "zo.mnist.j.pi", request, []byte("answer"), false},
		{"short", "zo.mnist.j.pi", request, answer[:20], false},
		{"empty", "zo.mnist.j.pi", request, nil, false},
	} {
		if err := keys.Answer(c.subject, c.request, c.answer); (err == nil) != c.good {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestLongAnnouncement: no signed announcement is longer than MaxFrame.
func TestLongAnnouncement(t *testing.T) {
	a := wire.Announcement{N: 3, Epoch: 1, Reason: "why", State: wire.Paused}
	a.Records.Add(make([]byte, 4060))
	a.Records.Add(make([]byte, wire.MaxRecord))
	frame := a.Append(nil)
	if len(frame) > wire.MaxFrame || len(frame)+signed.Len <= wire.MaxFrame {
		t.Fatalf("%d bytes are no test", len(frame))
	}
	s := signer(t, 1)
	frame, _, err := s.Announcement(run, frame)
	if err != nil {
		t.Fatal(err)
	}
	got, err := signed.Keys{s.Key()}.Announcement(run, frame)
	if err != nil || got.Records.Len() != 1 || got.Records.Size() < wire.MaxRecord {
		t.Errorf("%d bytes, %d records: %v", len(frame), got.Records.Len(), err)
	}
}

// TestVouch: a catch-up reply may have a reference after the log's start, and readers of older
// versions ignore the reference.
func TestVouch(t *testing.T) {
	want := wire.Reference{N: 64, Tip: wire.Tip{1}, Digest: [8]byte{2}}
	start := wire.LogStart{N: 64, Hash: wire.Hash{3}}
	for _, rest := range [][]byte{nil, start.Append(nil)} {
		reply := wire.CatchUpReply{From: 64, Rest: signed.Vouch(rest, want)}
		reply.Rest = append(reply.Rest, "\xc4\x01\x00"...) // a signature follows
		if got, ok := signed.Vouched(&reply); !ok || got != want {
			t.Errorf("after %x: %v, %v", rest, got, ok)
		}
		if at, ok := reply.Start(); ok != (rest != nil) || ok && at != start {
			t.Errorf("after %x: log start %v, %v", rest, at, ok)
		}
		if r, ok := signed.Vouched(&wire.CatchUpReply{Rest: rest}); ok {
			t.Errorf("without: %v", r)
		}
	}
}

// TestKeys: ParseKeys reads the texts of keys, and refuses other texts.
func TestKeys(t *testing.T) {
	one, two := signer(t, 1).Key(), signer(t, 2).Key()
	keys, err := signed.ParseKeys(one.String() + ", " + two.String())
	if err != nil || len(keys) != 2 || keys[0] != one || keys[1] != two {
		t.Errorf("%v, %v", keys, err)
	}
	if again, err := signed.ParseKeys(keys.String()); err != nil || again.String() != keys.String() {
		t.Errorf("%v, %v", again, err)
	}
	if keys, err := signed.ParseKeys(""); keys != nil || err != nil {
		t.Errorf("none: %v, %v", keys, err)
	}
	for _, bad := range []string{
		",", "ed25519:", one.String()[:40], one.String() + "A", one.String()[8:],
		one.String() + "," + one.String() + "," + two.String(),
	} {
		if _, err := signed.ParseKeys(bad); !errors.Is(err, signed.ErrKey) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := signed.NewSigner(make(ed25519.PrivateKey, 32)); err == nil {
		t.Error("a key of 32 bytes")
	}
}

func FuzzAnnouncement(f *testing.F) {
	s := signer(f, 1)
	for _, sample := range samples(f) {
		frame, _, err := s.Announcement(run, sample.frame)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame)
		f.Add(sample.frame)
	}
	keys := signed.Keys{signer(f, 3).Key()} // that signs nothing
	f.Fuzz(func(t *testing.T, frame []byte) {
		if _, err := keys.Announcement(run, frame); err == nil {
			t.Error("a frame of nobody passes")
		}
		_ = keys.Answer("zo.mnist.j.pi", frame, frame)
		if _, _, err := s.Announcement(run, frame); err == nil && len(frame) > wire.MaxFrame {
			t.Errorf("%d bytes", len(frame))
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	s := signer(b, 1)
	keys := signed.Keys{s.Key()}
	frame, _, err := s.Announcement(run, samples(b)[1].frame)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(math.Round(float64(len(frame))), "bytes")
	for b.Loop() {
		if _, err := keys.Announcement(run, frame); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSign(b *testing.B) {
	s := signer(b, 1)
	frame := samples(b)[1].frame
	for b.Loop() {
		if _, _, err := s.Announcement(run, frame); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnsigned(b *testing.B) { // the time to refuse a frame without a signature
	keys := signed.Keys{signer(b, 1).Key()}
	frame := samples(b)[1].frame
	for b.Loop() {
		if _, err := keys.Announcement(run, frame); err == nil {
			b.Fatal("signed")
		}
	}
}
