package zofl_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/wire"
)

// What documentation shows of a value, or of a type's exported fields, is all that a reader outside
// can look up.
func TestShownAlone(t *testing.T) {
	for dir, files := range packageFiles(t) {
		if isInternal(filepath.ToSlash(dir)) {
			continue
		}
		for _, file := range files {
			parsed := parse(t, file)
			hidden := hiddenImports(t, parsed)
			for _, decl := range parsed.Decls {
				d, ok := decl.(*ast.GenDecl)
				if !ok || d.Tok == token.IMPORT {
					continue
				}
				for _, spec := range d.Specs {
					for _, shown := range shown(spec) {
						ast.Inspect(shown, func(n ast.Node) bool {
							s, ok := n.(*ast.SelectorExpr)
							if !ok {
								return true
							}
							if id, ok := s.X.(*ast.Ident); ok && hidden[id.Name] {
								t.Errorf("%s shows %s.%s, which nobody outside can look up",
									file, id.Name, s.Sel)
							}
							return true
						})
					}
				}
			}
		}
	}
}

// shown returns what documentation prints of a declaration beside its names.
func shown(spec ast.Spec) (nodes []ast.Node) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		if !anyExported(s.Names) {
			return nil
		}
		if s.Type != nil {
			nodes = append(nodes, s.Type)
		}
		for _, value := range s.Values {
			nodes = append(nodes, value)
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return nil
		}
		fields, ok := s.Type.(*ast.StructType)
		if !ok {
			return append(nodes, s.Type)
		}
		for _, f := range fields.Fields.List {
			if anyExported(f.Names) {
				nodes = append(nodes, f.Type)
			}
		}
	}
	return nodes
}

func anyExported(names []*ast.Ident) bool {
	for _, name := range names {
		if name.IsExported() {
			return true
		}
	}
	return false
}

// The errors that a function returns from an internal package, with the text that stands beside.
func TestTextsOfErrors(t *testing.T) {
	want := map[string]error{
		"wire.ErrUpgrade": wire.ErrUpgrade, "wire.ErrTruncated": wire.ErrTruncated,
		"wire.ErrForm": wire.ErrForm, "wire.ErrLimit": wire.ErrLimit, "wire.ErrValue": wire.ErrValue,
		"client.ErrPlan": client.ErrPlan, "client.ErrDiverged": client.ErrDiverged,
		"client.ErrStore": client.ErrStore, "client.ErrQuiet": client.ErrQuiet,
		"client.ErrStoreLocked": client.ErrStoreLocked,
		"coordinator.ErrSecond": coordinator.ErrSecond, "coordinator.ErrEnded": coordinator.ErrEnded,
	}
	found := 0
	for _, file := range sourceFiles(t, ".") {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			s, ok := n.(*ast.ValueSpec)
			if !ok || len(s.Values) != 1 || !strings.HasPrefix(s.Names[0].Name, "Err") {
				return true
			}
			call, ok := s.Values[0].(*ast.CallExpr)
			if !ok {
				return true
			}
			if _, own := call.Fun.(*ast.Ident); !own {
				return true
			}
			found++
			name := parsed.Name.Name + "." + s.Names[0].Name
			value, said := want[name], strings.TrimSpace(s.Comment.Text())
			if value == nil || said != strconv.Quote(value.Error()) {
				t.Errorf("%s: %s is %v, and its documentation says %s", file, name, value, said)
			}
			return true
		})
	}
	if found != len(want) {
		t.Errorf("%d errors of functions, want %d", found, len(want))
	}
}
