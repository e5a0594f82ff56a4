package docs

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// pages are all Markdown files of the repository.
func pages(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != root && strings.ContainsAny(d.Name()[:1], "._"):
			return filepath.SkipDir // git's, and what builds leave
		case filepath.Ext(name) == ".md":
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 12 {
		t.Fatalf("only %d pages: %v", len(names), names)
	}
	return names
}

// TestPages checks that every page has only blocks that some check knows, lines of at most 100
// columns, and links with targets, and that the README is short.
func TestPages(t *testing.T) {
	for _, name := range pages(t) {
		page, err := Read(name)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, fault := range page.Faults() {
			t.Error(fault)
		}
		if n := len(page.Lines); name == filepath.Join(root, "README.md") && n > 130 {
			t.Errorf("%s has %d lines, want at most 130: move some to docs", name, n)
		}
	}
}

// TestFaults makes every fault once, and checks that Faults finds it.
func TestFaults(t *testing.T) {
	const good = "# A page\n\n```sh\nzofl demo\n```\n\n[here](#a-page) `[]byte(x)`\n"
	for _, c := range []struct{ text, want string }{
		{good, ""},
		{good + "```yaml\na: 1\n```\n", `a block of kind "yaml"`},
		{good + "```\na\n```\n", `a block of kind ""`},
		{good + "\tgo run .\n", "a block without fences"},
		{good + "    go run .\n", "a block without fences"},
		{good + "10. an item\n    goes on\n", ""},
		{good + strings.Repeat("long ", 21) + "\n", "105 columns"},
		{good + "[there](nowhere.md)\n", "link nowhere.md"},
		{good + "[there](#b-page)\n", "no heading #b-page"},
		{good + "[there](page.md#b)\n", "no heading #b"},
		{good + "<img src=\"a.svg\">\n", "link a.svg"},
	} {
		name := filepath.Join(t.TempDir(), "page.md")
		if err := os.WriteFile(name, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		page, err := Read(name)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(page.Faults(), "\n")
		one := got != "" && !strings.Contains(got, "\n")
		if one != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%q: got faults %q, want %q", c.text, got, c.want)
		}
	}
	if _, err := Read("none.md"); err == nil {
		t.Error("a page that is not there was read")
	}
}

// build builds zofl once for all tests of this package.
var build = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "zofl-docs-"); err != nil {
		return "", err
	}
	made = dir
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "zofl"), ".")
	cmd.Dir = filepath.Join(root, "coordinator/zofl")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as the checks build everything else
	out, err := cmd.CombinedOutput()
	os.Stderr.Write(out)
	return filepath.Join(dir, "zofl"), err
})

var made string // the folder of the program, once there is one

// built returns the program's path. The tests that use the program are the long tests of this
// package. They need not run with the race detector, which finds nothing in processes built without
// it.
func built(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("runs processes: without -short")
	}
	zofl, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return zofl
}

func TestMain(m *testing.M) {
	code := m.Run()
	if made != "" {
		os.RemoveAll(made)
	}
	os.Exit(code)
}

// TestExamples runs the shell and Go blocks of the README and the pages in docs, block after block.
// testing/mobile runs the Kotlin blocks. The tests named in this function run the pages of examples
// and of testing. testing/scaling runs scaling.md.
func TestExamples(t *testing.T) {
	t.Parallel()
	zofl := built(t)
	ran := 0
	for _, name := range pages(t) {
		dir := filepath.Dir(name)
		if dir != root && dir != filepath.Join(root, "docs") || filepath.Base(name) == "scaling.md" {
			continue
		}
		page, err := Read(name)
		if err != nil {
			t.Fatal(err)
		}
		blocks := page.runnable()
		ran += len(blocks)
		if len(blocks) == 0 {
			continue
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			s := begin(t, zofl)
			for _, b := range blocks {
				if b.Kind == "sh" {
					s.typed(b)
				} else {
					defer s.programmed(b)()
				}
			}
		})
	}
	if ran < 10 {
		t.Errorf("ran %d blocks, want more: are the pages here?", ran)
	}
}

// runnable are a page's blocks of shell and Go, without those whose first line says why
// they are not run.
func (p *Page) runnable() (blocks []Block) {
	for _, b := range p.Blocks {
		if (b.Kind == "sh" || b.Kind == "go") && !strings.HasPrefix(b.Text, notRun) {
			blocks = append(blocks, b)
		}
	}
	return blocks
}
