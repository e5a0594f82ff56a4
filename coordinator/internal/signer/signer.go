// Package signer signs the messages of a coordinator with its key, and remembers the reference
// digests that the coordinator announced.
package signer

import (
	"crypto/ed25519"
	"strings"
	"sync"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

// A Signer signs messages of one run. Any goroutine may call its methods.
type Signer struct {
	run    string
	signer *signed.Signer

	mu         sync.Mutex // guards references
	references []wire.Reference
}

// mostReferences is how many references a signer remembers: with digests every 64 records, the
// references of the last 16,384 records. Passive replicas make snapshots more often.
const mostReferences = 256

// New returns a signer for a run. New returns an error if the key is no Ed25519 key.
func New(run string, key ed25519.PrivateKey) (*Signer, error) {
	signer, err := signed.NewSigner(key)
	if err != nil {
		return nil, err
	}
	return &Signer{run: run, signer: signer}, nil
}

// Key returns the text of the public key.
func (s *Signer) Key() string {
	return s.signer.Key().String()
}

// Announcement returns an announcement with its signature, and remembers the announcement's
// reference.
func (s *Signer) Announcement(frame []byte) []byte {
	with, a, err := s.signer.Announcement(s.run, frame)
	if err != nil {
		panic("signer: internal error: a frame that was encoded does not decode: " + err.Error())
	}
	if r, ok := a.Reference(); ok {
		s.note(r)
	}
	return with
}

// Answer returns the answer to a request with its signature, if the request asks for one.
func (s *Signer) Answer(subject string, request, answer []byte) []byte {
	if !signed.Asks(request) {
		return answer
	}
	return s.signer.Answer(subject, signed.RequestOf(request), answer)
}

// Token returns the subject for the answer to a request, together with what the answer's signature
// needs to know about the request. Only [Signer.Redeem] reads a token.
func (s *Signer) Token(subject, reply string, request []byte) string {
	if reply == "" || !signed.Asks(request) {
		return reply
	}
	asked := signed.RequestOf(request)
	return reply + "\x00" + subject + "\x00" + string(asked[:])
}

// Redeem returns the subject that a token names, and the answer with its signature if the request
// asked for one.
func (s *Signer) Redeem(token string, answer []byte) (reply string, frame []byte) {
	reply, rest, asks := strings.Cut(token, "\x00")
	if !asks {
		return reply, answer
	}
	subject, asked, _ := strings.Cut(rest, "\x00")
	return reply, s.signer.Answer(subject, signed.Request([]byte(asked)), answer)
}

// Reference returns the reference of the state after a record, if the coordinator announced one
// lately.
func (s *Signer) Reference(record uint64) (wire.Reference, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.references {
		if r.N == record {
			return r, true
		}
	}
	return wire.Reference{}, false
}

// note remembers a reference, and replaces an earlier reference of the same record, or the oldest
// one.
func (s *Signer) note(r wire.Reference) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.references {
		if s.references[i].N == r.N {
			s.references[i] = r
			return
		}
	}
	if len(s.references) == mostReferences {
		s.references = append(s.references[:0], s.references[1:]...)
	}
	s.references = append(s.references, r)
}
