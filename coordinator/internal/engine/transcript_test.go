package engine

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the outcome of transcripts to testdata")

// TestTranscripts plays testdata/*.txt. Lines that begin with "> " are commands, and the lines
// after a command are its outcome; "#" begins a comment. Commit what -rewrite changed only if you
// understand the cause of the change.
func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatal("no transcripts in testdata")
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got, wire := play(t, string(want))
			_, again := play(t, string(want))
			if !bytes.Equal(wire, again) {
				t.Error("played twice, its bytes differ")
			}
			switch {
			case got == string(want):
			case *rewrite:
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s\n(-rewrite records it)", firstDifference(got, string(want)))
			}
		})
	}
}

// play runs the commands of a transcript. It returns them with their outcomes, and every byte that
// the core sent.
func play(t *testing.T, script string) (transcript string, wire []byte) {
	s := &stage{t: t}
	var out strings.Builder
	commands := 0
	for line := range strings.Lines(script) {
		switch line := strings.TrimSpace(line); {
		case strings.HasPrefix(line, "> "):
			commands++
			s.out.Reset()
			s.command(strings.Fields(line[2:]))
			fmt.Fprintf(&out, "%s\n%s", line, s.out.String())
		case line == "", strings.HasPrefix(line, "#"):
			fmt.Fprintln(&out, line)
		}
	}
	if commands == 0 {
		t.Fatal("a transcript without commands")
	}
	return out.String(), s.wire.Bytes()
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("got %d lines, want %d", len(g), len(w))
}
