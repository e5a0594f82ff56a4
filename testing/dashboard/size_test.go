//go:build !race

package dashboard

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/zofl/zofl/testing/fleet/crowd"
)

// The size of the run of TestSize. The figures in docs/dashboard.md are for 10,000 devices and
// 10,000 rounds.
var (
	sizeDevices = flag.Int("devices", 10_000, "simulated devices")
	sizeRounds  = flag.Uint64("rounds", 300, "rounds before the page is opened")
	sizeQuiet   = flag.Duration("quiet", 0, "how long to measure a quiet run; 0: not")
)

// mostMemory is what serve may take with 10,000 devices and 10,000 rounds, in bytes.
const mostMemory = 300e6

// TestSize checks that with thousands of devices the document has only the visible rows, and that
// serve needs little memory. With -v the test prints how soon the browser painted the page, how
// smoothly the page scrolls, and what a quiet run costs.
func TestSize(t *testing.T) {
	plan, err := Plan(*sizeDevices, 20, 0)
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
	began := time.Now()
	p.within(20*time.Minute, fmt.Sprintf("document.body.dataset.round >= %d", *sizeRounds))
	fleet.Think(10 * time.Second)
	t.Logf("%d rounds of %d devices in %v", *sizeRounds, *sizeDevices,
		time.Since(began).Round(time.Second))

	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.Page))
	p.until(`document.body.dataset.painted !== undefined &&
		document.querySelector("#fleet .dot[data-kind]")`)
	t.Logf("first paint with data after %s ms; %s rounds on the page",
		p.value(`document.body.dataset.painted`), p.value(`document.body.dataset.points`))

	p.spread(*sizeDevices)
	p.looks(strconv.Itoa(*sizeDevices))
	before := p.worked()
	frames := strings.Fields(p.value(scrolling))
	worked := p.worked() - before
	if rows := number(t, frames[0]); rows < 10 || rows > 100 {
		t.Errorf("%v rows are in the document, want those in sight and a few more", frames)
	}
	t.Logf("%s rows at most; %s frames a second, the longest took %s ms; scripts, styles and layout "+
		"took %.1f ms of each", frames[0], frames[1], frames[2], 1000*worked/number(t, frames[3]))
	p.until(fmt.Sprintf(`(row => row.getAttribute("aria-rowindex") === "%d" &&
		row.textContent.startsWith("device-"))(
		document.querySelector("#fleet tbody tr:nth-last-child(2)"))`,
		*sizeDevices+1))

	if *sizeQuiet > 0 {
		t.Logf("a quiet run, one page open: %.2f %% of a core", 100*share(t, s.PID, *sizeQuiet))
	}
	used := memory(t, s.PID, "VmHWM")
	t.Logf("serve: %.0f MB at most, %.0f MB now", used/1e6, memory(t, s.PID, "VmRSS")/1e6)
	if used > mostMemory {
		t.Errorf("serve took %.0f MB, want at most %.0f", used/1e6, mostMemory/1e6)
	}
	p.fine()
}

// scrolling scrolls the table to its end in three seconds. It returns the most rows in the
// document, frames a second, the longest time between two, in ms, and the frames.
const scrolling = `new Promise(done => {
	const box = document.getElementById("fleet"), began = performance.now();
	box.scrollIntoView();
	let frames = 0, rows = 0, last = began, longest = 0;
	const step = now => {
		frames++;
		longest = Math.max(longest, now - last);
		last = now;
		const part = Math.min(1, (now - began) / 3000);
		box.scrollTop = part * (box.scrollHeight - box.clientHeight);
		rows = Math.max(rows, box.querySelectorAll("tbody tr").length);
		if (part < 1) requestAnimationFrame(step);
		else done([rows, Math.round(1000 * frames / (now - began)), Math.round(longest), frames]
			.join(" "));
	};
	requestAnimationFrame(step);
})`

// share returns the share of a processor core that a process uses during a time.
func share(t *testing.T, pid int, d time.Duration) float64 {
	t.Helper()
	ticks := func() float64 {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Skip(err)
		}
		_, after, _ := strings.Cut(string(b), ") ")
		fields := strings.Fields(after)
		return number(t, fields[11]) + number(t, fields[12]) // user and system
	}
	before := ticks()
	timer := time.NewTimer(d) // what is measured is a time, not waited for
	<-timer.C
	return (ticks() - before) / 100 / d.Seconds()
}

// memory is a line of a process's status, in bytes.
func memory(t *testing.T, pid int, name string) float64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip(err) // no Linux
	}
	for line := range strings.Lines(string(b)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name+":" {
			return 1024 * number(t, fields[1])
		}
	}
	t.Fatalf("%s is not in %s", name, b)
	return 0
}

// number reads a number.
func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
