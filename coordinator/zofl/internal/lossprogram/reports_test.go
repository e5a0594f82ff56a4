package lossprogram

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
	"github.com/zofl/zofl/wire/deviceinfo"
)

// TestReports: a program reports numbers before an answer, with it and after it, in one write or in
// several, and is asked on. What it cannot report is logged once.
func TestReports(t *testing.T) {
	log := &await.Text{}
	r := &reports{logger: slog.New(slog.NewTextHandler(log, nil)), kept: deviceinfo.Values{}}
	p := &Program{}
	in, out := io.Pipe()
	requests, asked := io.Pipe()
	hung := make(chan struct{})
	talk := newTalk(in, asked, time.Minute, func() { close(hung) }, r)
	go func() {
		_, _ = io.Copy(io.Discard, requests)
	}()
	say := func(text string) {
		t.Helper()
		if _, err := io.WriteString(out, text); err != nil {
			t.Error(err)
		}
	}
	ask := func() {
		t.Helper()
		if _, err := talk.ask(t.Context(), "loss", "loss"); err != nil {
			t.Fatal(err)
		}
	}
	say("report early=1 early=2\n")
	go say("report a=1\nloss 1\nreport b=2 c=-3.5\nrep")
	ask()
	say("ort d=1e3\n")
	go say("loss 2\n")
	ask()
	say("report wrong\nreport a=\nreport 9=1 e=5\n")
	go say("loss 3\n")
	ask()
	got := deviceinfo.Values{}
	p.reports.kept = r.kept
	p.ReportTo(func(name string, value float64) error {
		got[name] = value
		return nil
	})
	want := deviceinfo.Values{"early": 2, "a": 1, "b": 2, "c": -3.5, "d": 1000, "e": 5}
	if !maps.Equal(got, want) {
		t.Errorf("reported %v, want %v", got, want)
	}
	if text := fmt.Sprint(log); !log.Says("give NAME=NUMBER") || len(text) > 300 {
		t.Errorf("the log has %s", text)
	}
	say("reports 1\n")
	select {
	case <-hung:
	case <-time.After(await.Patience):
		t.Error("a line that is no report is taken")
	}
}

// TestStray: what may follow an answer in one read.
func TestStray(t *testing.T) {
	for after, want := range map[string]string{
		"": "none", "report a=1\n": "none", "rep": "none", "report a=1\nreport b": "none",
		"x": "x", "\n": "", "rep\n": "rep", "report a=1\nloss 1\n": "loss 1", "report\n": "report",
	} {
		got := "none"
		if s := stray([]byte(after)); s != nil {
			got = string(s)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", after, got, want)
		}
	}
}
