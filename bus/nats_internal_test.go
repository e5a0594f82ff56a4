package bus

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
)

// If a caller can act on an error of nats.go, the translated error matches one of the Err
// variables. The translated error still matches the original one.
func TestTranslate(t *testing.T) {
	socket := &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE}
	for _, tt := range []struct{ err, want error }{
		{nats.ErrNoResponders, ErrNoResponders},
		{nats.ErrConnectionClosed, ErrClosed},
		{nats.ErrDisconnected, ErrOffline},
		{nats.ErrReconnectBufExceeded, ErrOffline},
		{socket, ErrOffline},
		{socket, syscall.EPIPE},
		{net.ErrClosed, ErrOffline},
		{nats.ErrBadSubject, ErrSubject},
		{context.DeadlineExceeded, context.DeadlineExceeded},
	} {
		for _, err := range []error{tt.err, fmt.Errorf("nats: %w", tt.err)} {
			if got := translate(err); !errors.Is(got, tt.want) {
				t.Errorf("%v is %v, want %v", err, got, tt.want)
			}
		}
	}
	if got := translate(context.DeadlineExceeded); errors.Is(got, ErrOffline) {
		t.Errorf("the end of a context is %v", got)
	}
}
