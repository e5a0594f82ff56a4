package planfile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zofl/zofl/plan"
)

// Set sets the named field to the value of text: a name for a choice, JSON for a list, hexadecimal
// digits for bytes, and a number otherwise. For step and mu text may also be "auto": then Set sets
// step_auto or mu_auto, and a number resets it. For perturbations "auto" sets perturbations_auto,
// and for length_scale "fit" sets length_fit; a number resets neither. The error is a
// [*plan.Error]. After an error the plan is unchanged.
func Set(p *plan.Plan, name, text string) error {
	switch {
	case name == "length_scale" && text == "fit":
		name, text = "length_fit", "on"
	case name == "perturbations" && text == autoText:
		name, text = "perturbations_auto", "on"
	}
	f, err := find(name, text)
	if err != nil {
		return err
	}
	if err := set(f, p, text); err != nil {
		return err
	}
	if auto := autoOf(f, p); auto != nil && text != autoText {
		*auto = 0
	}
	if name == "step" && text != autoText {
		p.StepAfter = 0 // nobody looks for the step
	}
	return nil
}

// SetAll sets fields from settings of the form name=value, in their order, and returns their names.
// The error is a [*plan.Error]. SetAll does not undo the settings before a wrong setting.
func SetAll(p *plan.Plan, settings []string) (names []string, err error) {
	for _, s := range settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return names, &plan.Error{Field: s, Value: "nothing",
				Remedy: "write it as field=value, such as rounds=3000"}
		}
		if err := Set(p, name, value); err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, nil
}

// SetChange adds the named field to a change, or replaces the field's value. text has the form that
// [Set] reads. With "auto" devices find the value again. Call [Auto] too if mu is a number in the
// plan. The error is a [*plan.Error].
func SetChange(c *plan.Change, name, text string) error {
	f, err := find(name, text)
	if err != nil {
		return err
	}
	if !f.Changeable {
		return &plan.Error{Field: name, Value: text,
			Remedy: "this field is fixed for the whole run: start another run"}
	}
	if err := set(f, &c.Values, text); err != nil {
		return err
	}
	if at, found := slices.BinarySearch(c.Fields, f.Number); !found {
		c.Fields = slices.Insert(c.Fields, at, f.Number)
	}
	return nil
}

// Auto adds field mu_auto to a change with mu=auto, for a plan in which mu is a number.
func Auto(c *plan.Change, p *plan.Plan) {
	f, _ := plan.FieldNamed("mu_auto")
	mu, _ := plan.FieldNamed("mu")
	if p.MuAuto > 0 || c.Values.MuAuto == 0 || !slices.Contains(c.Fields, mu.Number) {
		return
	}
	if at, found := slices.BinarySearch(c.Fields, f.Number); !found {
		c.Fields = slices.Insert(c.Fields, at, f.Number)
	}
}

// find returns the named field, or a [*plan.Error] that shows value.
func find(name, value string) (plan.Field, error) {
	f, ok := plan.FieldNamed(name)
	if !ok {
		remedy := "no field has this name; `zofl plan --fields` lists them"
		if like := Nearest(name, fieldNames()); like != "" {
			remedy = "no field has this name: did you mean " + like +
				"? `zofl plan --fields` lists them"
		}
		return plan.Field{}, &plan.Error{Field: name, Value: value, Remedy: remedy}
	}
	return f, nil
}

func fieldNames() (names []string) {
	for _, f := range plan.Fields() {
		names = append(names, f.Name)
	}
	return names
}

func set(f plan.Field, p *plan.Plan, text string) error {
	one := plan.Change{Fields: []uint64{f.Number}}
	auto := autoOf(f, p)
	if auto == nil || text != autoText {
		if err := parse(f, &one.Values, text); err != nil {
			remedy := err.Error()
			if auto != nil {
				remedy = "give auto, or a number " + f.Range()
			}
			return &plan.Error{Field: f.Name, Value: text, Remedy: remedy}
		}
	} else {
		*auto = 1
	}
	one.Apply(p)
	return nil
}

// autoText is the value of a step or mu that the devices of a run find.
const autoText = "auto"

// autoOf returns step_auto for step and mu_auto for mu, nil for other fields.
func autoOf(f plan.Field, p *plan.Plan) *uint8 {
	switch f.Name {
	case "step":
		return &p.StepAuto
	case "mu":
		return &p.MuAuto
	}
	return nil
}

// meant asks whether the one of the names was meant that most resembles text.
func meant(text string, names []string) string {
	if like := Nearest(text, names); like != "" {
		return ": did you mean " + like + "?"
	}
	return ""
}

// parse reads text into the field of p. The text of the error is the Remedy of a [plan.Error].
func parse(f plan.Field, p *plan.Plan, text string) error {
	switch v := f.At(p).(type) {
	case *uint8:
		choice := slices.Index(f.Choices(), text)
		if choice < 0 || text == "" {
			return errors.New("choose " + f.Range() + meant(text, f.Choices()))
		}
		*v = uint8(choice)
	case *string:
		*v = text
	case *plan.Bytes:
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
		return parseList(f, p, text)
	}
	return nil
}
