package plan

import "fmt"

// An Error names the faulty field of a plan, the field's value, and what to do about it. For fields
// that exclude each other, Remedy of an Error from package valid names only these fields. Package
// plancheck adds the reason and the remedy.
type Error struct {
	Field  string
	Value  any
	Remedy string
}

func (e *Error) Error() string {
	return fmt.Sprintf("plan: %s = %v: %s", e.Field, e.Value, e.Remedy)
}
