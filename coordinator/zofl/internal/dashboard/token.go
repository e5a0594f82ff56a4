package dashboard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"
)

// tokenBytes is how many random bytes a token has.
const tokenBytes = 32

// NewToken makes a token.
func NewToken() string {
	b := make([]byte, tokenBytes)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// ValidToken says whether a text has the form and the length of a token.
func ValidToken(text string) bool {
	b, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && len(b) == tokenBytes
}

// The server answers a request with a wrong token after wrongDelay, at most wrongMost requests at a
// time. It refuses further wrong tokens at once. Requests with the right token never wait, so
// nobody can lock out a person who has the token.
const (
	wrongDelay = 500 * time.Millisecond
	wrongMost  = 16
	// tellEvery is how often the log has a line about wrong tokens.
	tellEvery = 10 * time.Second
)

// A lock lets in requests that have the token.
type lock struct {
	sum    [sha256.Size]byte
	closed bool // the server has no token: refuse every request
	wrong  chan struct{}

	mu     sync.Mutex // guards what follows
	told   time.Time  // when the log last had a wrong token
	untold int        // wrong tokens since then
}

func newLock(token string) *lock {
	return &lock{sum: sha256.Sum256([]byte(token)), closed: token == "",
		wrong: make(chan struct{}, wrongMost)}
}

// opens says whether a request has the token. opens takes the same time for every token of a
// length.
func (l *lock) opens(r *http.Request) bool {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], l.sum[:]) == 1 && strings.EqualFold(kind, "Bearer") &&
		!l.closed
}

// locked returns a handler that serves only requests with the token.
func (s *Server) locked(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.token.opens(r):
			h.ServeHTTP(w, r)
		case r.Header.Get("Authorization") == "":
			deny(w, "the token is missing: give it in the header Authorization: Bearer TOKEN; "+
				"zofl says in its log where it is")
		default:
			s.denyWrong(w, r)
		}
	})
}

// tell logs a wrong token, at most once in tellEvery: who guesses does not fill the log.
func (l *lock) tell(logger *slog.Logger, from string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.told) < tellEvery {
		l.untold++
		return
	}
	logger.Warn("dashboard: a wrong token", "from", from, "others since the last line", l.untold)
	l.told, l.untold = now, 0
}

// denyWrong answers a wrong token.
func (s *Server) denyWrong(w http.ResponseWriter, r *http.Request) {
	select {
	case s.token.wrong <- struct{}{}:
		defer func() { <-s.token.wrong }()
	default:
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusTooManyRequests, "too many wrong tokens at once: wait a second")
		return
	}
	s.token.tell(s.cfg.Logger, r.RemoteAddr, time.Now())
	t := time.NewTimer(wrongDelay)
	defer t.Stop()
	select {
	case <-t.C:
		deny(w, "the token is wrong: zofl says in its log where the right one is")
	case <-r.Context().Done():
	}
}

func deny(w http.ResponseWriter, text string) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	fail(w, http.StatusUnauthorized, text)
}
