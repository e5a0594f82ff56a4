package main

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	rhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// repository is the address at which readers see files of the repository that are no pages.
const repository = "https://github.com/zofl/zofl/"

// termsPage has tables of the words that others use, each row with a link to what they mean here.
const termsPage = "docs/terms.md"

// A page is a Markdown file, as HTML.
type page struct {
	entry
	Title    string
	Headings []heading
	Body     template.HTML
	pictures []string          // files of the repository that it shows
	terms    map[string]string // of termsPage: words of others by address of what they mean
}

// A heading is an entry of the table of contents, of level 2 or 3.
type heading struct {
	Level    int
	ID, Text string
	words    string // of the text below it, for the search
}

// A maker makes pages from a repository's files.
type maker struct {
	files    fs.FS
	pages    map[string]bool // Markdown files that become pages
	markdown goldmark.Markdown
}

func newMaker(files fs.FS, pages map[string]bool) *maker {
	return &maker{files, pages, goldmark.New(
		goldmark.WithExtensions(extension.Strikethrough, extension.NewTable(
			// The Content-Security-Policy of the pages forbids styles within elements.
			extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(rhtml.WithUnsafe(), // pictures for two themes are HTML
			renderer.WithNodeRenderers(util.Prioritized(blocks{}, 100))),
	)}
}

// make makes the page of an entry.
func (m *maker) make(e entry) (*page, error) {
	source, err := fs.ReadFile(m.files, e.File)
	if err != nil {
		return nil, err
	}
	p := &page{entry: e, terms: map[string]string{}}
	doc := m.markdown.Parser().Parse(text.NewReader(source),
		parser.WithContext(parser.NewContext(parser.WithIDs(newSlugs()))))
	err = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			p.head(n, source)
		case *ast.Link:
			to, err := m.link(e.File, string(n.Destination))
			n.Destination = []byte(to)
			p.term(n, source)
			return ast.WalkContinue, err
		case *ast.Text, *ast.String:
			p.read(plain(n, source) + " ")
		case *ast.FencedCodeBlock:
			p.read(string(n.Lines().Value(source)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.File, err)
	}
	var out bytes.Buffer
	if err := m.markdown.Renderer().Render(&out, source, doc); err != nil {
		return nil, fmt.Errorf("%s: %w", e.File, err)
	}
	body, err := m.show(p, out.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.File, err)
	}
	p.Body = template.HTML(body)
	p.Title = cmp.Or(p.Title, e.Name)
	return p, nil
}

// head records a heading.
func (p *page) head(n *ast.Heading, source []byte) {
	id, _ := n.AttributeString("id")
	name, _ := id.([]byte)
	words := plain(n, source)
	switch {
	case n.Level == 1 && p.Title == "":
		p.Title = words
		p.Headings = append(p.Headings, heading{Level: 1, ID: string(name), Text: words})
	case n.Level <= 3:
		p.Headings = append(p.Headings, heading{Level: n.Level, ID: string(name), Text: words})
	}
}

// term records the words of others beside a link in a table of terms.
func (p *page) term(link *ast.Link, source []byte) {
	cell := link.Parent()
	if p.File != termsPage || cell == nil || cell.Kind() != east.KindTableCell {
		return
	}
	for c := cell.PreviousSibling(); c != nil; c = c.PreviousSibling() {
		p.terms[string(link.Destination)] += " " + plain(c, source)
	}
}

// read appends text to the section below the last heading, for the search.
func (p *page) read(words string) {
	if len(p.Headings) > 0 {
		p.Headings[len(p.Headings)-1].words += words
	}
}

// plain returns the text of a node without its markup.
func plain(n ast.Node, source []byte) string {
	switch n := n.(type) {
	case *ast.Text:
		if n.SoftLineBreak() {
			return string(n.Segment.Value(source)) + " "
		}
		return string(n.Segment.Value(source))
	case *ast.String:
		return string(n.Value)
	}
	var all strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		all.WriteString(plain(c, source))
	}
	return all.String()
}

// link returns the target on the site of a link in a file: a page, or, for a file that is no page,
// the address of the file in the repository.
func (m *maker) link(from, to string) (string, error) {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "#") {
		return to, nil
	}
	name, anchor, anchored := strings.Cut(to, "#")
	file := path.Join(path.Dir(from), name)
	if m.pages[path.Join(file, "README.md")] {
		file = path.Join(file, "README.md")
	}
	if m.pages[file] {
		if anchored {
			anchor = "#" + anchor
		}
		return address(file) + anchor, nil
	}
	info, err := fs.Stat(m.files, file)
	switch {
	case err != nil:
		return "", fmt.Errorf("link %s: %w", to, err)
	case info.IsDir():
		return repository + "tree/main/" + file, nil
	}
	return repository + "blob/main/" + file, nil
}

var picture = regexp.MustCompile(`\b(src|srcset)="([^"]+)"`)

// show makes a page load its pictures from the site's folder, and makes each table that is wider
// than the screen scroll.
func (m *maker) show(p *page, body string) (string, error) {
	var failed error
	body = picture.ReplaceAllStringFunc(body, func(attribute string) string {
		part := picture.FindStringSubmatch(attribute)
		file := path.Join(path.Dir(p.File), html.UnescapeString(part[2]))
		if _, err := fs.Stat(m.files, file); err != nil {
			failed = fmt.Errorf("picture %s: %w", part[2], err)
		}
		p.pictures = append(p.pictures, file)
		return fmt.Sprintf(`%s="%s"`, part[1], html.EscapeString(resource(file)))
	})
	body = strings.ReplaceAll(body, "<table>", `<div class="wide" tabindex="0"><table>`)
	return strings.ReplaceAll(body, "</table>", "</table></div>"), failed
}
