package mobile

import "runtime/debug"

// guard makes an error of a panic; deferred by all that the app calls.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = panicked(p)
	}
}

// contain lets a panic end here: for calls without an error result, which return
// their zero value then.
func contain() { _ = recover() }

func panicked(p any) error { return faultf(CodePanic, "%v\n%s", p, debug.Stack()) }
