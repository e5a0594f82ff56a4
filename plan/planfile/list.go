package planfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/zofl/zofl/plan"
)

// parseList reads a JSON list into the field of p, and refuses null. The text of the error is the
// Remedy of a [plan.Error].
func parseList(f plan.Field, p *plan.Plan, text string) error {
	text = strings.TrimSpace(text)
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(f.At(p))
	if err == nil {
		if _, end := d.Token(); end == io.EOF && text[0] == '[' {
			return nil
		}
	}
	return fmt.Errorf("%sgive a JSON list such as %s", wrongPart(err), f.Usual)
}

// wrongPart says in plain words which part of a list made encoding/json fail, or "" if the text is
// no list of the right elements at all.
func wrongPart(err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return ""
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the list does not end: "
	case errors.As(err, &syntax):
		return fmt.Sprintf("character %d is not JSON: ", syntax.Offset)
	case errors.As(err, &kind) && kind.Field == "":
		return ""
	case errors.As(err, &kind):
		return fmt.Sprintf("%s takes no %s: ", kind.Field, kind.Value)
	}
	if key, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return key + " is no key of an element: "
	}
	return err.Error() + ": " // the name of a fill is wrong
}
