package dashboard

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"
)

// A theme has the colors of the page's style by name.
type theme map[string]string

// themes reads the light and the two dark forms of the theme.
func themes(t *testing.T) []theme {
	t.Helper()
	b, err := page.ReadFile("page/style.css")
	if err != nil {
		t.Fatal(err)
	}
	var list []theme
	for _, block := range regexp.MustCompile(`(?s):root[^{]*\{(.*?)\}`).FindAllSubmatch(b, 3) {
		th := theme{}
		for _, m := range regexp.MustCompile(`(--[\w-]+): (#[0-9a-f]{6})`).FindAllSubmatch(block[1], -1) {
			th[string(m[1])] = string(m[2])
		}
		list = append(list, th)
	}
	if len(list) != 3 || fmt.Sprint(list[1]) != fmt.Sprint(list[2]) {
		t.Fatalf("%d themes, or two dark forms that differ", len(list))
	}
	return list
}

// rgb returns a color's parts, linear in light.
func rgb(color string) (c [3]float64) {
	for i := range c {
		v, _ := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		c[i] = math.Pow((float64(v)/255+0.055)/1.055, 2.4)
		if v < 11 {
			c[i] = float64(v) / 255 / 12.92
		}
	}
	return c
}

// contrast is that of WCAG, from 1 to 21.
func contrast(a, b string) float64 {
	light := func(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] + 0.05 }
	x, y := light(rgb(a)), light(rgb(b))
	return max(x, y) / min(x, y)
}

// Text has the contrast of WCAG's level AA on every ground on which the page writes it, and lines
// of charts have that of graphics.
func TestContrast(t *testing.T) {
	grounds := map[string][]string{
		"--text": {"--ground", "--card", "--soft"}, "--muted": {"--ground", "--card", "--soft"},
		"--accent": {"--card", "--soft"}, "--on-accent": {"--accent"}, "--card": {"--bad"},
		"--good": {"--good-soft", "--card"}, "--warn": {"--warn-soft", "--card"},
		"--bad": {"--bad-soft", "--card"},
	}
	for i, th := range themes(t) {
		for text, on := range grounds {
			for _, ground := range on {
				if c := contrast(th[text], th[ground]); c < 4.5 {
					t.Errorf("theme %d: %s on %s has %.2f, want 4.5", i, text, ground, c)
				}
			}
		}
		for name, color := range th {
			line := regexp.MustCompile(`^--(run|series)-\d`).MatchString(name)
			if c := contrast(color, th["--card"]); line && c < 3 {
				t.Errorf("theme %d: %s on --card has %.2f, want 3", i, name, c)
			}
		}
	}
}

// sights are how people see the linear parts of colors: all three kinds of cones, or without one
// (Machado, Oliveira and Fernandes, 2009).
var sights = map[string][3][3]float64{
	"all": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia": {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216},
		{-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413},
		{-0.011820, 0.042940, 0.968881}},
	"tritanopia": {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602},
		{0.004733, 0.691367, 0.303900}},
}

// seen returns a color in CIELAB, as somebody sees it.
func seen(color string, sight [3][3]float64) (lab [3]float64) {
	c, v := rgb(color), [3]float64{}
	for i, row := range sight {
		v[i] = min(1, max(0, row[0]*c[0]+row[1]*c[1]+row[2]*c[2]))
	}
	f := func(a, b, c, white float64) float64 {
		x := (a*v[0] + b*v[1] + c*v[2]) / white
		if x > 0.008856 {
			return math.Cbrt(x)
		}
		return 7.787*x + 16.0/116
	}
	x, y := f(0.4124, 0.3576, 0.1805, 0.9505), f(0.2126, 0.7152, 0.0722, 1)
	z := f(0.0193, 0.1192, 0.9505, 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// People of all color vision can tell the lines of runs: they differ by 20 units of CIELAB or more,
// ten times what a person can just see.
func TestColorsOfRuns(t *testing.T) {
	for i, th := range themes(t) {
		for name, sight := range sights {
			for a := 1; th[fmt.Sprintf("--run-%d", a)] != ""; a++ {
				for b := 1; b < a; b++ {
					x := seen(th[fmt.Sprintf("--run-%d", a)], sight)
					y := seen(th[fmt.Sprintf("--run-%d", b)], sight)
					if d := math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2]); d < 20 {
						t.Errorf("theme %d, %s: runs %d and %d differ by %.1f", i, name, a, b, d)
					}
				}
			}
		}
		if th["--run-6"] == "" {
			t.Errorf("theme %d has not six colors of runs", i)
		}
	}
}
