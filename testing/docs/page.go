// Package docs reads the project's pages, so that tests can run the commands in the pages.
package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Page is a Markdown file.
type Page struct {
	Name   string // path
	Lines  []string
	Blocks []Block
	prose  []int // indices of the lines outside blocks
}

// A Block is fenced code.
type Block struct {
	Line int    // of its first line, from 1
	Kind string // what follows the fence: go, sh, text, ...
	Text string // with the last line feed
}

// Read reads a page. A fence that is never closed is an error.
func Read(name string) (*Page, error) {
	file, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	p := &Page{Name: name, Lines: strings.Split(strings.TrimSuffix(string(file), "\n"), "\n")}
	begin := -1
	for i, line := range p.Lines {
		fence, found := strings.CutPrefix(strings.TrimLeft(line, " "), "```")
		switch {
		case !found && begin < 0:
			p.prose = append(p.prose, i)
		case found && begin < 0:
			begin = i + 1
			p.Blocks = append(p.Blocks, Block{Line: begin + 1, Kind: fence})
		case found:
			p.Blocks[len(p.Blocks)-1].Text = strings.Join(p.Lines[begin:i], "\n") + "\n"
			begin = -1
		}
	}
	if begin >= 0 {
		return nil, fmt.Errorf("%s:%d: a block is not closed", name, begin)
	}
	return p, nil
}

// Only returns the only block of a kind.
func (p *Page) Only(kind string) (Block, error) {
	var found []Block
	for _, b := range p.Blocks {
		if b.Kind == kind {
			found = append(found, b)
		}
	}
	if len(found) != 1 {
		return Block{}, fmt.Errorf("%s has %d blocks of %s, want 1", p.Name, len(found), kind)
	}
	return found[0], nil
}

// notRun begins the first line of a shell block that the checks do not run, or of all shell blocks
// of a page that the checks do not run. The reason that follows is also for the reader.
const notRun = "# Not run by the checks"

// pythonPages are the pages whose Python blocks the tests in python/tests run.
var pythonPages = []string{"python/README.md", "docs/torch.md"}

// Faults returns the faults in the form of a page, one a line.
func (p *Page) Faults() (faults []string) {
	fault := func(line int, text string) {
		faults = append(faults, fmt.Sprintf("%s:%d: %s", p.Name, line, text))
	}
	for _, b := range p.Blocks {
		switch b.Kind {
		case "go", "kotlin", "sh", "conf", "text":
		case "python":
			isPage := func(page string) bool { return strings.HasSuffix(p.Name, page) }
			if !slices.ContainsFunc(pythonPages, isPage) {
				fault(b.Line-1, "a block of Python: only those of "+strings.Join(pythonPages, " and ")+
					" are run, by tests. Put it there, or make it text")
			}
		default:
			fault(b.Line-1, fmt.Sprintf("a block of kind %q: no check knows it. "+
				"Make it go, kotlin, python, sh or conf, which are run, or text, which is not", b.Kind))
		}
	}
	for i, line := range p.Lines {
		exempt := strings.HasPrefix(line, "|") || strings.Contains(line, "](http")
		if n := len([]rune(line)); n > 100 && !exempt {
			fault(i+1, fmt.Sprintf("%d columns, want at most 100", n))
		}
	}
	for _, i := range p.prose {
		line := p.Lines[i]
		if strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") && !p.inList(i) {
			fault(i+1, "a block without fences: no check sees it")
		}
	}
	return append(faults, p.dead()...)
}

// inList says whether an indented line continues an item of a list.
func (p *Page) inList(i int) bool {
	for i > 0 && p.Lines[i] != "" && strings.HasPrefix(p.Lines[i], " ") {
		i--
	}
	return item.MatchString(p.Lines[i])
}

var (
	item = regexp.MustCompile(`^([-*]|\d+\.) `)
	link = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"`)
	mark = regexp.MustCompile("[^\\p{L}\\p{N} _-]")
	code = regexp.MustCompile("`[^`]*`")
)

// dead returns the links whose target does not exist.
func (p *Page) dead() (faults []string) {
	for _, i := range p.prose {
		line := code.ReplaceAllString(p.Lines[i], "`code`")
		for _, m := range link.FindAllStringSubmatch(line, -1) {
			to := m[1] + m[2]
			if strings.Contains(to, "://") {
				continue
			}
			if err := p.leads(to); err != nil {
				faults = append(faults, fmt.Sprintf("%s:%d: link %s: %v", p.Name, i+1, to, err))
			}
		}
	}
	return faults
}

// leads returns an error if a link has no target.
func (p *Page) leads(to string) error {
	path, anchor, _ := strings.Cut(to, "#")
	target := p
	if path != "" {
		name := filepath.Join(filepath.Dir(p.Name), path)
		if _, err := os.Stat(name); err != nil {
			return err
		}
		if anchor == "" {
			return nil
		}
		var err error
		if target, err = Read(name); err != nil {
			return err
		}
	}
	if !target.anchors()[anchor] {
		return fmt.Errorf("%s has no heading #%s", target.Name, anchor)
	}
	return nil
}

// anchors are the names of the headings, as forges such as GitHub name headings.
func (p *Page) anchors() map[string]bool {
	names := map[string]bool{}
	for _, i := range p.prose {
		heading := strings.TrimLeft(p.Lines[i], "#")
		if heading == p.Lines[i] || !strings.HasPrefix(heading, " ") {
			continue
		}
		name := mark.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}
