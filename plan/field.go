package plan

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	"github.com/zofl/zofl/internal/codec"
)

// Bytes is a binary value. Plan files have it in hexadecimal.
type Bytes []byte

func (b Bytes) String() string { return hex.EncodeToString(b) }

func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

func (b *Bytes) UnmarshalText(text []byte) error {
	v, err := hex.DecodeString(string(text))
	if err != nil {
		return fmt.Errorf("%q is not hexadecimal", text)
	}
	*b = v
	return nil
}

// A Field describes one field of a plan.
type Field struct {
	Number     uint64 // in a record
	Name       string // in files, messages and flags
	Section    string // see [Sections]
	Doc        string
	Unit       string   // of a number; "" for a plain one
	Usual      string   // a value that many plans give the field, as text
	Changeable bool     // whether a change record can change it
	index      []int    // index of the field's value in a Plan
	goName     string   // of its value in Go; "": Name, in letters of any case and without _
	names      []string // names of a choice, by number
	min, max   float64  // limits of a number; max 0: no limits
}

// Fields lists the fields of all sections by ascending number, from 1. Some numbers are missing. No
// later version will use a missing number, because test vectors use it for an unknown field.
func Fields() []Field { return slices.Clone(planFields) }

// FieldNamed returns the field with a name.
func FieldNamed(name string) (f Field, ok bool) {
	for i := range planFields {
		if planFields[i].Name == name {
			return planFields[i], true
		}
	}
	return f, false
}

// Choices returns the names of a choice by number, with "" for unused numbers; nil for other
// fields.
func (f Field) Choices() []string { return slices.Clone(f.names) }

// Choice returns the name of a choice.
func (f Field) Choice(v uint8) string { return codec.Name(f.names, int(v)) }

// At returns a pointer to the field of p: to a uint8 for a choice, else to a string,
// uint32, uint64, float32, [Bytes] or list.
func (f Field) At(p *Plan) any {
	v := f.value(p).Addr()
	if f.names != nil {
		v = v.Convert(reflect.TypeFor[*uint8]())
	}
	return v.Interface()
}

// value returns the field of p, which can be set.
func (f *Field) value(p *Plan) reflect.Value {
	return reflect.ValueOf(p).Elem().FieldByIndex(f.index)
}

// IsZero says whether the field of p is zero, so that records and files leave it out.
func (f Field) IsZero(p *Plan) bool { return f.Measure(p) == 0 }

// Measure returns the field of p as a number: a choice by its number, text and lists by their
// length.
func (f *Field) Measure(p *Plan) float64 {
	v := f.value(p)
	switch {
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return v.Float()
	}
	return float64(v.Len())
}

// Form returns the form of the field's values: "choice", "text", "hex", "whole
// number", "number" or "list".
func (f Field) Form() string {
	switch v := f.value(&Plan{}); {
	case f.names != nil:
		return "choice"
	case v.Kind() == reflect.String:
		return "text"
	case v.Type() == reflect.TypeFor[Bytes]():
		return "hex"
	case v.CanUint():
		return "whole number"
	case v.CanFloat():
		return "number"
	}
	return "list"
}

// Range returns the values that the field allows by itself, such as "1..65535" or "one of forward,
// central"; "" if the allowed values have no short description.
func (f Field) Range() string {
	switch {
	case f.names != nil:
		return "one of " + enumList(f.names)
	case f.max > 0:
		return fmt.Sprintf("%s..%s", decimal(f.min), decimal(f.max))
	}
	return ""
}

// decimal writes whole numbers up to 2^53 in full.
func decimal(v float64) string {
	if v == math.Trunc(v) && v <= MaxRound {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

const (
	anyUint32 = math.MaxUint32
	// MaxRound is the largest round number; a float64 represents it exactly.
	MaxRound = 1 << 53
)

// Auto says whether the devices of a run find the field's value if the value is 0: mu of a plan
// with MuAuto, or step of a plan with StepAuto.
func (f *Field) Auto(p *Plan) bool {
	return f.Name == "mu" && p.MuAuto > 0 || f.Name == "step" && p.StepAuto > 0
}

// absent says whether the plan has no use for the field, so that its value is 0: mu without
// differences.
func (f *Field) absent(p *Plan) bool { return f.Name == "mu" && p.Difference == NoDifference }

// fieldByNumber returns the field with a number, or nil.
func fieldByNumber(number uint64) *Field {
	for i := range planFields {
		if planFields[i].Number == number {
			return &planFields[i]
		}
	}
	return nil
}

// Check returns a [*Error] for a number outside its range, and for a choice without a name.
func (f *Field) Check(p *Plan) error {
	has := f.Measure(p)
	switch f.Form() {
	case "choice":
		if int(has) < len(f.names) && f.names[int(has)] != "" {
			return nil
		}
	case "number":
		if f.hasFloat(float32(has)) || has == 0 && (f.Auto(p) || f.absent(p)) {
			return nil
		}
	default:
		if f.has(has) {
			return nil
		}
	}
	value := f.value(p).Interface()
	if f.names != nil {
		value = uint8(has)
	}
	remedy := "choose a finite number"
	if f.Range() != "" {
		remedy = "choose " + f.Range()
	}
	return &Error{f.Name, value, f.Doc + ": " + remedy}
}

// has compares in float64, because float64 represents the limits of whole numbers exactly.
func (f *Field) has(v float64) bool { return f.max == 0 || v >= f.min && v <= f.max }

// hasFloat compares in float32, so that a value that equals a limit rounded to float32 is allowed.
func (f *Field) hasFloat(v float32) bool {
	return v-v == 0 && (f.max == 0 || v >= float32(f.min) && v <= float32(f.max))
}
