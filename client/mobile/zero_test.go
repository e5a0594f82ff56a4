package mobile

import (
	"fmt"
	"reflect"
	"testing"
)

// Bindings have constructors of their own, and apps may pass null. So every method must return,
// also for an object that NewClient did not make, and with an error if the method has an error
// result.
func TestZeroValues(t *testing.T) {
	for _, v := range []any{&Client{}, &Config{}, &Round{}, &Evaluation{}, &Plan{},
		&Model{}, &Chain{}, &Probes{}, &Segment{}} {
		of := reflect.TypeOf(v)
		for i := range of.NumMethod() {
			name := fmt.Sprintf("%v.%s", of, of.Method(i).Name)
			t.Run(name, func(t *testing.T) { callWithZeros(t, reflect.New(of.Elem()).Method(i)) })
		}
	}
	callWithZeros(t, reflect.ValueOf(NewClient))
	callWithZeros(t, reflect.ValueOf(ErrorCode))
	callWithZeros(t, reflect.ValueOf(StateName))
	callWithZeros(t, reflect.ValueOf(NewConfig))
}

// callWithZeros calls f with a zero for each argument, and checks its error.
func callWithZeros(t *testing.T, f reflect.Value) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panics: %v", p)
		}
	}()
	args := make([]reflect.Value, f.Type().NumIn())
	for i := range args {
		args[i] = reflect.Zero(f.Type().In(i))
	}
	for _, out := range f.Call(args) {
		err, isError := out.Interface().(error)
		if !isError {
			continue
		}
		if code := ErrorCode(err.Error()); code == "" || code == CodePanic || code == CodeFault {
			t.Errorf("got %q with code %q, want a code that says what is wrong", err, code)
		}
	}
}

// A client that NewClient did not make is idle and has no model.
func TestUnmadeClient(t *testing.T) {
	c := &Client{}
	if c.State() != StateIdle || c.Ended() || c.Dim() != 0 || c.Record() != 0 || c.Loss() == c.Loss() {
		t.Errorf("state %d, %v, dim %d, record %d, loss %v",
			c.State(), c.Ended(), c.Dim(), c.Record(), c.Loss())
	}
	for name, err := range map[string]error{"Run": c.Run(), "RunFor": c.RunFor(1), "Load": c.Load()} {
		if err == nil || err.Error() != "config: make the client with NewClient" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
