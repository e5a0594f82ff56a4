package papers

import (
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		if seen[e.ID] || e.Title == "" || e.Paper == "" || e.Long == "" || e.Do == nil {
			t.Errorf("%q: twice, or not whole", e.ID)
		}
		seen[e.ID] = true
		if found, err := Find(e.ID); err != nil || found.ID != e.ID {
			t.Errorf("Find(%q) = %v, %v", e.ID, found, err)
		}
	}
	for _, id := range []string{"decomfl-mnist", "decomfl-mnist-k4-p20", "decomfl-lag",
		"decomfl-memory", "zofedht-table1"} {
		if !seen[id] {
			t.Errorf("there is no %s", id)
		}
	}
	_, err := Find("nonsense")
	if err == nil || !strings.HasPrefix(err.Error(), `there is no experiment "nonsense": choose `) ||
		!strings.Contains(err.Error(), "decomfl-lag") {
		t.Errorf("nonsense: %v", err)
	}
}
