package signed

import (
	"crypto/ed25519"
	"fmt"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// A Signer signs frames with a coordinator's key. Any goroutine may call its methods.
type Signer struct {
	private ed25519.PrivateKey
	public  Key
}

// NewSigner returns a signer. The error says that the key does not have the 64 bytes of an Ed25519
// key.
func NewSigner(private ed25519.PrivateKey) (*Signer, error) {
	if len(private) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("%d bytes: give the %d of an Ed25519 private key", len(private),
			ed25519.PrivateKeySize)
	}
	return &Signer{private, Key(private.Public().(ed25519.PublicKey))}, nil
}

// Key returns the public key.
func (s *Signer) Key() Key { return s.public }

// Announcement returns an announcement of a run with its signature, and the announcement decoded.
// If the signature would make the frame too long, Announcement leaves out the oldest records.
// Devices fetch these records with catch-up requests. The error says that the frame is no
// announcement.
func (s *Signer) Announcement(run string, frame []byte) ([]byte, compact.Announcement, error) {
	a, err := compact.Decode(frame)
	if err != nil {
		return nil, a, err
	}
	for !fits(frame) && a.Records.Len() > 0 {
		a.Records = withoutFirst(a.Records)
		frame = a.Announcement.Append(nil)
	}
	rest := s.begin(append(make([]byte, 0, len(a.Rest)+Len), a.Rest...))
	signature := [ed25519.SignatureSize]byte{}
	frame = a.WithRest(append(rest, signature[:]...))
	after := len(frame) - a.After()
	before := after - len(signature)
	m := message(subjectOf(run), RequestOf(nil), frame[:before], frame[after:])
	copy(frame[before:], ed25519.Sign(s.private, m))
	return frame, a, nil
}

// Answer appends the signature to the answer to a request on a subject.
func (s *Signer) Answer(subject string, request Request, answer []byte) []byte {
	answer = s.begin(answer)
	return append(answer, ed25519.Sign(s.private, message(subject, request, answer, nil))...)
}

// begin appends the bytes that precede the 64 of the signature.
func (s *Signer) begin(b []byte) []byte { return append(append(b, mark...), s.public[0]) }

// withoutFirst returns all records but the first.
func withoutFirst(records wire.Records) (others wire.Records) {
	first := true
	records.Each(func(record []byte) bool {
		if !first {
			others.Add(record)
		}
		first = false
		return true
	})
	return others
}
