package signer

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

const (
	run     = "kitchen"
	subject = "zo.kitchen.c.pi-1"
	inbox   = "_INBOX_pi-1.7"
)

func newSigner(t *testing.T) (*Signer, signed.Keys) {
	t.Helper()
	private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{3}, ed25519.SeedSize))
	n, err := New(run, private)
	if err != nil {
		t.Fatal(err)
	}
	return n, signed.Keys{signed.Key(private.Public().(ed25519.PublicKey))}
}

// announcement returns a frame that brings record 1 and the reference of a record; with 0, no
// reference.
func announcement(reference uint64, digest byte) []byte {
	a := wire.Announcement{State: wire.Paused, N: 2, Epoch: 4, Reason: "lunch"}
	a.Records.Add([]byte{0x90})
	if reference > 0 {
		a.Rest = wire.Tail(wire.Reference{N: reference, Digest: [8]byte{digest}}, nil, false)
	}
	return a.Append(nil)
}

func asking() []byte { return signed.Ask([]byte("request"), [signed.NonceLen]byte{1}) }

// TestNoKey: New refuses a key that is no Ed25519 private key, and the error says what the caller
// gave.
func TestNoKey(t *testing.T) {
	for _, size := range []int{0, ed25519.PublicKeySize, ed25519.PrivateKeySize + 1} {
		n, err := New(run, make(ed25519.PrivateKey, size))
		if n != nil || err == nil || !strings.Contains(err.Error(), "64") {
			t.Errorf("%d bytes: %v, %v", size, n, err)
		}
	}
}

// TestAnnouncement: a signature is valid only for its run, and the announcement's content stays the
// same.
func TestAnnouncement(t *testing.T) {
	n, keys := newSigner(t)
	if n.Key() != keys.String() {
		t.Errorf("key %q, want %q", n.Key(), keys)
	}
	frame := announcement(0, 0)
	before := bytes.Clone(frame)
	got := n.Announcement(frame)
	a, err := keys.Announcement(run, got)
	if err != nil || a.N != 2 || a.Epoch != 4 || a.Reason != "lunch" || a.Records.Len() != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	if len(got) != len(frame)+signed.Len || !bytes.Equal(frame, before) {
		t.Errorf("%d bytes of %d; the frame is now %x", len(got), len(frame), frame)
	}
	if _, err := keys.Announcement("cellar", got); err == nil {
		t.Error("it passes in another run")
	}
	defer func() {
		if recover() == nil {
			t.Error("it signs what is no announcement")
		}
	}()
	n.Announcement([]byte("none"))
}

// TestAnswer: the signer signs an answer if the request asks for that, at once or through a token
// that the core carries as text. Both ways give the same bytes.
func TestAnswer(t *testing.T) {
	n, keys := newSigner(t)
	answer := []byte("answer")
	if got := n.Answer(subject, []byte("request"), answer); string(got) != "answer" {
		t.Errorf("nobody asked: %x", got)
	}
	if token := n.Token(subject, inbox, []byte("request")); token != inbox {
		t.Errorf("nobody asked: token %q", token)
	}
	if token := n.Token(subject, "", asking()); token != "" {
		t.Errorf("an answer to nobody: token %q", token)
	}
	at := n.Answer(subject, asking(), bytes.Clone(answer))
	reply, later := n.Redeem(n.Token(subject, inbox, asking()), bytes.Clone(answer))
	if reply != inbox || !bytes.Equal(at, later) {
		t.Errorf("to %q: %x, at once %x", reply, later, at)
	}
	if err := keys.Answer(subject, asking(), later); err != nil {
		t.Error(err)
	}
	if reply, got := n.Redeem(inbox, answer); reply != inbox || string(got) != "answer" {
		t.Errorf("unsigned to %q: %x", reply, got)
	}
	// A SHA-256 may have any byte, including the byte that separates a token's parts.
	for i := range byte(255) {
		request := signed.Ask([]byte("request"), [signed.NonceLen]byte{i})
		reply, got := n.Redeem(n.Token(subject, inbox, request), bytes.Clone(answer))
		if err := keys.Answer(subject, request, got); reply != inbox || err != nil {
			t.Fatalf("request %d: to %q, %v", i, reply, err)
		}
	}
}

// TestOneSignatureForAllRecords: a catch-up's answer has one signature, however many records it
// brings, and none of them can be changed, left out or put in another place.
func TestOneSignatureForAllRecords(t *testing.T) {
	n, keys := newSigner(t)
	reply := func(records ...string) []byte {
		r := wire.CatchUpReply{From: 1, Last: 9}
		for _, record := range records {
			r.Records.Add([]byte(record))
		}
		return r.Append(nil)
	}
	for _, count := range []int{0, 1, 2, 300} {
		records := make([]string, count)
		for i := range records {
			records[i] = strings.Repeat(string(rune('a'+i%26)), 40)
		}
		plain := reply(records...)
		got := n.Answer(subject, asking(), bytes.Clone(plain))
		if len(got) != len(plain)+signed.Len {
			t.Errorf("%d records: %d bytes of %d", count, len(got), len(plain))
		}
		decoded, err := wire.DecodeCatchUpReply(got)
		if err != nil || decoded.Records.Len() != count {
			t.Errorf("%d records: %d, %v", count, decoded.Records.Len(), err)
		}
		if err := keys.Answer(subject, asking(), got); err != nil {
			t.Errorf("%d records: %v", count, err)
		}
		if count < 2 {
			continue
		}
		signature := string(got[len(plain):])
		changed := append([]string{}, records...)
		changed[count/2] = strings.Repeat("Z", 40)
		swapped := append([]string{}, records...)
		swapped[0], swapped[1] = swapped[1], swapped[0]
		for name, others := range map[string][]string{"changed": changed, "swapped": swapped,
			"without the last": records[:count-1], "without the first": records[1:]} {
			forged := append(reply(others...), signature...)
			if keys.Answer(subject, asking(), forged) == nil {
				t.Errorf("%d records, %s: it passes", count, name)
			}
		}
	}
}

// TestReferences: the signer returns the newest digest of each of the last 256 records with an
// announced reference.
func TestReferences(t *testing.T) {
	n, _ := newSigner(t)
	n.Announcement(announcement(0, 0))
	if r, ok := n.Reference(0); ok {
		t.Errorf("none was announced: %v", r)
	}
	for i := range uint64(mostReferences + 2) {
		n.Announcement(announcement(i+1, 1))
	}
	for _, c := range []struct {
		record uint64
		known  bool
	}{{1, false}, {2, false}, {3, true}, {mostReferences + 2, true}, {mostReferences + 3, false}} {
		if r, ok := n.Reference(c.record); ok != c.known || ok && r.N != c.record {
			t.Errorf("record %d: %v, %v", c.record, r, ok)
		}
	}
	n.Announcement(announcement(5, 2)) // as after a rollback
	if r, ok := n.Reference(5); !ok || r.Digest[0] != 2 {
		t.Errorf("record 5 again: %v, %v", r, ok)
	}
	if _, ok := n.Reference(3); !ok {
		t.Error("a record that was known displaced another one")
	}
}
