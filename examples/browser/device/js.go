//go:build js && wasm

package main

import (
	"fmt"
	"syscall/js"
)

// bytesOf copies a Uint8Array or a Uint8ClampedArray.
func bytesOf(array js.Value) []byte {
	b := make([]byte, array.Get("length").Int())
	js.CopyBytesToGo(b, array)
	return b
}

// arrayOf returns a Uint8Array with the same bytes.
func arrayOf(b []byte) js.Value {
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	return array
}

// caught turns a value that JavaScript threw into an error.
func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case js.Error:
		*err = fmt.Errorf("the browser says: %w", r)
	default:
		panic(r)
	}
}

// settle waits for an event of a request or transaction of IndexedDB, and returns its result.
func settle(of js.Value, good string, bad ...string) (js.Value, error) {
	done := make(chan error, 1)
	say := func(err error) {
		select {
		case done <- err:
		default:
		}
	}
	hear := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if args[0].Get("type").String() == good {
			say(nil)
		} else {
			say(fmt.Errorf("IndexedDB: %s", reason(of)))
		}
		return nil
	})
	defer hear.Release()
	for _, event := range append(bad, good) {
		of.Call("addEventListener", event, hear)
		defer of.Call("removeEventListener", event, hear)
	}
	err := <-done
	if err != nil {
		return js.Undefined(), err
	}
	return of.Get("result"), nil
}

// reason is the error of a request or transaction in words.
func reason(of js.Value) string {
	if e := of.Get("error"); e.Truthy() {
		return e.Get("message").String()
	}
	return "failed"
}
