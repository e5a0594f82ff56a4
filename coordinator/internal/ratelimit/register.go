package ratelimit

import (
	"strings"
	"sync"
)

// A Sender identifies the sender of a queued message.
type Sender struct {
	Name    string // its flow: messages of one name wait for each other
	ID      string // in the message's subject
	Member  bool
	Metered bool // Config.Metered bounds the message, if it is a stranger's
}

// A Register knows which ids are members. Any goroutine may call its methods.
type Register struct {
	Open bool // the roster is open: nobody is listed
	// Authenticated says that nobody can send under another's id.
	Authenticated bool
	Offenders     Offenders

	mu      sync.RWMutex
	members map[string]struct{}
}

// Add adds members.
func (r *Register) Add(ids ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.members == nil {
		r.members = make(map[string]struct{}, len(ids))
	}
	for _, id := range ids {
		r.members[id] = struct{}{}
	}
}

// Member says whether an id belongs to a member.
func (r *Register) Member(id string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, ok := r.members[id]
	return ok
}

// Sender returns the sender of a message with an id in its subject. On a listed roster, a stranger
// may wait for answers below NATS's common inbox prefix. Sender names such a stranger by the part
// of the inbox that belongs to the connection, because one connection can make up many ids.
func (r *Register) Sender(id, inbox string) Sender {
	s := Sender{Name: id, ID: id, Member: r.Member(id)}
	rest, shared := strings.CutPrefix(inbox, "_INBOX.")
	if !s.Member && !r.Open && !r.Authenticated && shared && rest != "" {
		own, _, _ := strings.Cut(rest, ".")
		s.Name = inbox[:len(inbox)-len(rest)+len(own)]
	}
	return s
}
