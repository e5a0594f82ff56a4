package tensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHalves: in every format with elements of 16 bits, the package converts them to float32 when
// it reads them, and rounds to the nearest when it writes them.
func TestHalves(t *testing.T) {
	const f16, bf16 = "\x00\x3c\x00\xc1", "\x80\x3f\x20\xc0" // 1 and -2.5
	raw := func(kind uint64, b string) string {
		return onnxModel(onnxFloats("w", []uint64{2}, onnxVarint(tensorType, kind),
			onnxBytes(tensorRaw, b)))
	}
	const header = "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }\n"
	st := `{"w":{"dtype":"%s","shape":[2],"data_offsets":[0,4]}}`
	for _, c := range []struct {
		format, file string
		third        float32 // as it is written
	}{
		{".safetensors", safetensors(fmt.Sprintf(st, "F16"), f16), 0.33325195},
		{".safetensors", safetensors(fmt.Sprintf(st, "BF16"), bf16), 0.33398438},
		{".onnx", raw(onnxFloat16, f16), 0.33325195},
		{".onnx", raw(onnxBFloat16, bf16), 0.33398438},
		{".npy", npy(fmt.Sprintf(header, "<f2"), f16), 0.33325195},
		{".npy", npy(fmt.Sprintf(header, ">f2"), "\x3c\x00\xc1\x00"), 0.33325195},
		{".npz", archive("w.npy", npy(fmt.Sprintf(header, "<f2"), f16)), 0.33325195},
	} {
		from := filepath.Join(t.TempDir(), "m"+c.format)
		if err := os.WriteFile(from, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		s := choose(t, from, nil)
		if x, err := s.Params(); err != nil || !same(x, []float32{1, -2.5}) {
			t.Errorf("%s: read %v, %v", c.format, x, err)
		}
		to := filepath.Join(t.TempDir(), "m"+c.format)
		if err := s.Write(to, []float32{1. / 3, 2}); err != nil {
			t.Fatal(err)
		}
		if x, err := choose(t, to, nil).Params(); err != nil || !same(x, []float32{c.third, 2}) {
			t.Errorf("%s: wrote 1/3 and 2, and read %v, %v", c.format, x, err)
		}
		err := s.Write(filepath.Join(t.TempDir(), "big"+c.format), []float32{1, math.MaxFloat32})
		if err == nil || !strings.Contains(err.Error(), "element 1 is 3.4028235e+38") {
			t.Errorf("%s: written beyond 16 bits: %v", c.format, err)
		}
	}
}

// TestEveryHalf: reading and writing keeps the bits of all elements of 16 bits, even of a NaN.
func TestEveryHalf(t *testing.T) {
	for _, kind := range []string{"float16", "bfloat16"} {
		e := floatOf(kind, binary.LittleEndian)
		for bits := range 1 << 16 {
			b, again := binary.LittleEndian.AppendUint16(nil, uint16(bits)), make([]byte, 2)
			if e.put(again, e.get(b)); !bytes.Equal(b, again) {
				t.Fatalf("%s: %x became %x", kind, b, again)
			}
		}
	}
}

// TestRounds: a parameter becomes the nearest element of 16 bits, of two the even one. A NaN stays
// a NaN even if its bits are too low for the element.
func TestRounds(t *testing.T) {
	for kind, cases := range map[string]map[uint32]uint16{
		"float16": {
			0x3f801000: 0x3c00, 0x3f801001: 0x3c01, 0x3f803000: 0x3c02, // near 1
			0xbf803000: 0xbc02,
			0x33800000: 1, 0x33000000: 0, 0x33000001: 1, 0x34200000: 2, 0x34600000: 4, // subnormal
			0x387fe000: 0x0400,                     // rounds up to the smallest normal
			0x477fefff: 0x7bff, 0x477ff000: 0x7c00, // the largest, and infinite
			0x7f800001: 0x7e00, 0xff801fff: 0xfe00, 0x7f802000: 0x7c01,
		},
		"bfloat16": {
			0x3f808000: 0x3f80, 0x3f808001: 0x3f81, 0x3f818000: 0x3f82, 0x3f817fff: 0x3f81,
			0xbf818000: 0xbf82,
			0x00008000: 0, 0x00008001: 1, 0x00018000: 2, 0x80018000: 0x8002, // subnormal
			0x7f7f7fff: 0x7f7f, 0x7f7f8000: 0x7f80, 0xff7fffff: 0xff80,
			0x7f800001: 0x7fc0, 0xff80ffff: 0xffc0, 0x7f810000: 0x7f81,
		},
	} {
		e := floatOf(kind, binary.LittleEndian)
		for from, want := range cases {
			b := make([]byte, 2)
			e.put(b, math.Float32frombits(from))
			if got := binary.LittleEndian.Uint16(b); got != want {
				t.Errorf("%s: %08x became %04x, want %04x", kind, from, got, want)
			}
		}
		inf := float32(math.Inf(-1))
		if err := e.fits([]float32{inf, -inf, float32(math.NaN()), 1e-30}); err != nil {
			t.Errorf("%s: what an element can hold is refused: %v", kind, err)
		}
	}
}
