//go:build linux && !race

package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/testing/servers"
)

// TestSecondCoordinator runs two coordinators with copies of one log on one broker. The second
// coordinator ends before it announces anything, and the first coordinator reports the second. A
// coordinator that was killed and restarted at once does not count as a second coordinator.
func TestSecondCoordinator(t *testing.T) {
	dir := t.TempDir()
	p := testPlan(t, "second", 50, 2, 0)
	p.Reannounce = 500
	b, err := json.Marshal((*planfile.Plan)(p))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "plan.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	url := servers.Start(t, 1).URL()
	serve := func(name string) *party {
		return newParty(t, name, "serve", path, "--url", url, "--store", filepath.Join(dir, name),
			"--json")
	}
	first := serve("log")
	for i := range 2 {
		id := fmt.Sprint("d", i)
		d := &party{t: t, name: id, each: func(p *party, line map[string]any) {
			if err, _ := line["err"].(string); strings.Contains(err, "log") {
				t.Errorf("%s follows another log: %s", p.name, err)
			}
		}}
		d.args = []string{"client", "--url", url, "--run", "second", "--id", id, "--json",
			"--objective", "bowl", "--dim", "50", "--delay", "5ms"}
		d.begin()
	}
	more := func() {
		t.Helper()
		n, _ := first.report()["n"].(float64)
		servers.Eventually(t, "some rounds", func() error {
			if now, _ := first.report()["n"].(float64); now < n+10 {
				return fmt.Errorf("the last event is %v", first.report())
			}
			return nil
		})
	}
	more()
	// If the coordinator stores records during the copy, a file copied early may be older than a file
	// copied later says, and the second coordinator would find records missing.
	var told map[string]any
	at := []string{"--url", url, "--run", "second", "--json"}
	command(t, &told, append([]string{"pause"}, at...)...)
	if err := os.CopyFS(filepath.Join(dir, "copy"), os.DirFS(filepath.Join(dir, "log"))); err != nil {
		t.Fatal(err)
	}
	command(t, &told, append([]string{"resume"}, at...)...)
	more()
	second := serve("copy")
	var code int
	var text []byte
	servers.Eventually(t, "the second to end", func() error {
		if code, text = second.gaveUp(); code == 0 {
			return errors.New("it runs")
		}
		return nil
	})
	if code != 1 || !strings.Contains(string(text), "another coordinator already leads this run") {
		t.Errorf("the second ended with %d:\n%s", code, text)
	}
	if r := second.report(); r != nil {
		t.Errorf("the second reported %v", r)
	}
	more()
	first.kill()
	if text := first.tail.String(); !strings.Contains(text, "must step down") {
		t.Errorf("the first says nothing of the second:\n%s", text)
	}
	for range 3 {
		first.start()
		more()
		first.kill()
	}
}
