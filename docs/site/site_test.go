package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// root is the repository.
const root = "../.."

// built is the site of the repository.
func built(t *testing.T) site {
	t.Helper()
	s, err := build(os.DirFS(root), sections)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSite checks that every page is rendered, with its place in the navigation and with colored
// code blocks. Every link and anchor must have a target, and no page may load anything from
// elsewhere.
func TestSite(t *testing.T) {
	s := built(t)
	for _, fault := range s.faults() {
		t.Error(fault)
	}
	for _, part := range sections {
		for _, e := range part.Pages {
			b := string(s[address(e.File)])
			for _, want := range []string{"Content-Security-Policy", "default-src 'none'", "<h1 id=",
				`aria-current="page">` + e.Name + `</a>`} {
				if !strings.Contains(b, want) {
					t.Errorf("%s has no %s", address(e.File), want)
				}
			}
			source, err := os.ReadFile(filepath.Join(root, e.File))
			if err != nil {
				t.Fatal(err)
			}
			blocks := bytes.Count(source, []byte("\n```")) / 2
			if got := strings.Count(b, `class="chroma"`); got < blocks {
				t.Errorf("%s has %d blocks of code, %s has %d", address(e.File), got, e.File, blocks)
			}
		}
	}
	if n := len(s); n < 40 {
		t.Errorf("%d files, want all pages, pictures and what they share", n)
	}
}

// TestSame checks that the same pages make the same bytes.
func TestSame(t *testing.T) {
	one, two := built(t), built(t)
	if !maps.EqualFunc(one, two, bytes.Equal) {
		t.Error("a second build differs")
	}
}

// small is a repository of two pages.
func small() fstest.MapFS {
	return fstest.MapFS{
		"docs/README.md": {Data: []byte("# Home\n\n[to](page.md#the-part) [code](../wire/plan.go) " +
			"[folder](../wire)\n\n## Part\n\n## Part\n")},
		"docs/page.md": {Data: []byte("# Page\n\n## The `part`!\n\n| a |\n|--:|\n| 1 |\n\n" +
			"```sh\nls # what\n```\n\n<img src=\"img/a.svg\" alt=\"a\">\n")},
		"docs/img/a.svg": {Data: []byte("<svg/>")},
		"wire/plan.go":   {Data: []byte("package wire\n")},
	}
}

var smallSections = []section{{"All", []entry{
	{"docs/README.md", "Home"}, {"docs/page.md", "Page"},
}}}

func TestRender(t *testing.T) {
	s, err := build(small(), smallSections)
	if err != nil {
		t.Fatal(err)
	}
	if faults := s.faults(); len(faults) > 0 {
		t.Errorf("faults %q, want none", faults)
	}
	home, page := string(s["index.html"]), string(s["page.html"])
	for text, in := range map[string]string{
		`<a href="page.html#the-part">to</a>`:                     home,
		`<a href="` + repository + `blob/main/wire/plan.go">code`: home,
		`<a href="` + repository + `tree/main/wire">folder`:       home,
		`<h2 id="part-1">`:                        home,
		`<h2 id="the-part">`:                      page,
		`<td align="right">1</td>`:                page,
		`<span class="c1"># what`:                 page,
		`<img src="img-a.svg" alt="a">`:           page,
		`<li class="level2"><a href="#the-part">`: page,
	} {
		if !strings.Contains(in, text) {
			t.Errorf("no %s in\n%s", text, in)
		}
	}
	if string(s["img-a.svg"]) != "<svg/>" || !strings.Contains(string(s["words.js"]), `"the-part"`) {
		t.Errorf("the picture or the words are missing: %s", s["words.js"])
	}
}

// TestRefused checks that a page that would mislead a reader is an error of the build, or a fault.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"docs/page.md", "# Page\n\n[there](nowhere.md)\n", "link nowhere.md"},
		{"docs/page.md", "# Page\n\n<img src=\"b.svg\">\n", "picture b.svg"},
		{"docs/more.md", "# More\n", "docs/more.md is no page of the site"},
		{"docs/page.md", "# Page\n\n[there](#b)\n\n## The part\n", "page.html has no heading #b"},
		{"docs/page.md", "# Page\n", "page.html has no heading #the-part"},
		{"docs/page.md", "# Page\n\n## The part\n\n<p style=\"color: red\">\n", "<p style=...>"},
		{"docs/page.md", "# Page\n\n## The part\n\n<p onclick=\"f()\">\n", "<p onclick=...>"},
		{"docs/page.md", "# Page\n\n## The part\n\n<script>f()</script>\n", "a <script> within"},
		{"docs/page.md", "# Page\n\n## The part\n\n<link href=\"https://a.b/c.css\">\n",
			"loads https://a.b/c.css"},
	} {
		files := small()
		files[c.file] = &fstest.MapFile{Data: []byte(c.text)}
		s, err := build(files, smallSections)
		got := strings.Join(s.faults(), "\n")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	twice := []section{{"All", append(slices.Clone(smallSections[0].Pages),
		entry{"docs/README.md", "Again"})}}
	if _, err := build(small(), twice); err == nil || !strings.Contains(err.Error(), "both become") {
		t.Errorf("a page twice: %v", err)
	}
}

// TestWrite checks that write replaces an existing site, and no other files.
func TestWrite(t *testing.T) {
	s, err := build(small(), smallSections)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	if err := (site{"gone.html": nil, "words.js": nil}).write(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.write(dir); err != nil {
		t.Fatal(err)
	}
	there, err := os.ReadDir(dir)
	if err != nil || len(there) != len(s) {
		t.Errorf("%d files, want %d: %v", len(there), len(s), err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "a.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.write(other); err == nil {
		t.Error("a directory of other files was taken")
	}
}
