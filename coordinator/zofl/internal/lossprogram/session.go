package lossprogram

import (
	"context"
	"errors"
	"io"
)

// session calls ask with the running program's talk and a shared file of the given shape, or one
// with more points. It tells the program the file, and the scale if there is one.
func (p *Program) session(
	ctx context.Context, want shape, ask func(*talk, *sharedFile) error,
) error {
	return p.inTurn(ctx, func(t *talk) error {
		if err := p.mapFile(ctx, t, want); err != nil {
			return err
		}
		if err := p.tellScale(ctx, t); err != nil {
			return err
		}
		return ask(t, p.file)
	})
}

// inTurn calls ask with the running program's talk, after it waited for its turn and until the
// program is idle.
func (p *Program) inTurn(ctx context.Context, ask func(*talk) error) error {
	select {
	case <-p.turn:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { p.turn <- struct{}{} }()
	t, err := p.now()
	if err != nil {
		return err
	}
	if err := t.free(ctx); err != nil {
		return err
	}
	if err := ask(t); !errors.Is(err, io.EOF) {
		return err
	}
	return errors.New("the program ended before it answered")
}

// mapFile makes a shared file, unless there is one that does, and tells the program.
func (p *Program) mapFile(ctx context.Context, t *talk, want shape) error {
	if p.file != nil && p.file.check() != nil {
		want.points = max(want.points, p.file.points)
		p.file.close()
		p.file = nil
	}
	if p.file == nil || !p.file.serves(want) {
		if err := p.share(want); err != nil {
			return err
		}
	}
	if !p.knows(t) {
		p.file.holds = "" // an earlier program may have written to it
		if _, err := t.ask(ctx, p.file.request(), "ok"); err != nil {
			return err
		}
		p.learned(t)
	}
	return nil
}

// share makes a shared file of a shape.
func (p *Program) share(want shape) error {
	file, err := newSharedFile(want)
	if err != nil {
		return err
	}
	if p.file != nil {
		p.file.close()
	}
	p.file = file
	p.mu.Lock()
	p.mapped = false
	p.mu.Unlock()
	return nil
}

// knows says whether the program of a talk has been told the name of the current file.
func (p *Program) knows(t *talk) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mapped && p.current == t
}

func (p *Program) learned(t *talk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == t {
		p.mapped = true
	}
}
