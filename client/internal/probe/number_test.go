package probe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"testing"
)

// put stores numbers as encoding/binary would, and get reads them back.
func TestNumbers(t *testing.T) {
	long := make([]float32, floatsAtOnce+3)
	for i := range long {
		long[i] = float32(i) / 7
	}
	var want, got bytes.Buffer
	for _, v := range []any{uint32(1 << 30), uint64(1 << 60), math.Pi, []float32{}, long} {
		if err := binary.Write(&want, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
		put(&got, v)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Fatalf("%d bytes %x..., want %d: %x...",
			got.Len(), got.Bytes()[:32], want.Len(), want.Bytes()[:32])
	}
	var (
		small uint32
		large uint64
		y     float64
		back  = make([]float32, len(long))
	)
	for cut := range got.Len() {
		err := get(bytes.NewReader(got.Bytes()[:cut]), &small, &large, &y, back)
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("%d of %d bytes: %v", cut, got.Len(), err)
		}
	}
	if err := get(&got, &small, &large, &y, []float32{}, back); err != nil {
		t.Fatal(err)
	}
	if small != 1<<30 || large != 1<<60 || y != math.Pi || !slices.Equal(back, long) {
		t.Errorf("got %d, %d, %v, %v...", small, large, y, back[:4])
	}
}
