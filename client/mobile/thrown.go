package mobile

import (
	"errors"
	"strings"
)

// A binding for Java passes a throwable as the text that its class go.Thrown makes: class, message
// and stack, with throwSign between them.
const throwSign = "\x1f"

var errSilent = errors.New("an exception without a message")

// A thrown is an exception that an app threw.
type thrown struct {
	error                 // the binding's error, whose text only Error returns
	class, message, stack string
}

// Error returns the text with which Java prints a throwable.
func (t *thrown) Error() string {
	text := t.class
	if t.message != "" {
		text += ": " + t.message
	}
	return strings.TrimSuffix(text+"\n"+t.stack, "\n")
}

func (t *thrown) Unwrap() error { return t.error }

// said makes the error of a callback readable: the result names the class of the exception, and has
// its stack.
func said(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if text == "" {
		return errSilent
	}
	if parts := strings.SplitN(text, throwSign, 3); len(parts) == 3 {
		return &thrown{err, parts[0], parts[1], parts[2]}
	}
	return err
}

// reason returns an error whose text is for people: the message of the exception, or its class if
// it has no message.
func reason(err error) error {
	err = said(err)
	switch t, ok := err.(*thrown); {
	case !ok:
		return err
	case t.message != "":
		return errors.New(t.message)
	default:
		return errors.New(t.class)
	}
}
