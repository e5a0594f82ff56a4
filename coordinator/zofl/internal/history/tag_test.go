package history

import (
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/report"
)

// The last tags of a run hold, over restarts, thousands of marks and a copy of the log. The same
// tags again are no event.
func TestTags(t *testing.T) {
	dir := t.TempDir()
	var h History
	stop := h.Lead(t.Context(), newRun(t), Dir(dir), logger(t))
	if h.Tags() != nil {
		t.Errorf("tags %v before there are any", h.Tags())
	}
	h.Tag([]string{"rate=0.1"})
	h.Tag([]string{"rate=0.1"})
	for n := range uint64(3 * mostMarks) {
		record(t, &h, report.Event{Kind: report.RunResumed, N: n + 2})
	}
	if n := h.marked(Tagged); n != 1 {
		t.Errorf("%d marks of tags, want 1", n)
	}
	h.Tag([]string{"rate=0.2", "team a"})
	stop()
	again, _, err := Read(t.Context(), DirToRead(dir))
	if want := []string{"rate=0.2", "team a"}; err != nil || !slices.Equal(again.Tags(), want) {
		t.Errorf("tags %v, %v; want %v", again.Tags(), err, want)
	}
	_, marks := again.Snapshot(0)
	if got := marks[len(marks)-1]; got.Words() != "tagged rate=0.2, team a" {
		t.Errorf("the mark says %q", got.Words())
	}
}
