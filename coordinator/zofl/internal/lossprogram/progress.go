package lossprogram

import (
	"context"
	"fmt"
	"slices"
)

// Follows reports whether the program said progress=1: it wants to know what happens.
func (p *Program) Follows() bool { return p.hello.progress }

// Tell tells the program what happened, as an object of JSON in one line. stop reports whether the
// program wants no more of what goes on.
func (p *Program) Tell(ctx context.Context, line string) (stop bool, err error) {
	err = p.session(ctx, p.shapeFor(1), func(t *talk, _ *sharedFile) error {
		words, err := t.ask(ctx, "progress "+line, "ok")
		stop = slices.Contains(words, "stop")
		return err
	})
	if err != nil {
		err = fmt.Errorf("the program was told of progress: %w", err)
	}
	return stop, err
}
