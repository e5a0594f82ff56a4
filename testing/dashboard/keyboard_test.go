//go:build !race

package dashboard

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/zofl/zofl/testing/fleet/crowd"
)

// TestKeyboard checks the page with a keyboard. The Tab key reaches every control; each control has
// a name, shows that it has the focus, and keeps it. In the table the arrow keys move, Enter opens
// a device, and Escape closes the device. The page fits screens of all widths, and has the colors
// that the system or the reader chooses.
func TestKeyboard(t *testing.T) {
	plan, err := Plan(50, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, s := start(t, plan)
	fleet := &Fleet{Members: crowd.Members{Plan: plan}}
	nc, err := fleet.Join(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	p := browser(t, s.Page, 1280, 900)
	p.do(chromedp.Navigate(s.Page))
	p.until(`document.body.dataset.round > 20 &&
		document.querySelector("#fleet .dot[data-kind=present]")`)
	var reached []string
	for range 120 {
		p.do(chromedp.KeyEvent(kb.Tab))
		var e struct{ Name, Label, Outline string }
		if err := json.Unmarshal([]byte(p.value(focused)), &e); err != nil {
			t.Fatal(err)
		}
		if e.Name == "body" {
			break
		}
		if e.Label == "" || e.Outline == "none" {
			t.Errorf("%s: label %q, outline %q", e.Name, e.Label, e.Outline)
		}
		reached = append(reached, e.Name)
	}
	for _, want := range []string{"a.skip", "pause", "change", "rollback", "stop", "token", "theme",
		"Fleet", "axis", "smoothing", "logarithmic", "summary", "CSV", "PNG", "find", "where", "Device",
		"Missed", "device-", "events", "plan-all"} {
		if !slices.Contains(reached, want) {
			t.Errorf("Tab does not reach %s: %v", want, reached)
		}
	}

	// The list of devices that stand out is drawn anew every few seconds.
	p.until(`document.querySelector("#spread .worst button")`)
	p.do(chromedp.Evaluate[chromedp.Void](`{
		const b = document.querySelector("#spread .worst button");
		b.dataset.before = "";
		b.focus();
	}`))
	p.until(`!document.querySelector("#spread .worst [data-before]")`)
	if got := p.value(`String(document.activeElement.closest(".worst") !== null)`); got != "true" {
		t.Error("the list of devices that stand out loses the focus when it is drawn anew")
	}

	p.do(chromedp.Evaluate[chromedp.Void](
		`document.querySelector("#fleet tbody button[tabindex='0']").focus()`))
	for _, c := range []struct{ key, row string }{
		{kb.ArrowDown, "3"}, {kb.ArrowDown, "4"}, {kb.ArrowUp, "3"}, {kb.End, "51"}, {kb.Home, "2"},
	} {
		p.do(chromedp.KeyEvent(c.key))
		p.until(`document.activeElement.closest("tr")?.getAttribute("aria-rowindex") === "` + c.row + `"`)
	}
	p.do(chromedp.KeyEvent(kb.Enter))
	p.until(`document.getElementById("device").open &&
		document.getElementById("device-title").textContent.startsWith("device-")`)
	p.do(chromedp.KeyEvent(kb.Escape))
	p.until(`!document.getElementById("device").open`)
	if got := p.value(landmarks); got != "banner,main,contentinfo,status,alert" {
		t.Errorf("landmarks and live regions: %s", got)
	}
	p.spread(50)
	p.bothSeen()
	p.looks("50")
	p.theme()
	p.fine()
}

// theme checks that the page's colors follow the system until the reader chooses colors, and then
// follow the choice.
func (p *tab) theme() {
	p.t.Helper()
	const light, dark = "rgb(245, 246, 248)", "rgb(15, 19, 24)"
	ground := func(want string) {
		p.t.Helper()
		p.until(`getComputedStyle(document.body).backgroundColor === "` + want + `"`)
	}
	p.scheme("dark")
	ground(dark)
	p.do(chromedp.SetValue(chromedp.CSS("#theme"), "light"), chromedp.Evaluate[chromedp.Void](
		`document.getElementById("theme").dispatchEvent(new Event("change"))`))
	ground(light)
	p.do(chromedp.Navigate(p.home))
	ground(light)
	p.scheme("light")
	p.do(chromedp.SetValue(chromedp.CSS("#theme"), "dark"), chromedp.Evaluate[chromedp.Void](
		`document.getElementById("theme").dispatchEvent(new Event("change"))`))
	ground(dark)
}

// focused is the element with the focus: its name, its label, and how its outline is drawn.
const focused = `(() => {
	const e = document.activeElement;
	if (e === document.body) return JSON.stringify({ Name: "body" });
	const label = e.getAttribute("aria-label") || e.labels?.[0]?.textContent.trim()
		|| document.getElementById(e.getAttribute("aria-labelledby"))?.textContent
		|| e.textContent.trim();
	const shown = e.type === "radio" ? e.nextElementSibling : e;
	const name = e.name || e.id || (e.className === "skip" ? "a.skip"
		: e.localName === "summary" ? "summary"
		: e.closest("tbody") ? e.textContent.slice(0, 7) : e.textContent);
	return JSON.stringify({ Name: name, Label: label, Outline: getComputedStyle(shown).outlineStyle });
})()`

// landmarks are the parts that a screen reader leads to.
const landmarks = `["header", "main", "footer", "[role=status]", "[role=alert]"].map((s, i) =>
	document.querySelector(s) ? ["banner", "main", "contentinfo", "status", "alert"][i] : "").join()`
