//go:build !race

package dashboard

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/testing/fleet/crowd"
)

// classifier returns the plan of a run that trains the classifier of `zofl client`, and reports
// silent devices soon.
func classifier(t *testing.T, devices int) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("zofl", "kitchen", 7850)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey = make(plan.Bytes, 32)
	p.Members, p.Target, p.Quorum = uint32(devices), uint32(devices), 2
	p.Deadline, p.Reannounce = 1000, 500
	p.Metrics, p.EvalEvery, p.EvalCount, p.DigestEvery = []string{"loss", "accuracy"}, 20, 2, 16
	return p
}

// bin is where the tests' one program is.
var bin = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "zofl-dashboard-") })

// program builds the program, once for all tests.
var program = sync.OnceValues(func() (string, error) {
	dir, err := bin()
	if err != nil {
		return "", err
	}
	return Build("../..", dir)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := bin(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// built returns the program, or skips a test of the page.
func built(t *testing.T) string {
	t.Helper()
	if os.Getenv("ZOFL_CHROMIUM") == "" {
		t.Skip("ZOFL_CHROMIUM is not set: give it the name of a Chromium, such as chromium")
	}
	zofl, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return zofl
}

// start starts the program with a plan.
func start(t *testing.T, p *plan.Plan, more ...string) (zofl string, s *Serve) {
	t.Helper()
	zofl = built(t)
	s, err := Start(t.Context(), zofl, t.TempDir(), p, more...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(s.Log())
		}
	})
	return zofl, s
}

// clients starts devices with `zofl client`. kill kills device i.
func clients(t *testing.T, zofl string, s *Serve, count int) (kill func(i int)) {
	t.Helper()
	list := make([]*exec.Cmd, count)
	for i := range list {
		id := fmt.Sprintf("pi-%d", i+1)
		list[i] = exec.Command(zofl, "client", "--url", s.URL, "--run", s.Run, "--id", id,
			"--store", filepath.Join(t.TempDir(), id))
		if err := list[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, c := range list {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	})
	return func(i int) {
		t.Helper()
		if err := list[i].Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPage checks that the page shows a run with a growing curve and shows that a device was
// killed. A command needs the right token, the page sends nothing to other machines, and the page
// says when its coordinator is gone. With -v the test prints how soon the page showed the killed
// device.
func TestPage(t *testing.T) {
	zofl, s := start(t, classifier(t, 5), "--tag", "step=auto", "--tag", "team a")
	pastRun(t, s.Dir, "pantry.log", 400, "step=0.3")
	pastRun(t, s.Dir, "cellar.log", 250, "step=1", "no evaluation")
	p := browser(t, s.Page, 1440, 900)
	p.do(chromedp.Navigate(s.Page))
	p.until(`document.body.dataset.state === "waiting"`)
	kill := clients(t, zofl, s, 5)
	p.until(`document.body.dataset.points > 3`)
	seen := p.value(`document.body.dataset.points`)
	p.until(`Number(document.body.dataset.points) > 20 + ` + seen)
	p.until(`document.querySelectorAll(".uplot canvas").length >= 6`)
	p.until(`document.getElementById("tags").textContent === "step=autoteam a"`)
	p.until(`document.querySelectorAll("#fleet tbody tr .dot[data-kind=present]").length === 5`)
	if got := p.value(`document.querySelector(".chart .plot").getAttribute("aria-label")`); !strings.
		HasPrefix(got, "Training loss, a curve: ") {
		t.Errorf("the loss says %q", got)
	}

	kill(2)
	killed := time.Now()
	p.until(`[...document.querySelectorAll("#fleet tbody tr")].some(
		r => r.textContent.includes("pi-3") && r.textContent.includes("silent"))`)
	t.Logf("a killed device is silent after %v", time.Since(killed).Round(100*time.Millisecond))
	if got := p.value(told); got != "5" {
		t.Errorf("%s devices show their platform, want 5", got)
	}
	p.until(`document.getElementById("events").textContent.includes("pi-3 is silent")`)

	p.click("#pause")
	p.enter("#token-text, #pause-reason", "tea")
	p.click("#ask-do") // of the pause, which then asks for the token
	p.until(`document.getElementById("token-text") !== null`)
	p.enter("#token-text", strings.Repeat("a", 43))
	p.click("#ask-do")
	p.until(`document.getElementById("ask-error").textContent.includes("the token is wrong")`)
	if state := p.value(`document.body.dataset.state`); state != "open" {
		t.Errorf("with a wrong token the run is %s", state)
	}
	p.click("#ask-cancel")
	p.until(`!document.getElementById("ask").open`) // what is behind it takes no clicks

	p.do(chromedp.Navigate(s.Page + "#token=" + s.Token))
	p.until(`location.hash === ""`)
	p.until(`document.body.dataset.state === "open"`)
	p.click("#pause")
	p.enter("#pause-reason", "tea")
	p.click("#ask-do")
	p.until(`document.body.dataset.state === "paused"`)
	p.until(`document.getElementById("reason").textContent === "Paused: tea"`)
	p.headline()
	p.click("#change")
	p.enter("#change-value", kb.Control+"a"+kb.Control)
	p.do(chromedp.SetValue(chromedp.CSS("#change-value"), "0.125"))
	p.click("#ask-do")
	p.until(`[...document.querySelectorAll("#plan .changed")].some(
		e => e.textContent.includes("step") && e.textContent.includes("0.125"))`)
	p.click("#resume")
	p.until(`document.body.dataset.state === "open"`)
	if *update { // the documentation shows a curve that has got somewhere
		p.until(`document.body.dataset.points > 100`)
	}
	p.overlays()
	p.fine()
	p.pictures()
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	p.until(`!document.getElementById("gone").hidden && document.getElementById("pause").disabled`)
	if said := p.value(`document.getElementById("gone").textContent`); !strings.
		Contains(said, "has not answered since") {
		t.Errorf("without a coordinator the page says %q", said)
	}
}

// TestSurvey checks that the page says that the coordinator asks devices for mu, and how many
// devices have answered.
func TestSurvey(t *testing.T) {
	plan := classifier(t, 2)
	plan.Mu, plan.MuAuto, plan.Deadline = 0, 1, 600_000
	zofl, s := start(t, plan)
	p := browser(t, s.Page, 1440, 900)
	p.do(chromedp.Navigate(s.Page))
	clients(t, zofl, s, 1)
	slow := exec.Command(zofl, "client", "--url", s.URL, "--run", s.Run, "--id", "slow",
		"--delay", "1h")
	if err := slow.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = slow.Process.Kill()
		_ = slow.Wait()
	})
	p.until(`!document.getElementById("asks").hidden && document.getElementById("asks").textContent ===
		"Devices are asked for losses to find mu; answers so far: 1 of 2"`)
	p.fine()
}

// TestSuspect checks that the page names a device whose contributions are far longer than the
// others', above the panels and in the table, and says what removes it.
func TestSuspect(t *testing.T) {
	plan, err := Plan(5, 5, 0)
	if err != nil {
		t.Fatal(err)
	}
	plan.Bound = 8
	_, s := start(t, plan)
	p := browser(t, s.Page, 1440, 900)
	p.do(chromedp.Navigate(s.Page))
	p.until(`document.body.dataset.state === "waiting"`)
	if hidden := p.value(`document.getElementById("suspects").hidden`); hidden != "true" {
		t.Error("the page names suspects before a round")
	}
	fleet := &Fleet{Members: crowd.Members{Plan: plan, Liar: "device-00003"}}
	fleet.Think(100 * time.Millisecond)
	nc, err := fleet.Join(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	p.until(`!document.getElementById("suspects").hidden`)
	said := p.value(`document.getElementById("suspects").textContent`)
	if !strings.HasPrefix(said, "Suspect: device-00003: ") ||
		!strings.Contains(said, "`zofl retire device-00003` removes it") ||
		strings.Count(said, "Suspect: ") != 1 {
		t.Errorf("the page says %q", said)
	}
	p.until(`document.querySelectorAll("#fleet tbody tr .dot[data-kind=present]").length === 4`)
	p.until(`(dot => dot && dot.textContent === "present, suspect" && dot.closest("tr").textContent.
		startsWith("device-00003"))(document.querySelector("#fleet tbody tr .dot[data-kind=suspect]"))`)
	p.until(`document.getElementById("events").textContent.includes("suspect: device-00003")`)
	p.fine()
}

// told is how many devices of the table show their platform.
var told = fmt.Sprintf(`[...document.querySelectorAll("#fleet tbody td")].filter(
	c => c.textContent === "%s/%s").length`, runtime.GOOS, runtime.GOARCH)
