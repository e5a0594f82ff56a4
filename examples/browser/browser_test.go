package main

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
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
	n := startNative(t, s, "native")
	n.contributed(t)
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
		p.until(`d.state === "ended"`)
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
