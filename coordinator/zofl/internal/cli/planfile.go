package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/zofl/zofl/internal/textfile"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
)

// ReadPlan reads the plan in a file. Its errors are usage errors. For wrong JSON they say the
// position in the file.
func ReadPlan(ctx context.Context, name string) (*plan.Plan, error) {
	text, err := ReadFile(ctx, name)
	if err != nil {
		return nil, FileFault("plan", name, err)
	}
	text = textfile.JSON(text) // errors count lines and columns of this text
	p, err := planfile.Parse(text)
	if err == nil {
		err = plancheck.Validate(p)
	}
	if err == nil {
		return p, nil
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		line, column := position(text, syntax)
		return nil, Usage(fmt.Errorf("%s:%d:%d: %w: a plan is JSON, as zofl plan --write stores it",
			name, line, column, syntax))
	}
	return nil, Usage(fmt.Errorf("%s: %w", name, err))
}

// position returns the line and the column of a JSON syntax error. Both count from 1.
func position(text []byte, syntax *json.SyntaxError) (line, column int) {
	at := min(int(syntax.Offset), len(text)) // the bytes read, with the wrong one
	if at > 0 && !strings.HasPrefix(syntax.Error(), "unexpected end") {
		at--
	}
	before := text[:at]
	begin := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte{'\n'}), 1 + utf8.RuneCount(before[begin:])
}

// AsUsage marks errors of a plan as usage errors, because the person who wrote the plan can correct
// them.
func AsUsage(err error) error {
	if fault := (*plan.Error)(nil); errors.As(err, &fault) {
		return Usage(err)
	}
	return err
}

// WritePlan stores a plan in a new file, nested by section, or flat with all fields. It never
// overwrites a file, because an old plan may hold the run key of a run.
func WritePlan(flag, name string, p *plan.Plan, flat bool) error {
	text, err := planfile.Nested(p)
	if flat {
		text, err = json.Marshal((*planfile.Plan)(p))
	}
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	err = WriteNew(name, 0o644, func(w io.Writer) error {
		_, err := b.WriteTo(w)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrExist):
		return Usage(fmt.Errorf("%s: %w: a plan is never overwritten, because that would "+
			"lose the run key of a run: name a new file", flag, err))
	case err != nil:
		return NewFileFault(flag, name, err)
	}
	return nil
}
