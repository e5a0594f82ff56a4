package plan

import "fmt"

// A PlanError names the field of a plan that cannot be used, its value and
// what to do about it. Where a combination of fields is refused, Remedy says
// only what does not go together; package plancheck adds why and what to do.
type Error struct {
	Field  string
	Value  any
	Remedy string
}

func (e *Error) Error() string {
	return fmt.Sprintf("plan: %s = %v: %s", e.Field, e.Value, e.Remedy)
}
