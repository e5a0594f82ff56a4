package history

// mostPending bounds how many points and marks wait for a reader.
const mostPending = 512

// A Subscription gets points and marks as they come. A slow reader loses updates in the middle,
// never the last ones, and never delays the run.
//
//	sub := h.Subscribe()
//	defer sub.Close()
//	for {
//		select {
//		case <-sub.Ready():
//			u := sub.Take()
//			...
//		case <-ctx.Done():
//			return
//		}
//	}
type Subscription struct {
	h     *History
	ready chan struct{} // holds a token while something waits

	pending []line // h.mu guards pending and lost
	lost    uint64
}

// An Update holds the points and marks since the last update.
type Update struct {
	// Points are in the order in which the history got them. A point replaces an earlier point of the
	// same N: devices may have evaluated the state of record N since.
	Points []Point `json:"points,omitempty"`
	Marks  []Mark  `json:"marks,omitempty"`
	// Lost counts the earlier points and marks that the reader missed because it was too slow.
	// [History.Snapshot] still has them.
	Lost uint64 `json:"lost,omitempty"`
}

// Subscribe returns a subscription to all changes from now on. To miss nothing, subscribe before
// you ask for a [History.Snapshot]: changes in between are in both.
func (h *History) Subscribe() *Subscription {
	s := &Subscription{h: h, ready: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.readers == nil {
		h.readers = map[*Subscription]struct{}{}
	}
	h.readers[s] = struct{}{}
	return s
}

// Ready returns a channel that holds a token when [Subscription.Take] has something to return.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Take returns the points and marks since the last call. It does not wait.
func (s *Subscription) Take() (u Update) {
	s.h.mu.Lock()
	pending := s.pending
	u.Lost, s.pending, s.lost = s.lost, nil, 0
	s.h.mu.Unlock()
	for _, e := range pending {
		if e.Point != nil {
			u.Points = append(u.Points, *e.Point)
		} else {
			u.Marks = append(u.Marks, *e.Mark)
		}
	}
	return u
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	delete(s.h.readers, s)
}

// add queues a line for the reader. The caller holds h.mu.
func (s *Subscription) add(l line) {
	if len(s.pending) >= mostPending {
		drop := len(s.pending) / 2
		s.pending, s.lost = append([]line{}, s.pending[drop:]...), s.lost+uint64(drop)
	}
	s.pending = append(s.pending, l)
	select {
	case s.ready <- struct{}{}:
	default:
	}
}
