package plan_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
)

// TestSections: each field of Go's struct of a section is in the table of that section and in no
// other table. No two fields of a table are the same field in Go.
func TestSections(t *testing.T) {
	var p plan.Plan
	listed, seen := 0, map[uintptr]string{}
	for _, s := range plan.Sections() {
		part := reflect.ValueOf(&p).Elem()
		has := part.NumField() - len(plan.Sections()) + 1 // of section run, beside the others
		if s.Name != "run" {
			part = part.FieldByName(strings.ToUpper(s.Name[:1]) + s.Name[1:] + "Fields")
			has = part.NumField()
		}
		if len(s.Fields()) != has {
			t.Errorf("section %s lists %d fields and has %d", s.Name, len(s.Fields()), has)
		}
		for _, f := range s.Fields() {
			start, at := part.Addr().Pointer(), reflect.ValueOf(f.At(&p)).Pointer()
			if other, taken := seen[at]; taken {
				t.Errorf("%s and %s are one field in Go", other, f.Name)
			}
			seen[at] = f.Name
			if at < start || at >= start+part.Type().Size() || f.Section != s.Name {
				t.Errorf("%s is listed in section %q, as one of %q, and is elsewhere", f.Name, s.Name,
					f.Section)
			}
		}
		listed += len(s.Fields())
	}
	fields := plan.Fields()
	for i := range fields[1:] {
		if fields[i].Number >= fields[i+1].Number {
			t.Errorf("%s stands before %s", fields[i].Name, fields[i+1].Name)
		}
	}
	if len(fields) != listed {
		t.Errorf("%d fields, and %d in sections", len(fields), listed)
	}
}
