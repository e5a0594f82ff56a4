// Package signer signs what a coordinator sends with the coordinator's key, and remembers the
// references that it announced.
package signer

import (
	"crypto/ed25519"
	"strings"
	"sync"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

// A Notary signs for one run. A nil Notary signs nothing: every frame stays as it is. Any goroutine
// may call its methods.
type Notary struct {
	run    string
	signer *signed.Signer

	mu         sync.Mutex // guards references
	references []wire.Reference
}

// mostReferences is how many references a signer remembers: with digests every 64 records, those of
// the last 16,384. Passive replicas make snapshots more often.
const mostReferences = 256

// New returns a signer for a run, nil if there is no key. The error says that it is no Ed25519 key.
func New(run string, key ed25519.PrivateKey) (*Notary, error) {
	if key == nil {
		return nil, nil
	}
	signer, err := signed.NewSigner(key)
	if err != nil {
		return nil, err
	}
	return &Notary{run: run, signer: signer}, nil
}

// Key returns the text of the public key, "" without one.
func (n *Notary) Key() string {
	if n == nil {
		return ""
	}
	return n.signer.Key().String()
}

// Announcement returns an announcement with its signature, and notes the reference that it brings.
func (n *Notary) Announcement(frame []byte) []byte {
	if n == nil {
		return frame
	}
	with, a, err := n.signer.Announcement(n.run, frame)
	if err != nil {
		panic("notary: internal error: a frame that was encoded does not decode: " + err.Error())
	}
	if r, ok := a.Reference(); ok {
		n.note(r)
	}
	return with
}

// Answer returns the answer to a request with its signature, if the request asks for one.
func (n *Notary) Answer(subject string, request, answer []byte) []byte {
	if n == nil || !signed.Asks(request) {
		return answer
	}
	return n.signer.Answer(subject, signed.RequestOf(request), answer)
}

// Token returns where the answer to a request goes, and what its signature needs to know of the
// request. Only [Notary.Redeem] reads it.
func (n *Notary) Token(subject, reply string, request []byte) string {
	if n == nil || reply == "" || !signed.Asks(request) {
		return reply
	}
	asked := signed.RequestOf(request)
	return reply + "\x00" + subject + "\x00" + string(asked[:])
}

// Redeem returns the subject that a token names, and the answer as it is sent there.
func (n *Notary) Redeem(token string, answer []byte) (reply string, frame []byte) {
	reply, rest, asks := strings.Cut(token, "\x00")
	if !asks {
		return reply, answer
	}
	subject, asked, _ := strings.Cut(rest, "\x00")
	return reply, n.signer.Answer(subject, signed.Request([]byte(asked)), answer)
}

// Reference returns the reference of the state after a record, if one was announced lately.
func (n *Notary) Reference(record uint64) (wire.Reference, bool) {
	if n == nil {
		return wire.Reference{}, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range n.references {
		if r.N == record {
			return r, true
		}
	}
	return wire.Reference{}, false
}

// note remembers a reference, in place of an earlier one of the same record or of the oldest.
func (n *Notary) note(r wire.Reference) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.references {
		if n.references[i].N == r.N {
			n.references[i] = r
			return
		}
	}
	if len(n.references) == mostReferences {
		n.references = append(n.references[:0], n.references[1:]...)
	}
	n.references = append(n.references, r)
}
