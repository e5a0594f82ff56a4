package dashboard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/runlist"
)

// A Config says who may see a run and who may command it.
type Config struct {
	// Token is the secret that commands need, in the header Authorization: Bearer. See [NewToken].
	// Without one, the server takes no command.
	Token string
	// Guarded says that reading needs the token too.
	Guarded bool
	// Hosts are names of this server, in addition to localhost and addresses. The server refuses a
	// request to another name, because a hostile site could have made that name resolve to this
	// address.
	Hosts []string
	// Others are runs that other programs lead, or led: the page draws their curves, too.
	Others []runlist.Source
	Logger *slog.Logger // nil: nothing is logged
}

// A Server serves the dashboard. It is an [http.Handler].
type Server struct {
	cfg    Config
	token  *lock
	mux    *http.ServeMux
	ctx    context.Context // ends streams
	cancel context.CancelFunc

	mu      sync.Mutex // guards what follows
	made    int        // boards
	boards  []*Board   // that were led, in their order
	streams int
	pumps   sync.WaitGroup
}

// New returns a server without runs.
func New(cfg Config) *Server {
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	s := &Server{cfg: cfg, token: newLock(cfg.Token), mux: http.NewServeMux()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.assets()
	s.Mount("GET /api/runs", http.HandlerFunc(s.runs))
	s.Mount("GET /api/curves", http.HandlerFunc(s.curves))
	s.Mount("GET /api/runs/{run}/stream", s.of(s.stream))
	s.Mount("GET /api/runs/{run}/devices", s.of(s.devices))
	s.Mount("GET /api/runs/{run}/histograms", s.of(s.histograms))
	s.mux.Handle("GET /api/token", s.locked(http.HandlerFunc(s.rightToken)))
	s.mux.Handle("POST /api/runs/{run}/{verb}", s.locked(s.of(s.command)))
	s.mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, http.StatusNotFound, "there is no "+r.Method+" "+r.URL.Path)
	})
	return s
}

// Mount adds another handler, for a pattern of [http.ServeMux] such as "GET /metrics". If the
// server is Guarded, requests to the handler need the token.
func (s *Server) Mount(pattern string, h http.Handler) {
	if s.cfg.Guarded {
		h = s.locked(h)
	}
	s.mux.Handle(pattern, h)
}

// Board returns a board for the run whose rounds a history keeps. The server shows the board after
// the first [Board.Lead].
func (s *Server) Board(h *history.History) *Board {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return &Board{server: s, history: h, boot: newBoot()}
}

// These constants bound the time and the header bytes of a client's request.
const (
	headerWithin = 5 * time.Second
	writeWithin  = 10 * time.Second
	idleFor      = 2 * time.Minute
	maxHeader    = 16 << 10 // bytes
)

// Serve serves until ctx is done. It closes the listener, and returns when all its goroutines have
// ended.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: headerWithin, IdleTimeout: idleFor,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug)}
	stop := context.AfterFunc(ctx, func() {
		s.cancel()
		_ = server.Close()
	})
	defer stop()
	err := server.Serve(listener)
	s.Close()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Close ends the streams, and waits for their goroutines.
func (s *Server) Close() {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()
	s.pumps.Wait()
}

// start runs a function in a goroutine that Close waits for, unless the server is closed.
func (s *Server) start(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return false
	}
	s.pumps.Go(f)
	return true
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header())
	if text := s.foreign(r); text != "" {
		fail(w, http.StatusForbidden, text)
		return
	}
	c := http.NewResponseController(w)
	_ = c.SetWriteDeadline(time.Now().Add(writeWithin)) // streams set their own
	_ = c.SetReadDeadline(time.Now().Add(writeWithin))
	s.mux.ServeHTTP(w, r)
}

// led adds a board to the list.
func (s *Server) led(b *Board) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.boards, b) {
		s.boards = append(s.boards, b)
	}
}

func (s *Server) all() []*Board {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.boards)
}

// of returns a handler that calls h with the board of the run in the URL's path.
func (s *Server) of(h func(http.ResponseWriter, *http.Request, *Board)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, b := range s.all() {
			if b.title() == r.PathValue("run") {
				h(w, r, b)
				return
			}
		}
		fail(w, http.StatusNotFound, "no such run: GET /api/runs lists them")
	})
}

func (s *Server) rightToken(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{})
}

// reply answers with JSON.
func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // an error means that the client has left
}

// fail answers with an error, in words.
func fail(w http.ResponseWriter, code int, text string) {
	reply(w, code, map[string]string{"error": text})
}
