package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/alecthomas/chroma/v2"
	chtml "github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// blocks renders code with CSS classes for colors, and renders headings with links to themselves.
type blocks struct{}

func (b blocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, b.code)
	r.Register(ast.KindHeading, b.heading)
}

// code colors a block of code.
func (blocks) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus,
	error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.FencedCodeBlock)
	tokens, err := lexer(string(block.Language(source))).Tokenise(nil,
		string(block.Lines().Value(source)))
	if err == nil {
		err = formatter.Format(w, styles.Fallback, tokens)
	}
	return ast.WalkSkipChildren, err
}

// formatter writes CSS classes, because the Content-Security-Policy of the pages forbids styles
// within elements.
var formatter = chtml.New(chtml.WithClasses(true))

// lexer returns the lexer of a kind of block. A block in an unknown language has no colors.
func lexer(kind string) chroma.Lexer {
	switch kind {
	case "sh":
		kind = "bash"
	case "conf":
		kind = "nginx" // like nats-server's: comments, blocks, strings
	}
	if l := lexers.Get(kind); l != nil {
		return chroma.Coalesce(l)
	}
	return lexers.Fallback
}

// heading writes a heading that links to itself.
func (blocks) heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus,
	error) {
	h := n.(*ast.Heading)
	id, _ := h.AttributeString("id")
	name, _ := id.([]byte)
	if entering {
		_, err := fmt.Fprintf(w, `<h%d id="%s">`, h.Level, html.EscapeString(string(name)))
		return ast.WalkContinue, err
	}
	_, err := fmt.Fprintf(w, ` <a class="self" href="#%s" aria-label="link to this part">#</a></h%d>`+
		"\n", html.EscapeString(string(name)), h.Level)
	return ast.WalkContinue, err
}

// colors returns the rules for code in both themes.
func colors() (string, error) {
	var css strings.Builder
	for _, theme := range []struct{ name, scheme string }{
		{"github", "light"}, {"github-dark", "dark"},
	} {
		fmt.Fprintf(&css, "@media (prefers-color-scheme: %s) {\n", theme.scheme)
		if err := formatter.WriteCSS(&css, styles.Get(theme.name)); err != nil {
			return "", err
		}
		css.WriteString("}\n")
	}
	return css.String(), nil
}
