package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sources are the files of a package. Unraced must find the tests that are named after a reason,
// and no others.
var sources = map[string]string{
	"code.go": `package p

func start() {}`,
	"race_test.go": `//go:build race

package p

const slower = 20

func TestBuiltWith(t *testing.T) {}`,
	"norace_test.go": `//go:build !race

package p

const slower = 1

func prepared() {}

func TestBuiltWithout(t *testing.T) {}`,
	"shared_test.go": `package p

type size int

func (s size) much() { small() }

func (s size) prepared() {}

func small() bool { return testing.Short() }

func recursive() { recursive(); start() }

var limit = 7 * slower`,
	"tests_test.go": `package p

func TestMain(m *testing.M) { prepared() }

func TestShort(t *testing.T) { if testing.Short() { t.Skip() } }

func TestShortByMethod(t *testing.T) { var s size; s.much() }

func TestSlower(t *testing.T) { t.Run("within", func(t *testing.T) { _ = limit }) }

	func FuzzSlower(f *testing.F) { f.Add(slower) }

func TestPlain(t *testing.T) { recursive() }

func TestLocal(t *testing.T) { slower := 2; _ = slower }

func TestOfAnother(t *testing.T) { other.small(); t.prepared(); testing.Verbose() }

func Testing(t *testing.T) { small() }

func BenchmarkShort(b *testing.B) { small() }`,
	"elsewhere_test.go": `//go:build never

package p

func TestNever(t *testing.T) { small() }`,
	"outside_test.go": `package p_test

func ExampleSlower() { small() }

func ExamplePlain() {}`,
}

func write(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestUnraced(t *testing.T) {
	var out strings.Builder
	if err := run(&out, strings.NewReader("m/p "+write(t, sources)+"\n")); err != nil {
		t.Fatal(err)
	}
	const want = "m/p ExampleSlower\nm/p FuzzSlower\nm/p TestBuiltWithout\nm/p TestShort\n" +
		"m/p TestShortByMethod\nm/p TestSlower\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestRefused(t *testing.T) {
	dir := write(t, map[string]string{"code.go": `package p; var small = testing.Short()`})
	for in, want := range map[string]string{
		"m/p":           `line "m/p": want a package and its directory`,
		"m/p " + dir:    "code.go calls testing.Short",
		"m/p /no/where": "no such file",
	} {
		if err := run(&strings.Builder{}, strings.NewReader(in)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", in, err, want)
		}
	}
}
