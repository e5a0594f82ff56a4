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
			return frozen(f, text)
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

// frozen returns an error for segments with a factor of 0. A plan has 0 for a factor that is not
// given, which is 1, and the author of a 0 wants the parameters to stay as they are.
func frozen(f plan.Field, text string) error {
	if f.Name != "segments" {
		return nil
	}
	var list []struct {
		Name string
		Mu   *float32 `json:"mu_scale"`
		Step *float32 `json:"step_scale"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return err
	}
	for _, s := range list {
		zero := ""
		switch {
		case s.Mu != nil && *s.Mu == 0:
			zero = "mu_scale"
		case s.Step != nil && *s.Step == 0:
			zero = "step_scale"
		default:
			continue
		}
		return fmt.Errorf("%s=0 of %q would mean 1. What a run does not train is no parameter of it: "+
			"take the segment out, and its len out of dim, and let your app keep its values; of a "+
			"model in a file, --initial FILE --train '*,!PATTERN' leaves tensors out", zero, s.Name)
	}
	return nil
}
