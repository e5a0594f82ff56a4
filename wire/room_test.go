package wire_test

import (
	"testing"

	"github.com/zofl/zofl/wire"
)

// TestRoom: on a connection that takes the longest frame, Room returns most. On another connection
// Room leaves space for the rest of the frame.
func TestRoom(t *testing.T) {
	for _, tt := range []struct {
		payload    int64
		most, want uint64
	}{
		{0, wire.MaxFrame, wire.MaxFrame}, {wire.MaxFrame, wire.MaxFrame, wire.MaxFrame},
		{1 << 20, wire.MaxPiece, wire.MaxPiece}, {64000, wire.MaxPiece, wire.MaxPiece},
		{64000, wire.MaxFrame, 63744}, {1024, wire.MaxFrame, 768}, {100, wire.MaxFrame, 1},
		{1024, 5, 5},
	} {
		if got := wire.Room(tt.payload, tt.most); got != tt.want {
			t.Errorf("room on a connection of %d for %d: %d, want %d", tt.payload, tt.most, got, tt.want)
		}
	}
}
