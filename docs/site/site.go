package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed theme
var theme embed.FS

var layout = template.Must(template.New("page.html").
	Funcs(template.FuncMap{"address": address}).ParseFS(theme, "theme/page.html"))

// A site is a set of files in one folder, by name.
type site map[string][]byte

// build builds the site of a repository.
func build(files fs.FS, all []section) (site, error) {
	if err := complete(files, all); err != nil {
		return nil, err
	}
	listed := map[string]bool{}
	var entries []entry
	for _, s := range all {
		for _, e := range s.Pages {
			listed[e.File] = true
			entries = append(entries, e)
		}
	}
	m, s := newMaker(files, listed), site{}
	var pages []*page
	for _, e := range entries {
		p, err := m.make(e)
		if err != nil {
			return nil, err
		}
		pages = append(pages, p)
	}
	for i, p := range pages {
		if err := s.lay(all, pages, i); err != nil {
			return nil, fmt.Errorf("%s: %w", p.File, err)
		}
		for _, file := range p.pictures {
			b, err := fs.ReadFile(files, file)
			if err != nil {
				return nil, err
			}
			s[resource(file)] = b
		}
	}
	return s, s.dress(pages)
}

// lay writes the HTML of a page.
func (s site) lay(all []section, pages []*page, i int) error {
	data := struct {
		*page
		Sections       []section
		Contents       []heading
		Previous, Next *page
	}{page: pages[i], Sections: all}
	for _, h := range pages[i].Headings {
		if h.Level > 1 {
			data.Contents = append(data.Contents, h)
		}
	}
	if i > 0 {
		data.Previous = pages[i-1]
	}
	if i+1 < len(pages) {
		data.Next = pages[i+1]
	}
	var out bytes.Buffer
	err := layout.Execute(&out, data)
	s[address(pages[i].File)] = out.Bytes()
	return err
}

// dress adds the files that all pages share.
func (s site) dress(pages []*page) error {
	for name, file := range map[string]string{"search.js": "search.js", "icon.svg": "icon.svg",
		"minisearch.js":          "third-party/minisearch/minisearch.js",
		"minisearch-license.txt": "third-party/minisearch/LICENSE"} {
		b, err := theme.ReadFile("theme/" + file)
		if err != nil {
			return err
		}
		s[name] = b
	}
	style, err := theme.ReadFile("theme/style.css")
	if err != nil {
		return err
	}
	code, err := colors()
	if err != nil {
		return err
	}
	s["style.css"] = append(style, code...)
	s["words.js"], err = words(pages)
	return err
}

// words returns a script with the text that the search searches. The text is a script because a
// page that a browser loads from a disk may load no other data. An item of the text has a page, the
// page's title, a heading's name and text, the words below the heading, and what others call it.
func words(pages []*page) ([]byte, error) {
	var items [][6]string
	terms := map[string]string{}
	for _, p := range pages {
		for to, others := range p.terms {
			terms[to] += " " + others
		}
	}
	for _, p := range pages {
		for i, h := range p.Headings {
			to := address(p.File)
			others := terms[to+"#"+h.ID]
			if i == 0 {
				others += terms[to]
			}
			items = append(items, [6]string{to, p.Name, h.ID, h.Text,
				strings.Join(strings.Fields(h.words), " "), strings.TrimSpace(others)})
		}
	}
	b, err := json.Marshal(items)
	return []byte("const words = " + string(b) + ";\n"), err
}

// complete returns an error if a Markdown file of the repository is no page.
func complete(files fs.FS, all []section) error {
	listed, at := map[string]bool{}, map[string]string{}
	for _, s := range all {
		for _, e := range s.Pages {
			if other := at[address(e.File)]; other != "" {
				return fmt.Errorf("%s and %s both become %s: change address, or sections", other, e.File,
					address(e.File))
			}
			listed[e.File], at[address(e.File)] = true, e.File
		}
	}
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.ContainsAny(d.Name()[:1], "._"):
			return fs.SkipDir // git's, and what builds leave
		case path.Ext(name) == ".md" && !listed[name] && !slices.Contains(noPages, name):
			return fmt.Errorf("%s is no page of the site: give it a place in sections", name)
		}
		return nil
	})
}

// write writes a site into a new directory, an empty one, or one that holds a site.
func (s site) write(dir string) error {
	there, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	_, err = os.Stat(filepath.Join(dir, "words.js"))
	if len(there) > 0 && err != nil {
		return fmt.Errorf("%s has files, and they are no site: name a new directory", dir)
	}
	for _, d := range there { // pages that are gone
		if err := os.Remove(filepath.Join(dir, d.Name())); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if err := os.WriteFile(filepath.Join(dir, name), s[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
