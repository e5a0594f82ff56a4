package main

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience limits how long a test waits; a test that passes does not wait that long.
const patience = 2 * time.Minute

// browser starts Chromium, headless, and returns the context of its first tab.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := os.Getenv("ZOFL_CHROMIUM")
	if path == "" {
		t.Skip("ZOFL_CHROMIUM is not set: give it the name of a Chromium, such as chromium")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.NoSandbox, // for root, in containers
		chromedp.WSURLReadTimeout(patience), chromedp.Flag("disable-gpu", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
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

	mu    sync.Mutex // guards the rest
	wrong []string   // requests elsewhere, exceptions, errors of the console
}

// watched returns the tab of a context that shows files of a directory.
func watched(t *testing.T, ctx context.Context, dir string) *tab {
	t.Helper()
	p := &tab{t: t, ctx: ctx}
	err := chromedp.Listen(ctx, func(event any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if url := e.Request.URL; !strings.HasPrefix(url, "file://"+dir+"/") &&
				!strings.HasPrefix(url, "data:") { // within the page
				p.wrong = append(p.wrong, "a request for "+e.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			p.wrong = append(p.wrong, e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			p.wrong = append(p.wrong, e.Entry.Text)
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
		p.t.Fatal(err)
	}
}

// value returns the value of a JavaScript expression as text.
func (p *tab) value(expression string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return text
}

// themed sets the theme of all pages shown later.
func (p *tab) themed(theme string) {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
	}); err != nil {
		p.t.Fatal(err)
	}
}

// faults returns the errors since the last call of faults.
func (p *tab) faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.wrong = nil }()
	return p.wrong
}

// looks is a script that returns what is wrong with how a page looks: it is wider than the screen,
// or a text has a contrast below 4.5 to what is behind it (WCAG 2, AA).
//
//go:embed testdata/looks.js
var looks string

// stored writes a site to a directory.
func stored(t *testing.T, s site) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = s.write(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestLooks checks every page, in both themes, on the screens of a phone and of a desktop. A page
// must load from a disk without errors and without requests elsewhere, must not be wider than the
// screen, and must be readable. With ZOFL_SHOTS=DIR the test writes pictures of the pages to DIR.
func TestLooks(t *testing.T) {
	ctx, s := browser(t), built(t)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if filepath.Ext(name) == ".html" {
			names = append(names, name)
		}
	}
	dir := stored(t, s)
	watched(t, ctx, dir).look(dir, names)
}

// look checks pages of a directory in the browser.
func (p *tab) look(dir string, names []string) {
	p.t.Helper()
	shots := os.Getenv("ZOFL_SHOTS")
	for _, theme := range []string{"light", "dark"} {
		p.themed(theme)
		for _, size := range [][2]int64{{390, 844}, {1400, 1000}} {
			p.do(chromedp.EmulateViewport(size[0], size[1]))
			for _, name := range names {
				what := fmt.Sprintf("%s-%s-%d", strings.TrimSuffix(name, ".html"), theme, size[0])
				p.do(chromedp.Navigate("file://" + filepath.Join(dir, name)))
				faults := p.value(looks)
				if more := p.faults(); faults != "" || len(more) > 0 {
					p.t.Errorf("%s: %s %q", what, faults, more)
				}
				if shots != "" {
					p.shot(filepath.Join(shots, what+".png"))
				}
			}
		}
	}
}

// shot stores a picture of the visible part of the page.
func (p *tab) shot(name string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	b, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(name, b, 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// TestSearch checks that a search finds the section that has the words, and opens its page at that
// section.
func TestSearch(t *testing.T) {
	ctx, s := browser(t), built(t)
	dir := stored(t, s)
	p := watched(t, ctx, dir)
	p.do(chromedp.Navigate("file://"+filepath.Join(dir, "index.html")),
		chromedp.SendKeys(chromedp.CSS("#search"), "normalized momentum"),
		chromedp.Poll[chromedp.Void](`document.querySelector("#found a") !== null`,
			chromedp.WithPollingTimeout(patience)))
	if got := p.value(`document.querySelector("#found a").getAttribute("href")`); got !=
		"methods.html#normalized-momentum" {
		t.Errorf("the first find is %s", got)
	}
	p.do(chromedp.SendKeys(chromedp.CSS("#search"), "\r"),
		chromedp.WaitReady(chromedp.CSS("#normalized-momentum")))
	if got := p.value(`location.hash`); got != "#normalized-momentum" {
		t.Errorf("the page opens at %s", got)
	}
	if faults := p.faults(); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}

// TestSearchFinds checks that what people type finds its page among the first three: words of the
// field, in other forms, with a typing error.
func TestSearchFinds(t *testing.T) {
	ctx, s := browser(t), built(t)
	dir := stored(t, s)
	p := watched(t, ctx, dir)
	p.do(chromedp.Navigate("file://"+filepath.Join(dir, "index.html")),
		chromedp.SendKeys(chromedp.CSS("#search"), "tls"),
		chromedp.Poll[chromedp.Void](`document.querySelector("#found a") !== null`,
			chromedp.WithPollingTimeout(patience)))
	missed := 0
	for query := range strings.Lines(queries) {
		asks, want, _ := strings.Cut(strings.TrimSpace(query), ": ")
		got := p.value(fmt.Sprintf(`(() => {
			const box = document.getElementById("search");
			box.value = %q;
			box.dispatchEvent(new Event("input"));
			return [...document.querySelectorAll("#found a")].slice(0, 3)
				.map(a => a.getAttribute("href")).join(" ");
		})()`, asks))
		if !slices.ContainsFunc(strings.Fields(want), func(page string) bool {
			return strings.Contains(got, page)
		}) {
			t.Logf("%q finds %s, want %s", asks, got, want)
			missed++
		}
	}
	if missed > 0 {
		t.Errorf("%d queries miss their page", missed)
	}
	if faults := p.faults(); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
}

//go:embed testdata/queries.txt
var queries string
