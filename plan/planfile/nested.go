package planfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// methodKey names the preset with which a plan file begins.
const methodKey = "method"

// An entry is a key of a plan file and its value.
type entry struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON sets the fields that b names and leaves the other fields as they are. If b names a
// method, the other fields come from that preset, and [preset.Few], [preset.Fit] and [preset.Guard]
// then adapt them to the named fields. The error is a [*plan.Error] for an unknown or repeated
// name, a name in the object of another section, or a value in the wrong form.
func (p *Plan) UnmarshalJSON(b []byte) error {
	list, err := entries(b, "")
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range list {
		if seen[e.name] {
			return &plan.Error{Field: e.name, Value: string(e.value), Remedy: "give each field once"}
		}
		seen[e.name] = true
	}
	if !seen[methodKey] {
		return p.setAll(list)
	}
	return p.begin(list)
}

// setAll sets the fields of entries.
func (p *Plan) setAll(list []entry) error {
	for _, e := range list {
		f, err := find(e.name, string(e.value))
		if err != nil {
			return err
		}
		if err := setJSON(f, (*plan.Plan)(p), e.value); err != nil {
			return err
		}
	}
	return nil
}

// begin makes p the plan of the method among the entries, with the other entries. Without a run key
// in the file, the plan's run key is a hash of the run's name, so that a file always gives the same
// plan.
func (p *Plan) begin(list []entry) error {
	at := slices.IndexFunc(list, func(e entry) bool { return e.name == methodKey })
	var method string
	if err := json.Unmarshal(list[at].value, &method); err != nil {
		return &plan.Error{Field: methodKey, Value: string(list[at].value),
			Remedy: "put the value in quotes"}
	}
	list = slices.Delete(list, at, at+1)
	var given Plan
	if err := given.setAll(list); err != nil {
		return err
	}
	made, err := preset.Unbound(method, given.Run, given.Dim)
	if err != nil {
		return err
	}
	key := sha256.Sum256([]byte("zofl/1 run key\x00" + given.Run))
	if made.RunKey = key[:]; len(given.KeyCheck) > 0 {
		made.RunKey = nil
	}
	if err := (*Plan)(made).setAll(list); err != nil {
		return err
	}
	var set []string
	for _, e := range list {
		set = append(set, e.name)
	}
	preset.Few(made, set...)
	preset.Overture(made, 0, set...)
	preset.Fit(made, set...)
	preset.Guard(made, set...)
	*p = Plan(*made)
	return nil
}

// entries returns the fields of a JSON object. In the object of a plan, an object under the name of
// a section holds fields of that section.
func entries(b []byte, section string) (list []entry, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("not a JSON object of fields")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		e := entry{name: key.(string)} // keys of a JSON object are strings
		if err := d.Decode(&e.value); err != nil {
			return nil, err
		}
		if section == "" && e.value[0] == '{' && isSection(e.name) {
			inner, err := entries(e.value, e.name)
			if err != nil {
				return nil, err
			}
			list = append(list, inner...)
			continue
		}
		if of := sectionOf(e.name); section != "" && of != "" && of != section {
			return nil, &plan.Error{Field: e.name, Value: string(e.value), Remedy: place(of)}
		}
		list = append(list, e)
	}
	return list, nil
}

func isSection(name string) bool {
	return slices.ContainsFunc(plan.Sections(), func(s plan.Section) bool { return s.Name == name })
}

// sectionOf returns the section of a key, or "" for a key that is no field.
func sectionOf(name string) string {
	if name == methodKey {
		return "run"
	}
	f, _ := plan.FieldNamed(name)
	return f.Section
}

// place says where a field of a section belongs.
func place(section string) string {
	if section == "run" {
		return "put it beside the sections"
	}
	return "put it into " + section + ", or beside the sections"
}

// Nested returns a plan file that nests fields by section. If the plan comes from a preset, the
// file has only the fields that differ from the preset. [Parse] of the file gives the same plan.
func Nested(p *plan.Plan) ([]byte, error) {
	if file, err := differing(p); err == nil && reads(file, p) {
		return file, nil
	}
	values, err := Values(p)
	if err != nil {
		return nil, err
	}
	return nested(values, "")
}

// differing returns a plan file that begins with the plan's preset. Fields that the author has set
// may change other fields of a preset's plan. So differing adds names to the file until reading it
// gives all fields of p.
func differing(p *plan.Plan) ([]byte, error) {
	var named []uint64
	for _, name := range []string{"run", "dim", "key_check"} { // a preset makes a plan from these
		if f, _ := plan.FieldNamed(name); !f.IsZero(p) {
			named = append(named, f.Number)
		}
	}
	for {
		list, err := values(p, func(f *plan.Field) bool {
			return f.Name != "preset" && slices.Contains(named, f.Number)
		})
		if err != nil {
			return nil, err
		}
		file, err := nested(list, p.Preset)
		if err != nil {
			return nil, err
		}
		q, err := Parse(file)
		if err != nil {
			return nil, err
		}
		before := len(named)
		for _, f := range plan.Fields() {
			if !slices.Contains(named, f.Number) && textIn(f, p) != textIn(f, q) {
				named = append(named, f.Number)
			}
		}
		if len(named) == before {
			return file, nil
		}
	}
}

// textIn returns an encoding of the value of a field of a plan: equal encodings mean equal values.
func textIn(f plan.Field, p *plan.Plan) string {
	one := plan.Change{Fields: []uint64{f.Number}, Values: *p}
	return string(one.Append(nil))
}

// reads reports whether Parse reads plan p from a file.
func reads(file []byte, p *plan.Plan) bool {
	q, err := Parse(file)
	return err == nil && bytes.Equal(q.Append(nil), p.Append(nil))
}

// nested returns a plan file with the values nested by section, and with the method, if it is not
// empty.
func nested(list []Value, method string) ([]byte, error) {
	b := []byte{'{'}
	for _, s := range plan.Sections() {
		part := slices.DeleteFunc(slices.Clone(list), func(v Value) bool {
			return v.Field.Section != s.Name
		})
		if s.Name == "run" {
			if method != "" {
				part = append(part, Value{plan.Field{Name: methodKey}, strconv.Quote(method)})
			}
			b = appendFields(b, part)
			continue
		}
		if len(part) == 0 {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, s.Name), ":{"...)
		b = append(appendFields(b, part), '}')
	}
	return append(b, '}'), nil
}

// appendFields appends values to an object.
func appendFields(b []byte, values []Value) []byte {
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, v.Field.Name), ':')
		b = append(b, v.JSON...)
	}
	return b
}
