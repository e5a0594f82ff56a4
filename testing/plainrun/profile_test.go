//go:build !race

package plainrun

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module = "github.com/zofl/zofl/"
	root   = "../.."
)

// A block is a run of statements without a branch.
type block struct {
	line, column int // where it begins
	statements   int
	count        uint64 // how often it ran
}

// A profile has the blocks of each file, by the file's path in the repository.
type profile map[string][]block

// buildCovered builds this package's tests so that they count the statements that they run.
func buildCovered(t *testing.T) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), "plainrun.test")
	build := exec.Command("go", "test", "-c", "-covermode=atomic", "-coverpkg="+module+"...",
		"-o", binary, ".")
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	return binary
}

// profileOf runs a preset in a process of its own.
func profileOf(t *testing.T, binary, preset string, rounds uint64) profile {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cover.out")
	run := exec.Command(binary, "-test.run=^TestRun$/^"+preset+"$", "-test.coverprofile="+file,
		fmt.Sprintf("-rounds=%d", rounds))
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", run.Args, err, out)
	}
	p, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// read reads a file of lines "path:line.column,line.column statements count".
func read(name string) (profile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := profile{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		path, at, found := strings.Cut(lines.Text(), ":")
		if !found || path == "mode" {
			continue
		}
		var b block
		var line, column int
		if _, err := fmt.Sscanf(at, "%d.%d,%d.%d %d %d", &b.line, &b.column, &line, &column,
			&b.statements, &b.count); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, lines.Text(), err)
		}
		if path = strings.TrimPrefix(path, module); !strings.HasPrefix(path, "testing/") {
			p[path] = append(p[path], b)
		}
	}
	return p, lines.Err()
}

// A function is named by its package and itself, as "client.(*Client).Run". What a package's
// variables run when a program starts belongs to its function "init".
type function struct{ dir, name string }

func (f function) String() string { return f.dir + "." + f.name }

// entered returns the functions of which a statement ran, and how often their first one did.
func (p profile) entered(t *testing.T) map[function]uint64 {
	t.Helper()
	entered := map[function]uint64{}
	for path, blocks := range p {
		spans := spansOf(t, filepath.Join(root, path))
		first := map[function]block{}
		ran := map[function]bool{}
		for _, b := range blocks {
			f := function{filepath.ToSlash(filepath.Dir(path)), nameAt(spans, b)}
			if at, found := first[f]; !found || b.before(at) {
				first[f] = b
			}
			ran[f] = ran[f] || b.count > 0
		}
		for f := range ran {
			if ran[f] {
				entered[f] += max(first[f].count, 1)
			}
		}
	}
	return entered
}

// functions returns the functions of the program, by their names.
func (p profile) functions(t *testing.T) (names []string) {
	t.Helper()
	for path, blocks := range p {
		spans := spansOf(t, filepath.Join(root, path))
		for _, b := range blocks {
			f := function{filepath.ToSlash(filepath.Dir(path)), nameAt(spans, b)}
			names = append(names, f.String())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (b block) before(other block) bool {
	return b.line < other.line || b.line == other.line && b.column < other.column
}

// A span is where a function's source is.
type span struct {
	name        string
	first, last int // lines
}

func nameAt(spans []span, b block) string {
	for _, s := range spans {
		if s.first <= b.line && b.line <= s.last {
			return s.name
		}
	}
	return "init"
}

// parsed has the spans of files that were read before.
var parsed = map[string][]span{}

func spansOf(t *testing.T, file string) (spans []span) {
	t.Helper()
	if spans, found := parsed[file]; found {
		return spans
	}
	defer func() { parsed[file] = spans }()
	set := token.NewFileSet()
	source, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range source.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			spans = append(spans, span{nameOf(f), set.Position(f.Pos()).Line,
				set.Position(f.End()).Line})
		}
	}
	return spans
}

func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	recv, pointer := f.Recv.List[0].Type, ""
	if star, ok := recv.(*ast.StarExpr); ok {
		recv, pointer = star.X, "*"
	}
	if generic, ok := recv.(*ast.IndexExpr); ok {
		recv = generic.X
	}
	name := recv.(*ast.Ident).Name
	if pointer != "" {
		name = "(*" + name + ")"
	}
	return name + "." + f.Name.Name
}
