package mobile

import "runtime/debug"

// guard turns a panic into an error. Every method that the app calls defers it.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = panicked(p)
	}
}

// contain swallows a panic. Methods without an error result defer it and return their zero
// value.
func contain() { _ = recover() }

func panicked(p any) error { return faultf(CodePanic, "%v\n%s", p, debug.Stack()) }
