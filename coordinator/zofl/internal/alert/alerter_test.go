package alert

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

func logTo(log io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(log, nil)) }

// TestWebhook: a server gets a pause and its end as JSON, with a text for people.
func TestWebhook(t *testing.T) {
	got := make(chan Alert, 8)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var a Alert
		if err := json.NewDecoder(r.Body).Decode(&a); err != nil || r.Method != http.MethodPost ||
			r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v: %v", r.Method, r.Header, err)
		}
		got <- a
	}))
	defer s.Close()
	a := Start(Config{URLs: []string{s.URL + "/hook"}, Logger: logTo(t.Output()),
		Worse: func() string { return "" }})
	a.Lead(&fakeRun{report.Status{Run: "kitchen"}})
	for _, e := range []report.Event{paused, paused, resumed} {
		if err := a.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	a.Close()
	close(got)
	var states []string
	for a := range got {
		states = append(states, a.State)
		if a.Run != "kitchen" || a.Kind != Paused || !strings.HasPrefix(a.Text, "zofl: run kitchen") {
			t.Errorf("got %+v", a)
		}
	}
	if fmt.Sprint(states) != "[firing resolved]" {
		t.Errorf("got %v", states)
	}
}

// TestRetries: a server that fails gets the alert again; one that refuses it does not. No log has
// the address, whose path may be a secret.
func TestRetries(t *testing.T) {
	for _, c := range []struct {
		status, again int
		retry         string
	}{{503, 2, ""}, {429, 2, "1"}, {404, 1, ""}, {302, 1, ""}} {
		t.Run(fmt.Sprint(c.status), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if asked.Add(1) == 1 {
					w.Header().Set("Retry-After", c.retry)
					w.Header().Set("Location", "http://127.0.0.1:1/")
					w.WriteHeader(c.status)
				}
			}))
			log := &await.Text{}
			send := webhook(s.URL + "/secret-path")
			k := newSink(logTo(log), send)
			k.put(Alert{Text: "x"})
			k.close()
			s.Close()
			if n := int(asked.Load()); n != c.again {
				t.Errorf("%d: asked %d times, want %d", c.status, n, c.again)
			}
			err := send(t.Context(), &Alert{})
			if text := log.String() + fmt.Sprint(err); strings.Contains(text, "secret-path") || err == nil {
				t.Errorf("%d: the log has %s", c.status, text)
			}
		})
	}
}

// TestBounded: while a server hangs, events wait for nothing, and the newest alerts are kept.
func TestBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free, told := make(chan struct{}), []string{}
		k := newSink(logTo(t.Output()), func(_ context.Context, a *Alert) error {
			<-free
			told = append(told, a.Device)
			return nil
		})
		for i := range 1000 {
			k.put(Alert{Device: fmt.Sprint(i)})
		}
		close(free)
		k.close()
		if len(told) > mostWaiting+1 || told[len(told)-1] != "999" {
			t.Errorf("told %v", told)
		}
	})
}

// TestClose: a server that never answers delays the end by some seconds only.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := Start(Config{Logger: logTo(t.Output()), Worse: func() string { return "" }})
		a.sinks = append(a.sinks, newSink(a.cfg.Logger, func(ctx context.Context, _ *Alert) error {
			<-ctx.Done()
			return ctx.Err()
		}))
		a.Lead(&fakeRun{report.Status{Run: "kitchen", State: report.Paused}})
		began := time.Now()
		if a.Close(); time.Since(began) != closeWithin {
			t.Errorf("it took %v", time.Since(began))
		}
	})
}

func TestReadURL(t *testing.T) {
	file := filepath.Join(t.TempDir(), "url")
	text := []byte("https://hooks.example/T0/secret\nmore\n")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadURL("@" + file); err != nil || got != "https://hooks.example/T0/secret" {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"", "ftp://x/secret", "hooks.example/secret", "http://",
		"@" + file + "x", "http://a b/secret"} {
		if _, err := ReadURL(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestCommand: a program gets the alert on its standard input and in its environment, and no shell
// reads any of it.
func TestCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a script of sh")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "notify.sh")
	text := "#!/bin/sh\ncat > \"$1/in\"\nprintf %s \"$ZOFL_KIND $ZOFL_REASON\" > \"$1/env\"\n" +
		"echo broken >&2\nexit 3\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	command, err := SplitCommand(script + " " + dir)
	if err != nil {
		t.Fatal(err)
	}
	log := &await.Text{}
	a := Start(Config{Command: command, Logger: logTo(log), Worse: func() string { return "" }})
	a.Lead(&fakeRun{report.Status{Run: "kitchen"}})
	e := paused
	e.Reason = "$(touch " + dir + "/pwned); `id`'\""
	if err := a.Record(e); err != nil {
		t.Fatal(err)
	}
	a.Close()
	in, err := os.ReadFile(filepath.Join(dir, "in"))
	var got Alert
	if err != nil || json.Unmarshal(in, &got) != nil || got.Reason != e.Reason {
		t.Errorf("standard input %s, %v", in, err)
	}
	env, err := os.ReadFile(filepath.Join(dir, "env"))
	if want := "paused " + e.Reason; err != nil || string(env) != want {
		t.Errorf("environment %q, %v, want %q", env, err, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a shell read the reason")
	}
	if text := log.String(); !strings.Contains(text, "exit status 3: broken") {
		t.Errorf("the log has %s", text)
	}
}

func TestSplitCommand(t *testing.T) {
	for _, bad := range []string{"", "  ", "no-such-program-of-zofl", "go 'a b'", "go | cat",
		"go $HOME", "go; id", "go > x", "go `id`"} {
		if got, err := SplitCommand(bad); err == nil {
			t.Errorf("%q is %q", bad, got)
		}
	}
}
