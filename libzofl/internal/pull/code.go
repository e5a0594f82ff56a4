package pull

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A Code is what a call of the library returns: what to do next, or a negative number, an error.
type Code int32

// The codes of libzofl.h. Those from Value to Key mean the same in the C core.
const (
	Wait     Code = 0
	Evaluate Code = 4
	Paused   Code = 5
	Ended    Code = 6

	Value       Code = -4
	Upgrade     Code = -5
	Refused     Code = -7
	Unsupported Code = -8
	State       Code = -10
	Arithmetic  Code = -11
	Key         Code = -12

	BadConfig  Code = -32
	BadHandle  Code = -33
	Forked     Code = -34 // only the C side of the library returns it
	Permission Code = -35
	Dim        Code = -36
	Initial    Code = -37
	Store      Code = -38
	Fault      Code = -39
	Panic      Code = -40
)

// A fault is an error with its code.
type fault struct {
	code Code
	err  error
}

func (f *fault) Error() string { return plain(f.err.Error()) }
func (f *fault) Unwrap() error { return f.err }

func faultf(code Code, format string, args ...any) error {
	return &fault{code, fmt.Errorf(format, args...)}
}

// plain returns a text without the names of Go packages, which users of other languages do not
// know.
func plain(text string) string {
	parts := strings.Split(strings.ToValidUTF8(text, "?"), ": ")
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool {
		return s == "client" || s == "replica" || s == "objective"
	}), ": ")
}

// marks maps errors of other packages to codes. More specific errors come first.
var marks = []struct {
	err  error
	code Code
}{
	{bus.ErrPermission, Permission},
	{client.ErrRefused, Refused},
	{client.ErrArithmetic, Arithmetic},
	{client.ErrPlan, Unsupported},
	{replica.ErrDim, Dim},
	{replica.ErrInitial, Initial},
	{replica.ErrForeign, Store}, // state of another run
	{client.ErrStoreLocked, Store},
	{client.ErrStore, Store},
	{plan.ErrRunKey, Key},
	{wire.ErrUpgrade, Upgrade},
	{objective.ErrRevoked, State},
	{client.ErrConfig, BadConfig},
}

// Of returns the code of an error; nil: 0.
func Of(err error) Code {
	if err == nil {
		return 0
	}
	if f := (*fault)(nil); errors.As(err, &f) {
		return f.code
	}
	for _, m := range marks {
		if errors.Is(err, m.err) {
			return m.code
		}
	}
	if bad := (*plan.Error)(nil); errors.As(err, &bad) {
		return Unsupported
	}
	return Fault
}

// Text returns the text of an error for a person.
func Text(err error) string { return plain(err.Error()) }

// Guard turns a panic into an error. Functions that C calls defer Guard.
func Guard(err *error) {
	if p := recover(); p != nil {
		*err = faultf(Panic, "%v\n%s", p, debug.Stack())
	}
}

// BadValue returns the error of an argument that cannot be.
func BadValue(format string, args ...any) error { return faultf(Value, format, args...) }
