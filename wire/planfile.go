package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// MarshalJSON writes the fields that are not zero, in the order of [Fields].
func (p Plan) MarshalJSON() ([]byte, error) {
	return marshalFields(&p, func(f *Field) bool { return !isZero(f.at(&p)) })
}

// MarshalJSON writes the fields that c names, zero or not, in the form of a plan.
func (c Change) MarshalJSON() ([]byte, error) {
	return marshalFields(&c.Values, func(f *Field) bool {
		return slices.Contains(c.Fields, f.Number)
	})
}

// marshalFields writes the fields of p for which has is true, in the order of [Fields].
func marshalFields(p *Plan, has func(f *Field) bool) ([]byte, error) {
	b := []byte{'{'}
	for i := range planFields {
		f := &planFields[i]
		if !has(f) {
			continue
		}
		v := f.at(p)
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

// UnmarshalJSON sets the fields that b names and leaves the others as they are. An
// unknown or repeated name, or a value in the wrong form, is a [*PlanError].
func (p *Plan) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.New("not a JSON object of fields")
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name := key.(string) // keys of a JSON object are strings
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		f, err := findField(name, string(value))
		if err != nil {
			return err
		}
		if seen[name] {
			return &PlanError{name, string(value), "give each field once"}
		}
		seen[name] = true
		if err := f.setJSON(p, value); err != nil {
			return err
		}
	}
	return nil
}

// setJSON sets f to its value in a file, where text, choices and hexadecimal digits
// are in quotes.
func (f *Field) setJSON(p *Plan, value json.RawMessage) error {
	switch f.at(p).(type) {
	case *uint8, *string, *Bytes:
		var text string
		if json.Unmarshal(value, &text) != nil || value[0] != '"' {
			return &PlanError{f.Name, string(value), "put the value in quotes"}
		}
		return f.set(p, text)
	}
	return f.set(p, string(value))
}

// Set sets the named field to the value of text: a name for a choice, JSON for a list,
// hexadecimal digits for bytes, and a number otherwise. After an error, which is a
// [*PlanError], the plan is unchanged.
func (p *Plan) Set(name, text string) error {
	f, err := findField(name, text)
	if err != nil {
		return err
	}
	return f.set(p, text)
}

func (f *Field) set(p *Plan, text string) error {
	var parsed Plan
	at := f.at(&parsed)
	if err := f.parse(at, text); err != nil {
		return &PlanError{f.Name, text, err.Error()}
	}
	copyValue(f.at(p), at)
	return nil
}

// parse reads text into *at; its error is the remedy of a PlanError.
func (f *Field) parse(at any, text string) error {
	switch v := at.(type) {
	case *uint8:
		n, err := enumValue(f.names, text)
		if err != nil {
			return errors.New("choose one of " + enumList(f.names))
		}
		*v = n
	case *string:
		*v = text
	case *Bytes:
		if v.UnmarshalText([]byte(text)) != nil {
			return errors.New("give hexadecimal digits")
		}
	case *uint32:
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return fmt.Errorf("give a whole number, %s", f.Range())
		}
		*v = uint32(n)
	case *uint64:
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("give a whole number, %s", f.Range())
		}
		*v = n
	case *float32:
		n, err := strconv.ParseFloat(text, 32)
		if err != nil {
			return fmt.Errorf("give a number %s", f.Range())
		}
		*v = float32(n)
	default:
		return parseList(v, text)
	}
	return nil
}

func parseList(list any, text string) error {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(list); err != nil {
		return fmt.Errorf("give a JSON list: %v", err)
	}
	if _, err := d.Token(); err != io.EOF || isZero(list) && text[0] != '[' {
		return errors.New("give one JSON list")
	}
	return nil
}

// ReadPlan reads a plan file and validates it. The file is a JSON object keyed by the
// field names of [Fields]. Its [*PlanError] can be explained by package plancheck.
func ReadPlan(r io.Reader) (*Plan, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxPlanFile))
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	p := &Plan{}
	if err := json.Unmarshal(b, p); err != nil {
		if fault := (*PlanError)(nil); errors.As(err, &fault) {
			return nil, fault
		}
		return nil, fmt.Errorf("plan: %w", err)
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return p, nil
}

// maxPlanFile is more than the longest plan takes as JSON.
const maxPlanFile = 1 << 20
