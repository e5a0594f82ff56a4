package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func sample() *Chart {
	return &Chart{Title: "A <title>", X: "round", Y: "loss", Lines: []Line{
		{Name: "raw", Faint: true, Points: []Point{{1, 2}, {2, 1.9}, {3, 1.5}}},
		{Name: "smooth", Points: []Point{{1, 2}, {3, 1.6}}},
		{Name: "other", Points: []Point{{1, 1}}, Marks: []Mark{{Point{2, 1.2}, "here"}},
			Ranges: []Range{{1, 1.1, 1.8}}},
	}, Rules: []Mark{{Point{X: 2}, "paused"}, {Point{X: 99}, "beyond"}},
		Failed: []Mark{{Point{X: 3}, "diverged"}}}
}

// TestPictures: both pictures are well-formed; a file has its style, title and legend, and the
// picture of a page leaves them to the page.
func TestPictures(t *testing.T) {
	c := sample()
	file, err := c.File()
	if err != nil {
		t.Fatal(err)
	}
	inline, err := c.Inline()
	if err != nil {
		t.Fatal(err)
	}
	for text, own := range map[string]bool{"<style>": true,
		`class="range"`: false, ">A &lt;title&gt;</text>": true,
		">smooth</text>": true, "prefers-color-scheme: dark": true, `class="c0 faint"`: false,
		`class="c1"`: false, "<title>paused</title>": false, "<title>here, 1.2</title>": false,
		"<title>diverged</title>": false} {
		if !strings.Contains(string(file), text) || strings.Contains(string(inline), text) == own {
			t.Errorf("%s: in the file %v, in the page %v", text, strings.Contains(string(file), text),
				strings.Contains(string(inline), text))
		}
	}
	for _, picture := range []string{string(file), string(inline)} {
		if strings.Contains(picture, "beyond") || strings.Contains(picture, "style=") {
			t.Errorf("what is beyond the axis, or a style within:\n%s", picture)
		}
		d := xml.NewDecoder(strings.NewReader(picture))
		for err = nil; err == nil; _, err = d.Token() {
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%v:\n%s", err, picture)
		}
	}
	if c.Key(0) != "c0" || c.Key(1) != "c0" || c.Key(2) != "c1" {
		t.Errorf("keys %s %s %s, want c0 c0 c1", c.Key(0), c.Key(1), c.Key(2))
	}
}

// TestNoPlace: what has no place on an axis is left out, and a curve of one point is a mark.
func TestNoPlace(t *testing.T) {
	var l, one Line
	for _, p := range []Point{{0, 3}, {1, math.Inf(1)}, {2, math.NaN()}, {3, 0}} {
		l.Add(p.X, p.Y)
	}
	one.Add(10, 5)
	b, err := (&Chart{LogX: true, LogY: true, Lines: []Line{l, one}}).File()
	if text := string(b); err != nil || strings.Contains(text, "NaN") ||
		strings.Contains(text, "Inf") || strings.Count(text, "<circle") != 1 {
		t.Errorf("%v: %s", err, text)
	}
}

// TestLegend: a picture is as high as the names of its lines.
func TestLegend(t *testing.T) {
	c := &Chart{}
	for range mostNames + 5 {
		c.Lines = append(c.Lines, Line{Name: "line"})
	}
	b, err := c.File()
	if n := strings.Count(string(b), ">line<"); err != nil || n != mostNames {
		t.Errorf("%d names, %v; want %d", n, err, mostNames)
	}
	if !strings.Contains(string(b), `height="1100"`) {
		t.Errorf("a picture of %d names is %.80s", mostNames, b)
	}
}

// TestEmpty: a chart of nothing has axes, and no number that is none.
func TestEmpty(t *testing.T) {
	b, err := (&Chart{}).File()
	if err != nil || strings.Contains(string(b), "NaN") || strings.Contains(string(b), "Inf") {
		t.Errorf("%v: %s", err, b)
	}
}

func TestScale(t *testing.T) {
	s := newScale([]float64{0, 10}, false, 100, 300)
	if low, high := s.at(0), s.at(10); !(low > 100 && low < 120 && high > 280 && high < 300) {
		t.Errorf("0 at %v, 10 at %v", low, high)
	}
	log := newScale([]float64{1, 10, 100}, true, 0, 100)
	if got := log.at(10); math.Abs(got-50) > 0.2 {
		t.Errorf("10 of 1 to 100 at %v, want the middle", got)
	}
	if got := Spread([]float64{1, 30}); got != 30 {
		t.Errorf("spread %v, want 30", got)
	}
	if got := Spread([]float64{0, 30}); got != 0 {
		t.Errorf("spread from 0 %v, want 0", got)
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0.25: "0.25", 9999: "9999", 10_000: "10k", -35_000: "-35k",
		2.5e6: "2.5M", 3e9: "3G", 1e12: "1e+12"} {
		if got := short(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}
