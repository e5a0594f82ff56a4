package mobile

import "runtime/debug"

// guard turns a panic into an error. Methods with an error result that the app calls defer guard.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = panicked(p)
	}
}

// contain stops a panic. Methods without an error result defer contain, and return zero values
// after a panic.
func contain() { _ = recover() }

func panicked(p any) error { return faultf(CodePanic, "%v\n%s", p, debug.Stack()) }
