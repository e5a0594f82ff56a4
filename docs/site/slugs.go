package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// slugs names headings as forges do, so that links lead to the same places there and here.
type slugs struct{ taken map[string]int }

func newSlugs() *slugs { return &slugs{map[string]int{}} }

var mark = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// Generate returns the name of a heading: a second one alike ends in -1.
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

// Put is asked for names that a page gives itself; none does.
func (s *slugs) Put([]byte) {}
