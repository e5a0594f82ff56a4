package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/zofl/zofl/bus/bustest"
	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/examples/browser/digits"
)

// TestTabsAndNativesTrainTogether: two tabs, a device in this program and one of the operating
// system train one model, from drawings among others. All have the same bits at the end. A tab that
// is loaded again goes on as the same device, with its drawings.
func TestTabsAndNativesTrainTogether(t *testing.T) {
	ctx := browser(t)
	s, out := opened(t, Options{Neighbors: 1, Rounds: 100_000}, theProgram(t))
	one := watched(t, ctx, s.host)
	second, cancel := chromedp.NewContext(ctx)
	defer cancel()
	two := watched(t, second, s.host)

	one.do(chromedp.Navigate("http://" + s.host))
	one.until("d.loss !== undefined")
	two.do(chromedp.Navigate("http://" + s.host))
	two.until("d.loss !== undefined")
	n := startZofl(t, "client", "--url", s.nats, "--run", s.run, "--id", "native", "--json")
	waitFor(t, &n.out, `"loss":`)
	if one.data("id") == two.data("id") {
		t.Fatalf("both tabs are %s", one.data("id"))
	}

	for _, p := range []*tab{one, two} {
		p.draw()
		p.until("d.guess !== undefined")
		p.label(1)
		p.until(`d.drawn === "1"`)
	}
	one.until("d.right > 0.4")

	id := two.data("id")
	two.do(chromedp.Reload())
	two.until("d.loss !== undefined")
	if two.data("id") != id || two.data("drawn") != "1" {
		t.Errorf("loaded again: %s with %s drawings, want %s with 1", two.data("id"),
			two.data("drawn"), id)
	}
	if state := two.kept(); !strings.Contains(state, "run/"+s.run+"/checkpoint") ||
		!strings.Contains(state, "drawing/000000") {
		t.Errorf("the browser keeps %s, want a checkpoint and a drawing", state)
	}

	s.lead.coordinator.End("the test is over")
	want := n.digest(t)
	for _, p := range []*tab{one, two} {
		p.until(`d.digest !== undefined`)
		if got := p.data("n") + " " + p.data("digest"); got != want {
			t.Errorf("%s has %s, want %s", p.data("id"), got, want)
		}
		p.draw() // the model is there still
		p.until(`d.guess === "1"`)
		p.fine()
	}
	record, digest := s.lead.neighbors[0].Digest()
	if got := fmt.Sprint(record, " ", hex.EncodeToString(digest[:])); got != want {
		t.Errorf("the neighbor has %s, want %s", got, want)
	}
	t.Log(one.text(), out.String())
}

// TestTabOfZoflServe: a tab trains in a run that zofl serve leads. When its connection breaks it
// makes another one and goes on. A tab that leaves says so, and its log has the tab's digest.
func TestTabOfZoflServe(t *testing.T) {
	ctx, p := browser(t), theProgram(t)
	dir := t.TempDir()
	plan, log := filepath.Join(dir, "plan.json"), filepath.Join(dir, "log")
	page, broker, web := freeport.Address(t), freeport.Address(t), freeport.Address(t)
	startZofl(t, "plan", "--run", "served", "--dim", fmt.Sprint(digits.Dim), "--write", plan,
		"--set", "members=1", "--set", "target=1", "--set", "quorum=1").end(t)
	lead := startZofl(t, "serve", plan, "--store", log, "--listen", broker, "--websocket", web,
		"--origin", "http://"+page, "--json")
	waitFor(t, &lead.out, `"event":"waiting"`)
	proxy := bustest.NewProxy(t, web)
	s, err := open(t.Context(), Options{Listen: page, Rounds: 1, Broker: "ws://" + proxy.Address(),
		Run: "served"}, p, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()

	one := watched(t, ctx, s.host)
	one.do(chromedp.Navigate("http://" + s.host))
	one.until("d.loss !== undefined")
	proxy.Break()
	one.until(`d.links === "2"`)
	one.until(fmt.Sprintf("d.round > %s", one.data("round")))
	one.value(`document.getElementById("leave").click()`) // a mouse misses what a line of text moves
	one.until(`d.state === "left"`)
	waitFor(t, &lead.out, `"event":"left"`)
	n, digest := one.data("n"), one.data("digest")
	one.fine()

	out := startZofl(t, "verify", "--url", "nats://"+broker, "--run", "served", "--at", n,
		"--json").end(t)
	if !strings.Contains(out, digest) {
		t.Errorf("the tab had %s after record %s, the log gives %s", digest, n, out)
	}
}
