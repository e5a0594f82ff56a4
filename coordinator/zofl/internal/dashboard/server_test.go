package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
	"github.com/zofl/zofl/plan"
)

// patience bounds how long a test waits for an event. A passing test never waits that long.
const patience = 2 * time.Minute

// A stub is a [Run] whose results a test sets.
type stub struct {
	mu      sync.Mutex
	name    string
	status  operate.Status
	devices []operate.Device
	did     []string
}

func (s *stub) Status() operate.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

func (s *stub) Plan() plan.Plan {
	return plan.Plan{Run: s.name, RunKey: make(plan.Bytes, 32), Dim: 3}
}

func (s *stub) Devices() ([]operate.Device, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]operate.Device{}, s.devices...), time.Now()
}

func (s *stub) Do(verb string, r operate.Request) (*operate.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Reason == "no" {
		return nil, errors.New("the run does not want to")
	}
	s.did = append(s.did, verb)
	return &s.status, nil
}

// A lab is a running dashboard server that shows a stub.
type lab struct {
	t       *testing.T
	server  *Server
	http    *httptest.Server
	run     *stub
	board   *Board
	history *history.History
	token   string
}

func newLab(t *testing.T, cfg Config) *lab {
	t.Helper()
	cfg.Token = NewToken()
	l := &lab{t: t, server: New(cfg), token: cfg.Token, history: &history.History{},
		run: &stub{name: "kitchen", status: operate.Status{Run: "kitchen", State: "open"}}}
	l.board = l.server.Board(l.history)
	l.board.Lead(l.run)
	l.http = httptest.NewServer(l.server)
	t.Cleanup(func() {
		l.server.Close()
		l.http.Close()
	})
	return l
}

// request returns a request with the token.
func (l *lab) request(method, path, body string) *http.Request {
	l.t.Helper()
	r, err := http.NewRequestWithContext(l.t.Context(), method, l.http.URL+path,
		strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+l.token)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// answer sends a request, and returns the answer and its body.
func (l *lab) answer(r *http.Request) (*http.Response, string) {
	l.t.Helper()
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		l.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return response, string(body)
}

// round is the event of a round.
func round(n uint64) report.Event {
	return report.Event{Kind: report.RoundDone, N: n, Round: n - 1, Contributors: 3, Asked: 4,
		Loss: 1 / float32(n), Seconds: 0.5}
}

func TestHostileRequests(t *testing.T) {
	l := newLab(t, Config{Hosts: []string{"pi.example"}})
	const pause = "/api/runs/kitchen/pause"
	for _, c := range []struct {
		name         string
		method, path string
		body         string
		spoil        func(*http.Request)
		code         int
		says         string
	}{
		{"a command", "POST", pause, `{"reason":"tea"}`, nil, 200, ""},
		{"a name of ours", "POST", pause, `{}`,
			func(r *http.Request) { r.Host = "pi.example:80" }, 200, ""},
		{"no token", "POST", pause, `{}`,
			func(r *http.Request) { r.Header.Del("Authorization") }, 401, "missing"},
		{"a wrong token", "POST", pause, `{}`,
			func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+NewToken()) }, 401, "wrong"},
		{"another scheme", "POST", pause, `{}`, func(r *http.Request) {
			r.Header.Set("Authorization", "Basic "+l.token)
		}, 401, "wrong"},
		{"a prefix of the token", "POST", pause, `{}`, func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+l.token[:42])
		}, 401, "wrong"},
		{"a name of others", "POST", pause, `{}`,
			func(r *http.Request) { r.Host = "evil.example" }, 403, "Host evil.example"},
		{"a name of others, reading", "GET", "/api/runs", ``,
			func(r *http.Request) { r.Host = "evil.example:8080" }, 403, "Host"},
		{"a page of others", "POST", pause, `{}`,
			func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403, "Origin"},
		{"a page of others, reading", "GET", "/api/runs", ``, func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, 403, "pages of others"},
		{"a page on another port", "POST", pause, `{}`,
			func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403, "Origin"},
		{"an origin without a name", "POST", pause, `{}`,
			func(r *http.Request) { r.Header.Set("Origin", "null") }, 403, "Origin"},
		{"a form", "POST", pause, `{}`, func(r *http.Request) {
			r.Header.Set("Content-Type", "text/plain")
		}, 415, "application/json"},
		{"no JSON", "POST", pause, `{`, nil, 400, "the request"},
		{"another field", "POST", pause, `{"color":1}`, nil, 400, "color"},
		{"two values", "POST", pause, `{} {}`, nil, 400, "more than one"},
		{"too long", "POST", pause, `{"reason":"` + strings.Repeat("a", 1<<20) + `"}`, nil, 413,
			"too large"},
		{"no such command", "POST", "/api/runs/kitchen/dance", `{}`, nil, 404, "retire"},
		{"no such run", "POST", "/api/runs/cellar/pause", `{}`, nil, 404, "no such run"},
		{"refused by the run", "POST", pause, `{"reason":"no"}`, nil, 409, "does not want to"},
		{"a command by GET", "GET", pause, ``, nil, 404, "there is no"},
		{"nothing", "GET", "/api/x", ``, nil, 404, "there is no"},
		{"a file of the source", "GET", "/server.go", ``, nil, 404, ""},
		{"a list of files", "GET", "/third-party/", ``, nil, 404, ""},
		{"a wrong row", "GET", "/api/runs/kitchen/devices?from=-1", ``, nil, 400, "from"},
		{"a wrong column", "GET", "/api/runs/kitchen/devices?sort=color", ``, nil, 400, "sort"},
		{"far beyond", "GET", "/api/runs/kitchen/devices?from=2147483647&count=2147483647", ``, nil,
			200, `"total":0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := l.request(c.method, c.path, c.body)
			if c.spoil != nil {
				c.spoil(r)
			}
			before := len(l.run.did)
			response, body := l.answer(r)
			if response.StatusCode != c.code || !strings.Contains(body, c.says) {
				t.Errorf("%s: %s, want %d and %q", response.Status, body, c.code, c.says)
			}
			if did := len(l.run.did) - before; (did > 0) != (c.method == "POST" && c.code == 200) {
				t.Errorf("%d commands were done", did)
			}
		})
	}
}

// The server answers a wrong token late, and refuses most of many at once. The right token works
// nevertheless.
func TestManyWrongTokens(t *testing.T) {
	l := newLab(t, Config{})
	codes := make(chan int, 4*wrongMost)
	for range cap(codes) {
		go func() {
			r := l.request("GET", "/api/token", "")
			r.Header.Set("Authorization", "Bearer "+NewToken())
			response, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				codes <- 0
				return
			}
			response.Body.Close()
			codes <- response.StatusCode
		}()
	}
	if response, body := l.answer(l.request("GET", "/api/token", "")); response.StatusCode != 200 {
		t.Errorf("the right token: %s: %s", response.Status, body)
	}
	count := map[int]int{}
	for range cap(codes) {
		count[<-codes]++
	}
	if count[401] < wrongMost || count[401]+count[429] != cap(codes) || count[429] == 0 {
		t.Errorf("answers to %d wrong tokens: %v", cap(codes), count)
	}
}

// Who guesses tokens for a minute, 32 a second, fills no log: there is a line in ten seconds, and
// the lines count all of the guesses before them.
func TestWrongTokensInLog(t *testing.T) {
	var said strings.Builder
	logger, l, at := slog.New(slog.NewTextHandler(&said, nil)), newLock("token"), time.Now()
	for range 60 * 32 {
		l.tell(logger, "192.0.2.1:5", at)
		at = at.Add(time.Second / 32)
	}
	if n := strings.Count(said.String(), "wrong token"); n != 6 ||
		!strings.Contains(said.String(), "from=192.0.2.1:5") ||
		strings.Count(said.String(), "=319\n") != 5 {
		t.Errorf("%d lines:\n%s", n, said.String())
	}
}

func TestGuardedReading(t *testing.T) {
	l := newLab(t, Config{Guarded: true})
	l.server.Mount("GET /metrics", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "rounds 3\n")
	}))
	for path, needs := range map[string]bool{"/": false, "/main.js": false, "/metrics": true,
		"/api/runs": true, "/api/runs/kitchen/devices": true, "/api/curves": true,
		"/api/runs/kitchen/histograms": true, "/api/runs/kitchen/stream": true} {
		r := l.request("GET", path, "")
		r.Header.Del("Authorization")
		ctx, cancel := context.WithCancel(r.Context())
		response, err := http.DefaultTransport.RoundTrip(r.WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		response.Body.Close()
		if (response.StatusCode == 401) != needs {
			t.Errorf("%s without a token: %s", path, response.Status)
		}
	}
	if response, body := l.answer(l.request("GET", "/metrics", "")); body != "rounds 3\n" {
		t.Errorf("/metrics with the token: %s %s", response.Status, body)
	}
}

// Every file of the page has a type and the policy, and none has a script or a style inline, or an
// address elsewhere.
func TestPageIsStrict(t *testing.T) {
	l := newLab(t, Config{})
	inline := regexp.MustCompile(`(?i)<script>|<style|\son\w+=|\sstyle=|javascript:`)
	elsewhere := regexp.MustCompile(`(?i)(src|href|url|import|fetch|from)\s*[=(]?\s*["'(](https?:)?//`)
	for _, name := range []string{"/", "/main.js", "/style.css", "/theme.js", "/icon.svg",
		"/third-party/uplot/uPlot.iife.min.js", "/third-party/uplot/LICENSE"} {
		response, body := l.answer(l.request("GET", name, ""))
		if response.StatusCode != 200 || response.Header.Get("Content-Security-Policy") != policy ||
			response.Header.Get("X-Content-Type-Options") != "nosniff" ||
			response.Header.Get("Referrer-Policy") != "no-referrer" ||
			response.Header.Get("Content-Type") == "" {
			t.Errorf("%s: %s %v", name, response.Status, response.Header)
		}
		if found := elsewhere.FindString(body); found != "" {
			t.Errorf("%s has an address elsewhere: %s", name, found)
		}
		if found := inline.FindString(body); found != "" && name == "/" {
			t.Errorf("%s has %s inline", name, found)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Error("the policy is not strict")
	}
}

// The server does not send a file again that the browser has cached.
func TestPageIsKept(t *testing.T) {
	l := newLab(t, Config{})
	response, _ := l.answer(l.request("GET", "/main.js", ""))
	r := l.request("GET", "/main.js", "")
	r.Header.Set("If-None-Match", response.Header.Get("Etag"))
	if response, body := l.answer(r); response.StatusCode != 304 || body != "" {
		t.Errorf("again: %s, %d bytes", response.Status, len(body))
	}
}

func TestTokenFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), TokenFile)
	token, err := LoadToken(file)
	if err != nil || !ValidToken(token) {
		t.Fatalf("token %q: %v", token, err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v: %v", info.Mode(), err)
	}
	if again, err := LoadToken(file); again != token || err != nil {
		t.Errorf("again %q: %v", again, err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadToken(file); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others can read: %v", err)
	}
	if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadToken(file); err == nil || !strings.Contains(err.Error(), "no token") {
		t.Errorf("a short token: %v", err)
	}
}

// A server without a token refuses every command.
func TestWithoutToken(t *testing.T) {
	s := New(Config{})
	defer s.Close()
	for _, authorization := range []string{"Bearer ", "Bearer", ""} {
		r := httptest.NewRequest("GET", "http://localhost/api/token", nil)
		r.Header.Set("Authorization", authorization)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != 401 {
			t.Errorf("%q: %d", authorization, w.Code)
		}
	}
}

// Serve ends with its context, with pages open.
func TestServeEnds(t *testing.T) {
	s := New(Config{Token: NewToken()})
	b := s.Board(&history.History{})
	b.Lead(&stub{name: "kitchen"})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	response, err := http.Get(fmt.Sprintf("http://%v/api/runs/kitchen/stream", listener.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := bufio.NewReader(response.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err == nil {
		t.Log("the stream ended in order") // or it broke: both are an end
	}
}

func decode[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}
