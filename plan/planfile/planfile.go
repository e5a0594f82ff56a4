// Package planfile reads and writes plans as people see them: as a JSON file keyed by the names of
// fields, and as names and values on a command line. Devices receive plans as records, and do not
// link this package.
//
// A file may nest fields by section, as {"rounds":{"quorum":3}}, and begin with a preset's plan, as
// {"method":"zofl"}; package plan lists the sections. A file without sections and without a method
// has all fields that are not zero.
package planfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/zofl/zofl/internal/textfile"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
)

// A Plan is a [plan.Plan] whose JSON is a plan file: convert a pointer to a plan, for
// [json.Marshal] and [json.Unmarshal].
type Plan plan.Plan

// A Change is a [plan.Change] whose JSON has the fields that the change names, in the form of a
// plan file. Convert a pointer to a change.
type Change plan.Change

// Read reads a plan file and validates it. The file is a JSON object keyed by the field names of
// [plan.Fields]. If you want the remedy for a plan that cannot run, call [Parse] and
// plancheck.Validate instead.
func Read(r io.Reader) (*plan.Plan, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile))
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	p, err := Parse(b)
	if err != nil {
		return nil, err
	}
	if err := valid.Plan(p); err != nil {
		return nil, err
	}
	return p, nil
}

// Parse reads a plan file, and does not check that the plan can run. The file may begin with a
// byte-order mark, and may have comments: //, /* */ and #.
func Parse(b []byte) (*plan.Plan, error) {
	p := &plan.Plan{}
	if err := json.Unmarshal(textfile.JSON(b), (*Plan)(p)); err != nil {
		if fault := (*plan.Error)(nil); errors.As(err, &fault) {
			return nil, fault
		}
		return nil, fmt.Errorf("plan: %w", err)
	}
	return p, nil
}

// maxFile is more than the bytes of the longest plan in JSON.
const maxFile = 1 << 20

// A Value is the value of one field, in the form of a plan file.
type Value struct {
	Field plan.Field
	JSON  string
}

// Values returns the fields of a plan that are not zero, in the order of [plan.Fields]. The value
// of a step or mu that devices must still find is "auto", in place of step_auto or mu_auto. Values
// returns an error for a float that is not finite.
func Values(p *plan.Plan) ([]Value, error) {
	return values(p, func(f *plan.Field) bool {
		open := f.Name == "step_auto" && p.StepSize == 0 || f.Name == "mu_auto" && p.Mu == 0
		return f.IsZero(p) && f.Auto(p) || !f.IsZero(p) && !open
	})
}

// Changed returns the fields that a change names, even if they are zero, in the form of [Values].
func Changed(c *plan.Change) ([]Value, error) {
	return values(&c.Values, func(f *plan.Field) bool {
		return slices.Contains(c.Fields, f.Number)
	})
}

// values returns the fields of p for which has is true.
func values(p *plan.Plan, has func(f *plan.Field) bool) (list []Value, err error) {
	for _, f := range plan.Fields() {
		if !has(&f) {
			continue
		}
		v := f.At(p)
		if choice, ok := v.(*uint8); ok {
			v = f.Choice(*choice)
		} else if f.Auto(p) && f.IsZero(p) {
			v = autoText
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		list = append(list, Value{f, string(text)})
	}
	return list, nil
}

// MarshalJSON writes the fields that are not zero, in the order of [plan.Fields].
func (p Plan) MarshalJSON() ([]byte, error) { return object(Values((*plan.Plan)(&p))) }

// MarshalJSON writes the fields that c names, even if they are zero, in the form of a plan.
func (c Change) MarshalJSON() ([]byte, error) { return object(Changed((*plan.Change)(&c))) }

// object writes fields as a JSON object.
func object(values []Value, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return append(appendFields([]byte{'{'}, values), '}'), nil
}

// setJSON sets f to its value in a file. In a file text, choices and hexadecimal digits are in
// quotes.
func setJSON(f plan.Field, p *plan.Plan, value json.RawMessage) error {
	text := string(value)
	switch f.At(p).(type) {
	case *float32:
		if text == strconv.Quote(autoText) {
			text = autoText
		}
	case *uint8, *string, *plan.Bytes:
		if json.Unmarshal(value, &text) != nil || value[0] != '"' {
			return &plan.Error{
				Field: f.Name, Value: string(value), Remedy: "put the value in quotes",
			}
		}
	}
	return set(f, p, text)
}
