package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

// MarshalJSON writes the fields that are not zero, in the order of [Fields].
func (p Plan) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i := range planFields {
		f := &planFields[i]
		if isZero(f.at(&p)) {
			continue
		}
		var v any = f.at(&p)
		if f.names != nil {
			v = enumName(f.names, int(*v.(*uint8)))
		}
		value, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, f.Name), ':')
		b = append(b, value...)
	}
	return append(b, '}'), nil
}

// UnmarshalJSON sets the fields that b names and leaves the others.
func (p *Plan) UnmarshalJSON(b []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		f := fieldByName(name)
		if f == nil {
			return &PlanError{name, string(raw[name]), "no field has this name; `zofl plan --fields` lists them"}
		}
		if err := f.parseJSON(p, raw[name]); err != nil {
			return err
		}
	}
	return nil
}

func (f *Field) parseJSON(p *Plan, raw json.RawMessage) error {
	if f.names != nil {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return &PlanError{f.Name, string(raw), "one of " + enumList(f.names) + ", in quotes"}
		}
		return f.set(p, s)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(f.at(p)); err != nil {
		return &PlanError{f.Name, string(raw), err.Error()}
	}
	return nil
}

// Set gives the field with a name the value that text stands for: a name for
// a choice, JSON for lists, hexadecimal for bytes, a number otherwise.
func (p *Plan) Set(name, text string) error {
	f := fieldByName(name)
	if f == nil {
		return &PlanError{name, text, "no field has this name; `zofl plan --fields` lists them"}
	}
	return f.set(p, text)
}

func (f *Field) set(p *Plan, text string) error {
	var err error
	switch v := f.at(p).(type) {
	case *uint8:
		*v, err = enumValue(f.names, text)
	case *string:
		*v = text
	case *Bytes:
		err = v.UnmarshalText([]byte(text))
	default:
		return f.parseJSON(p, json.RawMessage(text))
	}
	if err != nil {
		return &PlanError{f.Name, text, err.Error()}
	}
	return nil
}

// ReadPlan reads a plan file and validates it.
func ReadPlan(r io.Reader) (*Plan, error) {
	b, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	p := &Plan{}
	if err := json.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return p, p.Validate()
}
