package runlist

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A stub is the coordinator of a history.
type stub struct{}

func (stub) Plan() plan.Plan       { return plan.Plan{Run: "stub", Dim: 3} }
func (stub) Status() report.Status { return report.Status{} }

// write makes the history of a log: rounds, tags and perhaps an end.
func write(t *testing.T, dir string, rounds uint64, ended bool, tags ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	h := &history.History{}
	stop := h.Lead(t.Context(), stub{}, history.Dir(dir), slog.New(slog.DiscardHandler))
	h.Tag(tags)
	for n := range rounds {
		if err := h.Record(report.Event{Kind: report.RoundDone, N: n + 2, Round: n + 1,
			Contributors: 2, Loss: 1 / float32(n+1)}); err != nil {
			t.Fatal(err)
		}
	}
	if ended {
		_ = h.Record(report.Event{Kind: report.RunEnded, N: rounds + 2, Round: rounds,
			End: wire.End{Reason: wire.EndRounds}})
	}
	stop()
}

// A directory lists the logs in it, the last used first, with what their histories say; what is no
// log, cannot be read or is excepted is not listed. A list sees what was written since the last.
func TestDir(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "a.log"), 4, true, "rate=0.1", "team a")
	write(t, filepath.Join(root, "b"), 2, false)
	write(t, filepath.Join(root, "own"), 9, false)
	for _, name := range []string{"empty", "newer"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	newer := filepath.Join(root, "newer", history.FileName)
	if err := os.WriteFile(newer, []byte("{\"zofl_history\":99}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Minute)
	for i, name := range []string{"a.log", "b", "own"} {
		file := filepath.Join(root, name, history.FileName)
		if err := os.Chtimes(file, at, at.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	source := Dir(root, filepath.Join(root, "sub", "..", "own"))
	list := source.List(t.Context())
	if len(list) != 2 || list[0].Name != "b" || list[1].Name != "a" {
		t.Fatalf("listed %+v", list)
	}
	if b := list[0]; b.State != "not ended" || b.Round != 2 || b.Tags != nil || *b.Loss != 0.5 {
		t.Errorf("b: %+v", b)
	}
	if a := list[1]; a.State != "ended: rounds" || a.Round != 4 || a.Time.IsZero() ||
		!slices.Equal(a.Tags, []string{"rate=0.1", "team a"}) {
		t.Errorf("a: %+v", a)
	}
	points, marks, ok := source.History(t.Context(), list[1].Key)
	if !ok || len(points) != 4 || len(marks) != 3 {
		t.Errorf("the history of a: %d points, %d marks, %v", len(points), len(marks), ok)
	}
	for _, key := range []string{"", "dir:" + filepath.Join(root, "own"), "dir:/etc", "run:b"} {
		if _, _, ok := source.History(t.Context(), key); ok {
			t.Errorf("%q names a history", key)
		}
	}
	write(t, filepath.Join(root, "b"), 3, false)
	if list = source.List(t.Context()); list[0].Name != "b" || list[0].Round != 3 {
		t.Errorf("after another round: %+v", list)
	}
	if list = Dir(filepath.Join(root, "b"), "").List(t.Context()); len(list) != 1 ||
		list[0].Name != "b" {
		t.Errorf("the directory of a log lists %+v", list)
	}
	if list = Dir(filepath.Join(root, "none"), "").List(t.Context()); len(list) != 0 {
		t.Errorf("no directory lists %+v", list)
	}
}
