package dashboard

import (
	"net/http"
	"time"
)

// mostStreams bounds how many streams a server has at once.
const mostStreams = 64

// mostWaiting bounds how many messages wait for a reader. The board drops a reader with more.
const mostWaiting = 32

// aliveEvery is the longest silence of a stream. A page takes a longer silence for a dead
// connection.
const aliveEvery = 10 * time.Second

// A reader is a page that gets messages.
type reader struct {
	messages chan []byte // closed when the reader is dropped
}

// stream sends messages to a page until the page leaves or is too slow, or the server closes.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, b *Board) {
	if !s.enter() {
		w.Header().Set("Retry-After", "5")
		fail(w, http.StatusServiceUnavailable, "too many pages are open: close some")
		return
	}
	defer s.leave()
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	send := func(message []byte) bool {
		if c.SetWriteDeadline(time.Now().Add(writeWithin)) != nil {
			return false
		}
		if _, err := w.Write(message); err != nil {
			return false
		}
		return c.Flush() == nil
	}
	me, first, err := b.join(r.Header.Get("Last-Event-ID"))
	if err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	defer b.part(me)
	for _, message := range first {
		if !send(message) {
			return
		}
	}
	alive := time.NewTicker(aliveEvery)
	defer alive.Stop()
	for {
		message, open := []byte(":\n\n"), true
		select {
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		case <-alive.C:
		case message, open = <-me.messages:
		}
		if !open || !send(message) {
			return
		}
	}
}

func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams >= mostStreams || s.ctx.Err() != nil {
		return false
	}
	s.streams++
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams--
}

// join adds a reader. join returns the first messages for the reader: those that the reader missed,
// or a snapshot.
func (b *Board) join(had string) (*reader, [][]byte, error) {
	me := &reader{make(chan []byte, mostWaiting)}
	b.mu.Lock()
	first, ok := b.missed(had)
	if b.readers == nil {
		b.readers = map[*reader]struct{}{}
	}
	b.readers[me] = struct{}{} // before the snapshot, so that the reader misses no change
	if !b.pumping {
		sub := b.history.Subscribe() // before the snapshot, too
		if b.pumping = b.server.start(func() { b.pump(sub) }); !b.pumping {
			sub.Close()
		}
	}
	number := b.last
	b.mu.Unlock()
	if ok {
		return me, first, nil
	}
	all, err := b.encode("snapshot", number, b.snapshot())
	if err != nil {
		b.part(me)
		return nil, nil, err
	}
	return me, [][]byte{all}, nil
}

// part removes a reader.
func (b *Board) part(me *reader) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, there := b.readers[me]; there {
		b.drop(me)
	}
}

// drop ends a reader's stream. The caller holds mu.
func (b *Board) drop(me *reader) {
	delete(b.readers, me)
	close(me.messages)
	if len(b.readers) == 0 {
		b.left = time.Now()
	}
}
