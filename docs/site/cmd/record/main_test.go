package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRecord checks that each line of a command is in both pictures, escaped, and appears after the
// line before it.
func TestRecord(t *testing.T) {
	out := filepath.Join(t.TempDir(), "echo")
	script := `echo "a <b> & c"; sleep 0.05; echo; echo "│ two  spaces │"`
	if err := run(out, time.Second, []string{"sh", "-c", script}); err != nil {
		t.Fatal(err)
	}
	for name := range themes {
		b, err := os.ReadFile(out + "-" + name + ".svg")
		if err != nil {
			t.Fatal(err)
		}
		var texts, styles []string
		in := xml.NewDecoder(strings.NewReader(string(b)))
		for {
			token, err := in.Token()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if e, ok := token.(xml.StartElement); ok && e.Name.Local == "text" {
				var text string
				if err := in.DecodeElement(&text, &e); err != nil {
					t.Fatal(err)
				}
				texts = append(texts, text)
				for _, a := range e.Attr {
					if a.Name.Local == "style" {
						styles = append(styles, a.Value)
					}
				}
			}
		}
		want := []string{"$ sh -c " + script, "a <b> & c", "", "│ two  spaces │"}
		if strings.Join(texts, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %q, want %q", name, texts, want)
		}
		if len(styles) != 4 || styles[1] >= styles[3] {
			t.Errorf("%s: %q, want delays that grow", name, styles)
		}
	}
}

// TestRefused checks that a command that fails, prints nothing or is missing makes no picture.
func TestRefused(t *testing.T) {
	out := filepath.Join(t.TempDir(), "none")
	for _, command := range [][]string{nil, {"false"}, {"true"}, {"/no/such/program"}} {
		if err := run(out, time.Second, command); err == nil {
			t.Errorf("%q: no error", command)
		}
	}
	if found, _ := filepath.Glob(out + "*"); len(found) > 0 {
		t.Errorf("%q were written", found)
	}
}
