package plan

import "fmt"

// A PlanError names the faulty field of a plan, its value, and what to do about it. Where a
// combination of fields is refused, Remedy only names the fields that exclude each other; package
// plancheck adds the reason and the remedy.
type Error struct {
	Field  string
	Value  any
	Remedy string
}

func (e *Error) Error() string {
	return fmt.Sprintf("plan: %s = %v: %s", e.Field, e.Value, e.Remedy)
}
