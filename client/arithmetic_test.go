package client

import (
	"context"
	"errors"
	"testing"

	"github.com/zofl/zofl/internal/flush"
)

// A thread that flushes subnormal numbers to zero would take part with other parameters.
func TestArithmetic(t *testing.T) {
	var refused error
	if !flush.While(func() { refused = new(Client).Run(context.Background()) }) {
		t.Skip("only amd64 can be set to flush here")
	}
	if !errors.Is(refused, ErrArithmetic) {
		t.Errorf("got %v, want %v", refused, ErrArithmetic)
	}
	if !sound() {
		t.Error("this thread should compute as others do")
	}
}
