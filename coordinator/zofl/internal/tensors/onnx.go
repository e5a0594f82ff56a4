package tensors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of ONNX's messages that say where float32 tensors are.
// https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
const (
	modelGraph       = 7 // of ModelProto
	graphInitializer = 5 // of GraphProto

	// Of TensorProto.
	tensorDims     = 1
	tensorType     = 2
	tensorSegment  = 3
	tensorFloats   = 4
	tensorName     = 8
	tensorRaw      = 9
	tensorLocation = 14

	onnxFloat    = 1 // TensorProto.DataType
	onnxExternal = 1 // TensorProto.DataLocation
)

// onnxTypes are the names of TensorProto.DataType.
var onnxTypes = []string{"undefined", "float32", "uint8", "int8", "uint16", "int16", "int32",
	"int64", "string", "bool", "float16", "double", "uint32", "uint64", "complex64", "complex128",
	"bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4", "int4",
	"float4e2m1", "float8e8m0"}

// A field is one of a message: its value, and where that is in the file.
type field struct {
	number protowire.Number
	kind   protowire.Type
	value  []byte // without its length
	at     int64
}

// fields calls f for each field of a message that is at a place of the file.
func fields(message []byte, at int64, f func(field) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		size := protowire.ConsumeFieldValue(number, kind, message[n:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		v := message[n : n+size]
		if kind == protowire.BytesType {
			v, _ = protowire.ConsumeBytes(v)
		}
		message, at = message[n+size:], at+int64(n+size)
		if err := f(field{number, kind, v, at - int64(len(v))}); err != nil {
			return err
		}
	}
	return nil
}

// number returns the value of a field that is one.
func (f *field) integer() uint64 {
	v, _ := protowire.ConsumeVarint(f.value)
	return v
}

// parseONNX finds the initializers of the main graph.
func (f *File) parseONNX() error {
	if f.size > math.MaxInt32 {
		return errors.New("it has more than 2 GiB, and a protocol buffer cannot")
	}
	model := make([]byte, f.size)
	if _, err := io.ReadFull(f.section(), model); err != nil {
		return err
	}
	err := fields(model, 0, func(part field) error {
		if part.number != modelGraph || part.kind != protowire.BytesType {
			return nil
		}
		return fields(part.value, part.at, func(part field) error {
			if part.number != graphInitializer || part.kind != protowire.BytesType {
				return nil
			}
			t, err := initializer(part)
			f.Tensors = append(f.Tensors, t)
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("%w: save it with onnx.save", err)
	}
	return nil
}

// An onnxTensor is a TensorProto.
type onnxTensor struct {
	Tensor
	kind            uint64
	raw             []span
	floats          []span
	hasRaw, segment bool
	external        bool
}

// initializer reads a TensorProto.
func initializer(message field) (Tensor, error) {
	var t onnxTensor
	t.order = binary.LittleEndian
	if err := fields(message.value, message.at, t.read); err != nil {
		return t.Tensor, err
	}
	t.Type = fmt.Sprint("type ", t.kind)
	if t.kind < uint64(len(onnxTypes)) {
		t.Type = onnxTypes[t.kind]
	}
	switch {
	case t.kind != onnxFloat:
		t.Why = errType(t.Type, t.kind == 10 || t.kind == 11 || t.kind >= 16 && t.kind <= 20)
		return t.Tensor, nil
	case t.external:
		t.Why = errors.New("its elements are in another file: save the model in one, with " +
			"onnx.save_model(m, f, save_as_external_data=False)")
		return t.Tensor, nil
	case t.segment:
		t.Why = errors.New("it is a segment of a tensor: save it whole")
		return t.Tensor, nil
	case t.hasRaw && len(t.floats) > 0:
		return t.Tensor, fmt.Errorf("initializer %q has its elements twice", t.Name)
	case t.hasRaw:
		t.spans = t.raw
	default:
		t.spans = t.floats
	}
	return t.Tensor, t.fits()
}

// fits checks that the number of elements is the one that the shape gives.
func (t *onnxTensor) fits() (err error) {
	if t.Len, err = count(t.Shape); err != nil {
		return fmt.Errorf("initializer %q: %w", t.Name, err)
	}
	have := int64(0)
	for _, s := range t.spans {
		if s.bytes%4 != 0 {
			have = -1
			break
		}
		have += s.bytes
	}
	if have != int64(4*t.Len) {
		return fmt.Errorf("initializer %q: its elements are not %v float32", t.Name, t.Shape)
	}
	return nil
}

// read takes one field of a TensorProto.
func (t *onnxTensor) read(f field) error {
	place := span{f.at, int64(len(f.value))}
	packed := f.kind == protowire.BytesType
	switch {
	case f.number == tensorDims:
		return t.dims(f)
	case f.number == tensorType && f.kind == protowire.VarintType:
		t.kind = f.integer()
	case f.number == tensorSegment:
		t.segment = true
	case f.number == tensorFloats && (packed || f.kind == protowire.Fixed32Type):
		if place.bytes > 0 {
			t.floats = append(t.floats, place)
		}
	case f.number == tensorName && packed:
		t.Name = string(f.value)
	case f.number == tensorRaw && packed:
		t.raw, t.hasRaw = []span{place}, true
	case f.number == tensorLocation && f.kind == protowire.VarintType:
		t.external = f.integer() == onnxExternal
	}
	return nil
}

// dims appends sides, which come one by one or many in a field.
func (t *onnxTensor) dims(f field) error {
	for b := f.value; len(b) > 0; {
		side, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		if side > math.MaxInt64 {
			return fmt.Errorf("a side of %d elements", int64(side))
		}
		t.Shape, b = append(t.Shape, side), b[n:]
	}
	return nil
}
