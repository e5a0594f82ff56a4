package valid_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
)

var update = flag.Bool("update", false, "write the page of sections")

const pageFile = "../../docs/plan.md"

// TestPage: docs/plan.md has the fields and the rules of each section, as the code has them.
func TestPage(t *testing.T) {
	page := pageHead
	for _, s := range plan.Sections() {
		page += sectionPart(s)
	}
	if *update {
		if err := os.WriteFile(pageFile, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	has, err := os.ReadFile(pageFile)
	if err != nil || string(has) != page {
		t.Errorf("%s is not what the code says: go test ./plan/valid -run TestPage -update, then "+
			"read the difference (%v)", pageFile, err)
	}
}

const pageHead = `# A plan by section

This page is made from the code. It has the fields of each section of a plan, and which plans are
refused. \* can change in a run. Usual is a value that many plans have. [methods.md](methods.md)
says what the options are for. In the terminal ` + "`zofl plan --fields SECTION`" +
	` lists the fields of your
version, and ` + "`zofl plan --explain`" + ` says what your plan does.
`

func sectionPart(s plan.Section) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "\n## %s\n\n%s%s.\n\n", s.Name, strings.ToUpper(s.Doc[:1]), s.Doc[1:])
	fmt.Fprint(b, "| field | what it is | values | usual |\n|---|---|---|---|\n")
	for _, f := range s.Fields() {
		mark := ""
		if f.Changeable {
			mark = " \\*"
		}
		usual := f.Usual
		if usual != "" {
			usual = "`" + usual + "`"
		}
		fmt.Fprintf(b, "| `%s`%s | %s | %s | %s |\n", f.Name, mark, f.Doc,
			strings.TrimPrefix(cmp.Or(f.Range(), f.Form()), "one of "), usual)
	}
	said, list := map[string]string{}, []string{}
	for _, w := range valid.Words() {
		switch had := said[w.Field]; {
		case w.Section != s.Name:
		case had == "":
			said[w.Field] = w.What
			list = append(list, w.Field)
		default:
			said[w.Field] = had + "; " + w.What
		}
	}
	for i, field := range list {
		if i == 0 {
			fmt.Fprint(b, "\n| field | refused, beside values out of range |\n|---|---|\n")
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", field, said[field])
	}
	return b.String()
}
