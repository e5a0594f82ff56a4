package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// faults returns the faults in the pages of a site: broken links, and content that the
// Content-Security-Policy of the pages forbids.
func (s site) faults() (faults []string) {
	names := map[string]map[string]bool{}
	trees := map[string]*html.Node{}
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if path.Ext(name) != ".html" {
			continue
		}
		tree, err := html.Parse(bytes.NewReader(s[name]))
		if err != nil {
			return append(faults, fmt.Sprintf("%s: %v", name, err))
		}
		trees[name], names[name] = tree, map[string]bool{}
		for n := range tree.Descendants() {
			if id := attribute(n, "id"); id != "" && names[name][id] {
				faults = append(faults, fmt.Sprintf("%s has the id %s twice", name, id))
			} else if id != "" {
				names[name][id] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		for n := range trees[name].Descendants() {
			for _, fault := range s.element(name, n, names) {
				faults = append(faults, fmt.Sprintf("%s: %s", name, fault))
			}
		}
	}
	return faults
}

// element returns the fault of an element of a page.
func (s site) element(page string, n *html.Node,
	names map[string]map[string]bool) (faults []string) {
	if n.Type != html.ElementNode {
		return nil
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
			faults = append(faults, fmt.Sprintf("<%s %s=...> is against the policy", n.Data, a.Key))
		case a.Key == "href" && n.Data == "a":
			if !strings.Contains(a.Val, "://") {
				faults = append(faults, s.lead(page, a.Val, names)...)
			}
		case a.Key == "href" || a.Key == "src" || a.Key == "srcset":
			if _, found := s[a.Val]; !found {
				faults = append(faults, fmt.Sprintf("<%s> loads %s, which is no file of the site", n.Data,
					a.Val))
			}
		}
	}
	if (n.Data == "style" || n.Data == "script") && n.FirstChild != nil {
		faults = append(faults, fmt.Sprintf("a <%s> within the page is against the policy", n.Data))
	}
	return faults
}

// lead returns the fault of a link within the site, or nothing if the link's target exists.
func (s site) lead(page, to string, names map[string]map[string]bool) []string {
	name, anchor, anchored := strings.Cut(to, "#")
	name = cmp.Or(name, page)
	if _, found := s[name]; !found {
		return []string{fmt.Sprintf("link %s: there is no file %s", to, name)}
	}
	if anchored && !names[name][anchor] {
		return []string{fmt.Sprintf("link %s: %s has no heading #%s", to, name, anchor)}
	}
	return nil
}

// attribute returns an attribute of a node, "" if it has none.
func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
