package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser starts Chromium, headless, and returns the context of its first tab.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := os.Getenv("ZOFL_CHROMIUM")
	if path == "" {
		t.Skip("ZOFL_CHROMIUM is not set: give it the name of a Chromium, such as chromium")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.NoSandbox, // for root, in containers
		chromedp.WSURLReadTimeout(patience),
		// Tabs that are not seen are slowed down, as in anybody's browser.
		chromedp.Flag("disable-background-timer-throttling", false),
		chromedp.Flag("disable-backgrounding-occluded-windows", false),
		chromedp.Flag("disable-renderer-backgrounding", false))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// A tab is a page in a browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu      sync.Mutex // guards the rest
	foreign []string   // what the page asked others for
	wrong   []string   // exceptions
}

// watched is the tab of a context, whose requests and errors are noted.
func watched(t *testing.T, ctx context.Context, host string) *tab {
	t.Helper()
	p := &tab{t: t, ctx: ctx}
	err := chromedp.Listen(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, "http://"+host+"/") {
				p.foreign = append(p.foreign, e.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			p.wrong = append(p.wrong, e.ExceptionDetails.Text)
		}
	})
	if err == nil {
		_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// do runs actions.
func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatalf("%v: %s", err, p.text())
	}
}

// value returns what an expression has, as text.
func (p *tab) value(expression string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](
		"Promise.resolve("+expression+").then(String)", chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return text
}

// data returns one of the body's data.
func (p *tab) data(name string) string {
	p.t.Helper()
	return p.value("document.body.dataset." + name)
}

// text is what the page says.
func (p *tab) text() string {
	p.t.Helper()
	return p.value("JSON.stringify(document.body.dataset) + document.body.innerText")
}

// until waits until an expression of the body's data d is true.
func (p *tab) until(expression string) {
	p.t.Helper()
	p.do(chromedp.Poll[chromedp.Void]("(d => "+expression+")(document.body.dataset)",
		chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(patience)))
}

// draw draws a one with the mouse, in the tab that is seen.
func (p *tab) draw() {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, page.BringToFront, cdp.Empty{}); err != nil {
		p.t.Fatal(err)
	}
	p.do(chromedp.ScrollIntoView(chromedp.CSS("#paper")))
	var x, y float64
	place := p.value(
		`(b => b.x + " " + b.y)(document.getElementById("paper").getBoundingClientRect())`)
	if _, err := fmt.Sscan(place, &x, &y); err != nil {
		p.t.Fatalf("%s: %v", place, err)
	}
	p.do(chromedp.DragAndDropXY(x+150, y+60, x+130, y+220))
}

// label says which digit is drawn.
func (p *tab) label(digit int) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS(fmt.Sprintf("#labels button:nth-child(%d)", digit+1))))
}

// fine checks that the page asked nobody else for anything, and nothing was thrown.
func (p *tab) fine() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.foreign) > 0 || len(p.wrong) > 0 {
		p.t.Errorf("requests elsewhere: %q; exceptions: %q", p.foreign, p.wrong)
	}
}

// kept returns the names of what the tab has in IndexedDB.
func (p *tab) kept() string {
	p.t.Helper()
	return p.value(`new Promise((resolve, reject) => {
		const open = indexedDB.open("device-" + sessionStorage.getItem("device"));
		open.onerror = reject;
		open.onsuccess = () => {
			const all = open.result.transaction("items").objectStore("items").getAllKeys();
			all.onsuccess = () => { open.result.close(); resolve(all.result.join(" ")); };
		};
	})`)
}
