//go:build !race

package dashboard

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var (
	update = flag.Bool("update", false, "write the screenshots of the documentation, docs/img")
	shots  = flag.String("shots", "", "directory for pictures of the page in all widths")
)

// widths are those of screens, from a phone's to a large one's.
var widths = []int64{390, 768, 1024, 1280, 1440, 1920}

// cut are the texts of which a reader does not see the end.
const cut = `[...document.querySelectorAll(["td, th button, dd, dt, h1, h2, h3, .runs span, .tag",
	"button, .badge, summary, .says, .legend span, .jump a, label"])].filter(e => e.offsetParent &&
	e.clientWidth > 1 && !e.closest(".hidden, .space") && !e.matches(".hidden") &&
	e.scrollWidth > e.clientWidth + 1).map(e => e.className + ": " + e.textContent).join("; ")`

// looks checks in all widths that the page does not scroll sideways and that no text is cut.
func (p *tab) looks(name string) {
	p.t.Helper()
	for _, width := range widths {
		p.do(chromedp.EmulateViewport(width, 900))
		p.until(fmt.Sprintf(`innerWidth === %d`, width))
		p.value(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`)
		got := p.value(`document.documentElement.scrollWidth`)
		if got != strconv.FormatInt(width, 10) {
			p.t.Errorf("on %d pixels the page is %s wide", width, got)
		}
		if text := p.value(cut); text != "" {
			p.t.Errorf("on %d pixels these texts are cut: %s", width, text)
		}
		for _, scheme := range []string{"light", "dark"} {
			if *shots != "" {
				p.scheme(scheme)
				p.whole(width)
				p.picture(filepath.Join(*shots, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)))
			}
		}
	}
	p.do(chromedp.EmulateViewport(1280, 900))
}

// whole makes the window as high as the page.
func (p *tab) whole(width int64) {
	p.t.Helper()
	height, err := strconv.ParseInt(p.value(`document.documentElement.scrollHeight`), 10, 64)
	if err != nil {
		p.t.Fatal(err)
	}
	p.do(chromedp.EmulateViewport(width, height))
	p.value(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`)
}

// headline checks that the tile has the loss of the last round as it was measured.
func (p *tab) headline() {
	p.t.Helper()
	p.value(`(async () => {
		const { number } = await import("./format.js");
		const { rounds } = await (await fetch("api/curves?run=kitchen")).json();
		window.measured = number(rounds.loss.at(-1));
	})()`)
	p.until(`[...document.querySelectorAll("#tiles dt")].find(e => e.textContent ===
		"Training loss").nextElementSibling.textContent === window.measured`)
}

// bothSeen checks that in the chart of participation the line of the contributors and that of the
// asked devices are both seen where they are the same: it looks for pixels of their colors.
func (p *tab) bothSeen() {
	p.t.Helper()
	p.scheme("light")
	p.until(`(() => {
		const canvas = [...document.querySelectorAll("#rounds .chart")].find(e => e.querySelector("h3").
			textContent === "Participation").querySelector("canvas");
		const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
		const has = (...color) => data.some((_, i) => i % 4 === 0 && data[i + 3] > 0 && color.every(
			(c, j) => Math.abs(data[i + j] - c) <= 3));
		return has(0x24, 0x60, 0xc4) && has(0x8a, 0x3f, 0xb5);
	})()`)
}

// spread checks that a large fleet is shown as histograms that count all devices.
func (p *tab) spread(devices int) {
	p.t.Helper()
	p.until(`!document.getElementById("spread").hidden &&
		document.querySelectorAll("#spread .uplot canvas").length === 3`)
	want := strconv.Itoa(devices)
	if devices >= 1000 {
		want = want[:len(want)-3] + "," + want[len(want)-3:]
	}
	got := p.value(`[...document.querySelectorAll("#spread .says")].map(
		e => e.textContent).join("; ")`)
	if strings.Count(got, want+" devices, median") < 2 { // not all have answered yet
		p.t.Errorf("the histograms of %d devices say %q", devices, got)
	}
}

// pastRun writes the history of a run that ended, beside the log of another.
func pastRun(t *testing.T, dir, name string, rounds int, tags ...string) {
	t.Helper()
	b := &bytes.Buffer{}
	at := time.Now().Add(-time.Hour).UTC()
	fmt.Fprintf(b, "{\"zofl_history\":1}\n"+
		"{\"mark\":{\"n\":1,\"time\":%q,\"kind\":\"tagged\",\"fields\":[\"%s\"]}}\n",
		at.Format(time.RFC3339), strings.Join(tags, `","`))
	for i := 1; i <= rounds; i++ {
		fmt.Fprintf(b, `{"point":{"n":%d,"round":%d,"time":%q,"loss":%g,"seconds":0.5,`+
			`"contributors":5,"asked":5,"step":0.3,"round_step":0.3,"perturbations":8`, i+1, i,
			at.Add(time.Duration(i)*time.Second).Format(time.RFC3339),
			0.5+1.8*math.Exp(-float64(i*len(tags))/120)+0.02*math.Sin(float64(i)*1.7))
		if i%20 == 0 && len(tags) == 1 {
			fmt.Fprintf(b, `,"evaluation":{"devices":5,"samples":50,"metrics":{"accuracy":%g}}`,
				0.8-0.6*math.Exp(-float64(i)/90))
		}
		if i%5 == 0 {
			fmt.Fprintf(b, `,"reported":{"temperature":{"median":%d,"min":%d,"max":%d,"reporters":5}}`,
				40+i%7, 30, 60+i%9)
		}
		b.WriteString("}}\n")
	}
	fmt.Fprintf(b, "{\"mark\":{\"n\":%d,\"time\":%q,\"kind\":\"ended\",\"text\":\"rounds\"}}\n",
		rounds+2, at.Add(time.Duration(rounds)*time.Second).Format(time.RFC3339))
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, name, "history.jsonl")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// overlays checks the list of runs: a chosen run is drawn over the own one, its tags are there and
// found, and the numbers of all chosen runs are in the CSV. The headline is what was measured, and
// the smoothed line is called by its weight.
func (p *tab) overlays() {
	p.t.Helper()
	p.until(`document.querySelectorAll("#runs-list li").length === 3`)
	legend := `[...document.querySelectorAll("#training .chart.wide .legend span")].filter(e =>
		!e.hidden).map(e => e.firstChild.nextSibling.data).join()`
	if got := p.value(legend); got != "raw,smoothed 0.6" {
		p.t.Errorf("the legend of one run is %q", got)
	}
	for _, run := range []string{"pantry", "cellar"} {
		p.click(`#runs-list input[data-run$="/` + run + `.log"]`)
		p.until(`(` + legend + `).includes("` + run + `")`)
	}
	if got := p.value(legend); got != "kitchen,pantry,cellar" {
		p.t.Errorf("the legend of three runs is %q", got)
	}
	p.do(chromedp.Evaluate[chromedp.Void](`window.files = []; URL.createObjectURL = b => {
		b.arrayBuffer().then(a => files.push(Array.from(new Uint8Array(a), c =>
			String.fromCharCode(c)).join(""))); return "#"; };
		HTMLAnchorElement.prototype.click = function () { window.file = this.download; }`))
	p.click(`#training .chart.wide .save`)
	p.until(`files.length === 1`)
	csv := p.value(`files[0]`)
	if !strings.HasPrefix(csv, "round,kitchen,\"kitchen, smoothed 0.6\",pantry,") ||
		!strings.Contains(csv, "\n400,") {
		p.t.Errorf("the CSV begins with %.200q", csv)
	}
	if got := p.value(`file`); got != "kitchen-training-loss.csv" {
		p.t.Errorf("the CSV is called %q", got)
	}
	p.click(`#training .chart.wide .save + .save`)
	p.until(`files.length === 2`)
	if _, err := png.Decode(strings.NewReader(latin1(p.value(`files[1]`)))); err != nil {
		p.t.Errorf("the picture of a chart: %v", err)
	}
	p.until(`document.querySelector("#tiles dd").textContent !== "" && new URLSearchParams(
		location.search).getAll("with").length === 2`)
}

// TestBrowse checks the page of `zofl dashboard`: it draws the runs of a directory, lists one that
// comes later, has no controls of a run, and fits all screens.
func TestBrowse(t *testing.T) {
	zofl, dir := built(t), t.TempDir()
	pastRun(t, dir, "pantry.log", 400, "step=0.3")
	pastRun(t, dir, "cellar.log", 250, "step=1", "no evaluation")
	s, err := Browse(t.Context(), zofl, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	p := browser(t, s.Page, 1280, 900)
	p.do(chromedp.Navigate(s.Page))
	p.until(`document.body.dataset.state === "browse" &&
		document.querySelectorAll("#runs-list input:checked").length === 2`)
	says := `document.querySelector("#training .says").textContent`
	p.until(says + `.startsWith("lowest 0.5")`)
	if got := p.value(says); !strings.Contains(got, ": cellar at round ") {
		t.Errorf("of two runs the chart says %q", got)
	}
	if got := p.value(`document.querySelector("#reported figcaption").textContent`); !strings.
		HasPrefix(got, "temperature") || !strings.Contains(got, "pantry") {
		t.Errorf("of what apps reported the page says %q", got)
	}
	for _, hidden := range []string{"#now", "#fleet-section", "#plan-section", "#pause"} {
		if p.value(`String(document.querySelector("`+hidden+`").offsetParent)`) != "null" {
			t.Errorf("without a run of its own the page shows %s", hidden)
		}
	}
	pastRun(t, dir, "attic.log", 30, "new")
	p.until(`document.querySelectorAll("#runs-list li").length === 3`)
	p.looks("browse")
	p.fine()
}

// latin1 returns the bytes that a text has as characters.
func latin1(text string) string {
	var b []byte
	for _, r := range text {
		b = append(b, byte(r))
	}
	return string(b)
}

// pictures compares the page with the documentation's pictures of it, or writes those. A browser
// draws letters in its own way, and losses differ: so the comparison sees only where something is.
func (p *tab) pictures() {
	p.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		p.scheme(scheme)
		p.until(`matchMedia("(prefers-color-scheme: ` + scheme + `)").matches`)
		p.do(chromedp.EmulateViewport(1280, 1500), chromedp.Evaluate[chromedp.Void](`scrollTo(0, 0)`))
		p.value(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))`)
		kept := filepath.Join("../../docs/img", "dashboard-"+scheme+".png")
		if *update {
			p.picture(kept)
			continue
		}
		file := filepath.Join(p.t.TempDir(), "now.png")
		p.picture(file)
		d := apart(p.t, file, kept)
		p.t.Logf("the page differs from %s by %.3f", kept, d)
		if d > 0.15 {
			p.t.Errorf("the page differs from %s by %.2f: look at it, and run this test with -update",
				kept, d)
		}
	}
}

// apart returns the share of a picture's blocks of which the other picture is lighter or darker.
func apart(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y, differ := grays(t, a), grays(t, b), 0
	if len(x) != len(y) {
		return 1
	}
	for i := range x {
		if math.Abs(x[i]-y[i]) > 0.02 {
			differ++
		}
	}
	return float64(differ) / float64(len(x))
}

// grays returns how light the blocks of a picture are.
func grays(t *testing.T, file string) (list []float64) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	const block = 20
	box := picture.Bounds()
	for y := box.Min.Y; y+block <= box.Max.Y; y += block {
		for x := box.Min.X; x+block <= box.Max.X; x += block {
			list = append(list, gray(picture, image.Rect(x, y, x+block, y+block)))
		}
	}
	return list
}

func gray(picture image.Image, box image.Rectangle) (sum float64) {
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			sum += float64(r+g+b) / 3 / 0xffff
		}
	}
	return sum / float64(box.Dx()*box.Dy())
}
