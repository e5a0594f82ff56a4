package tensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// A .safetensors file is the length of a header in 8 bytes, the header as JSON, and the elements
// of one tensor after the other, without gaps. https://huggingface.co/docs/safetensors
const maxSafetensorsHeader = 100_000_000

// safetensorsBits has the bits of an element for each known type. Write copies tensors of other
// types unchanged.
var safetensorsBits = map[string]uint64{
	"BOOL": 8, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F4": 4,
	"I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
	"I64": 64, "U64": 64, "F64": 64, "C64": 64,
}

var safetensorsIntegers = []string{"BOOL", "U8", "I8", "I16", "U16", "I32", "U32", "I64", "U64"}

// short returns the remedy for a file with too few bytes if is is true, otherwise "".
func short(is bool) string {
	if is {
		return ": the file is cut short: copy or download it again"
	}
	return ""
}

func (f *File) parseSafetensors() error {
	begin := make([]byte, min(f.size, 9))
	if _, err := f.src.ReadAt(begin, 0); err != nil && err != io.EOF {
		return err
	}
	n := uint64(math.MaxUint64)
	if len(begin) >= 8 {
		n = binary.LittleEndian.Uint64(begin)
	}
	switch long := n > maxSafetensorsHeader || int64(n) > f.size-8; {
	case long && !mayBeSafetensors(begin):
		return errors.New("it is no .safetensors file, whose first 8 bytes are the length of its " +
			"header: save it with safetensors")
	case long:
		return fmt.Errorf("its header claims %d bytes, of %d that follow and %d that are allowed%s",
			n, f.size-8, maxSafetensorsHeader, short(n <= maxSafetensorsHeader))
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(f.src, 8, int64(n)), header); err != nil {
		return err
	}
	if err := f.readSafetensorsHeader(header); err != nil {
		return fmt.Errorf("header: %w: %s", err, damaged)
	}
	return f.placeSafetensors(8 + int64(n))
}

// damaged is the remedy for a file whose parts contradict each other.
const damaged = "the file is damaged: copy or download it again, or save it again"

// mayBeSafetensors says whether a file with these first bytes, nine or all, may be a .safetensors
// file: the header follows its length, and begins with a brace.
func mayBeSafetensors(begin []byte) bool {
	return len(begin) == 8 || len(begin) > 8 && begin[8] == '{'
}

// readSafetensorsHeader reads the header's entry for each tensor. The positions in the spans count
// from the end of the header.
func (f *File) readSafetensorsHeader(header []byte) error {
	d := json.NewDecoder(bytes.NewReader(header))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.New("it is not a JSON object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value map[string]json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("%q: %w", key, err)
		}
		if key == "__metadata__" {
			continue
		}
		t, err := safetensorOf(key.(string), value)
		if err != nil {
			return fmt.Errorf("%q: %w", key, err)
		}
		f.Tensors = append(f.Tensors, t)
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the JSON object")
	}
	return nil
}

func safetensorOf(name string, value map[string]json.RawMessage) (t Tensor, err error) {
	var at []uint64
	t.Name = name
	for key, to := range map[string]any{"dtype": &t.Type, "shape": &t.Shape, "data_offsets": &at} {
		if value[key] == nil {
			return t, fmt.Errorf("it has no %s", key)
		}
		if err := json.Unmarshal(value[key], to); err != nil {
			return t, fmt.Errorf("%s: %w", key, err)
		}
	}
	n, err := count(t.Shape)
	if err != nil {
		return t, err
	}
	if len(at) != 2 || at[0] > at[1] || at[1] > 1<<56 {
		return t, fmt.Errorf("its data_offsets are %d, not a begin and an end", at)
	}
	if wide, known := safetensorsBits[t.Type]; known && wide*n != 8*(at[1]-at[0]) {
		return t, fmt.Errorf("%d bytes are not %v of %s", at[1]-at[0], t.Shape, t.Type)
	}
	t.spans = []span{{int64(at[0]), int64(at[1] - at[0])}}
	t.Len = n
	kind := map[string]string{"F32": "float32", "F16": "float16", "BF16": "bfloat16"}[t.Type]
	t.setType(kind, binary.LittleEndian, !slices.Contains(safetensorsIntegers, t.Type))
	return t, nil
}

// placeSafetensors checks that the tensors fill the bytes after the header without gaps.
func (f *File) placeSafetensors(begin int64) error {
	slices.SortFunc(f.Tensors, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(a.spans[0].at, b.spans[0].at),
			cmp.Compare(a.spans[0].bytes, b.spans[0].bytes))
	})
	at := begin
	for i := range f.Tensors {
		s := &f.Tensors[i].spans[0]
		if s.at != at-begin {
			return fmt.Errorf("tensor %q begins at byte %d, and %d is next: %s", f.Tensors[i].Name, s.at,
				at-begin, damaged)
		}
		if s.bytes > f.size-at {
			return fmt.Errorf("tensor %q ends behind the file%s", f.Tensors[i].Name, short(true))
		}
		s.at, at = at, at+s.bytes
	}
	if at != f.size {
		return fmt.Errorf("%d bytes at its end are of no tensor: %s", f.size-at, damaged)
	}
	return nil
}
