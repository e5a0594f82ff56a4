package mobile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A fault is an error with its code.
type fault struct {
	code string
	err  error
}

func (f *fault) Error() string {
	return f.code + ": " + strings.TrimPrefix(printable(message(f.err)), f.code+": ")
}

// maxText is the largest number of bytes of a text that the library passes to the app. A text from
// a server or an exception may have megabytes, and Java's heap may have no room for them.
const maxText = 16 << 10

// printable turns a text that may come from a server into valid UTF-8: Objective-C turns any other
// text into null.
func printable(s string) string {
	if len(s) > maxText {
		s = s[:maxText] + "..."
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func (f *fault) Unwrap() error { return f.err }

// message returns the text of an error without the names of Go packages, because app developers do
// not know these packages.
func message(err error) string {
	parts := strings.Split(err.Error(), ": ")
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool {
		return s == "client" || s == "replica" || s == "objective"
	}), ": ")
}

func faultf(code, format string, args ...any) error {
	return &fault{code, fmt.Errorf(format, args...)}
}

// marks maps errors of other packages to codes. More specific errors come first.
var marks = []struct {
	err  error
	code string
}{
	{bus.ErrPermission, CodePermission},
	{bus.ErrOffline, CodeOffline},
	{bus.ErrNoResponders, CodeQuiet},
	{client.ErrQuiet, CodeQuiet},
	{client.ErrRefused, CodeRefused},
	{client.ErrPlan, CodePlan},
	{client.ErrLoss, CodeLoss},
	{replica.ErrDim, CodeDim},
	{replica.ErrInitial, CodeInitial},
	{replica.ErrForeign, CodeStore}, // state of another run
	{plan.ErrRunKey, CodeRunKey},
	{wire.ErrUpgrade, CodeUpgrade},
	{client.ErrRunning, CodeRunning},
	{client.ErrStoreLocked, CodeLocked},
	{client.ErrStore, CodeStore},
	{objective.ErrRevoked, CodeRevoked},
	{client.ErrDiverged, CodeDiverged},
	{client.ErrConfig, CodeConfig},
}

// codeOf returns the code of any error.
func codeOf(err error) string {
	if f := (*fault)(nil); errors.As(err, &f) {
		return f.code
	}
	for _, m := range marks {
		if errors.Is(err, m.err) {
			return m.code
		}
	}
	if plan := (*plan.Error)(nil); errors.As(err, &plan) {
		return CodePlan
	}
	return CodeFault
}

// coded gives an error its code.
func coded(err error) error {
	if _, ok := err.(*fault); ok || err == nil {
		return err
	}
	return &fault{codeOf(err), err}
}

// declines maps the reasons for declining a round to codes.
var declines = map[wire.DeclineReason]string{
	wire.DeclinePolicy: CodePolicy, wire.DeclineTime: CodeTime, wire.DeclineLoss: CodeLoss,
	wire.DeclineBusy: CodeBusy, wire.DeclineTooLarge: CodeLoss,
}
