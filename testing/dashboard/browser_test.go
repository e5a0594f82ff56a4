//go:build !race

package dashboard

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience limits how long a test waits; a test that passes does not wait that long.
const patience = 5 * time.Minute

// A tab is a page in a browser. The tab records the page's requests and errors.
type tab struct {
	t    *testing.T
	ctx  context.Context
	home string

	mu      sync.Mutex // guards the rest
	foreign []string   // requests of the page to other servers
	wrong   []string   // exceptions, violations of the policy, failed loads
}

// browser starts Chromium, headless, with a profile of its own, and returns its first tab.
func browser(t *testing.T, home string, width, height int64) *tab {
	t.Helper()
	path := os.Getenv("ZOFL_CHROMIUM")
	if path == "" {
		t.Skip("ZOFL_CHROMIUM is not set: give it the name of a Chromium, such as chromium")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.NoSandbox, // for root, in containers
		chromedp.WSURLReadTimeout(patience), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); cancel() })
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	p := &tab{t: t, ctx: ctx, home: home}
	err := chromedp.Listen(ctx, p.note)
	if err == nil {
		_, err = chromedp.Call(ctx, network.Enable, network.EnableParams{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, log.Enable, struct{}{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, performance.Enable, performance.EnableParams{})
	}
	if err != nil {
		t.Fatal(err)
	}
	p.do(chromedp.EmulateViewport(width, height))
	return p
}

// note records what a page must not do.
func (p *tab) note(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, p.home) && !strings.HasPrefix(e.Request.URL, "data:") {
			p.foreign = append(p.foreign, e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		p.wrong = append(p.wrong, e.ExceptionDetails.Text+" "+fmt.Sprint(e.ExceptionDetails.Exception))
	case *log.EventEntryAdded:
		// A wrong token is answered with 401, which the browser reports.
		if !strings.Contains(e.Entry.Text, "status of 401") {
			p.wrong = append(p.wrong, e.Entry.Text)
		}
	}
}

// fine checks that the page sent requests to no other server, and that the page had no errors.
func (p *tab) fine() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.foreign) > 0 || len(p.wrong) > 0 {
		p.t.Errorf("requests elsewhere: %q; wrong: %q", p.foreign, p.wrong)
	}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	p.doWithin(patience, actions...)
}

func (p *tab) doWithin(limit time.Duration, actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, limit)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatalf("%v: %s", err, p.value("document.body.innerText"))
	}
}

// value returns the value of a JavaScript expression as text.
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

// until waits until an expression is true.
func (p *tab) until(expression string) {
	p.t.Helper()
	p.within(patience, expression)
}

func (p *tab) within(limit time.Duration, expression string) {
	p.t.Helper()
	p.doWithin(limit, chromedp.Poll[chromedp.Void](expression,
		chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(limit)))
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

func (p *tab) enter(selector, text string) {
	p.t.Helper()
	p.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// worked returns for how many seconds the page's scripts, styles and layout have been busy.
func (p *tab) worked() (seconds float64) {
	p.t.Helper()
	answer, err := chromedp.Call(p.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, m := range answer.Metrics {
		switch m.Name {
		case "ScriptDuration", "LayoutDuration", "RecalcStyleDuration":
			seconds += m.Value
		}
	}
	return seconds
}

// scheme makes the system's colors light or dark.
func (p *tab) scheme(name string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
	if err != nil {
		p.t.Fatal(err)
	}
}

// picture writes a picture of the visible part of the page to a file.
func (p *tab) picture(file string) {
	p.t.Helper()
	b, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(file, b, 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
