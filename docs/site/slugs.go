package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// slugs names headings as forges such as GitHub do, so that links work on the site and on the
// forge.
type slugs struct{ taken map[string]int }

func newSlugs() *slugs { return &slugs{map[string]int{}} }

var mark = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// Generate returns the name of a heading. The name of a second heading with the same text ends in
// -1.
func (s *slugs) Generate(value []byte, _ ast.NodeKind) []byte {
	name := mark.ReplaceAllString(strings.ToLower(strings.TrimSpace(string(value))), "")
	name = strings.ReplaceAll(name, " ", "-")
	n := s.taken[name]
	s.taken[name]++
	if n > 0 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	return []byte(name)
}

// Put receives names that a page chooses itself; no page chooses any.
func (s *slugs) Put([]byte) {}
