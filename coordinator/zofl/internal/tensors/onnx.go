package tensors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// These constants are the numbers of the fields in ONNX's messages that say where float32 tensors
// are. https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
const (
	modelGraph       = 7 // of ModelProto
	graphNode        = 1 // of GraphProto
	graphInitializer = 5 // of GraphProto
	nodeOutput       = 2 // of NodeProto
	nodeKind         = 4 // of NodeProto
	nodeAttribute    = 5 // of NodeProto
	attributeTensor  = 5 // of AttributeProto
	attributeFloats  = 7
	attributeSparse  = 22

	// Of TensorProto.
	tensorDims     = 1
	tensorType     = 2
	tensorSegment  = 3
	tensorFloats   = 4
	tensorInt32s   = 5 // float16 and bfloat16 elements too, each as a varint
	tensorName     = 8
	tensorRaw      = 9
	tensorLocation = 14

	onnxFloat    = 1 // TensorProto.DataType
	onnxFloat16  = 10
	onnxDouble   = 11
	onnxBFloat16 = 16
	onnxExternal = 1 // TensorProto.DataLocation
)

// onnxTypes are the names of TensorProto.DataType.
var onnxTypes = []string{"undefined", "float32", "uint8", "int8", "uint16", "int16", "int32",
	"int64", "string", "bool", "float16", "double", "uint32", "uint64", "complex64", "complex128",
	"bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4", "int4",
	"float4e2m1", "float8e8m0"}

// onnxIntegers are the types whose elements are not floats.
var onnxIntegers = []string{"uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool",
	"uint32", "uint64", "uint4", "int4"}

// parseONNX finds the initializers of the main graph.
func (f *File) parseONNX() error {
	if f.size > math.MaxInt32 {
		return errors.New("it has more than 2 GiB, and a protocol buffer cannot")
	}
	model := message{&window{src: f.src}, 0, f.size}
	err := model.fields(func(part field) error {
		if part.number != modelGraph || part.kind != protowire.BytesType {
			return nil
		}
		return part.fields(func(part field) error {
			if part.kind != protowire.BytesType {
				return nil
			}
			switch part.number {
			case graphInitializer:
				t, err := initializer(part)
				f.Tensors = append(f.Tensors, t)
				return err
			case graphNode:
				return f.readNode(part)
			}
			return nil
		})
	})
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it is cut short, or no ONNX: copy or download it again, or save it with "+
			"onnx.save", err)
	}
	if err != nil {
		return fmt.Errorf("%w: save it with onnx.save", err)
	}
	return nil
}

// toInitializers makes weights out of the constants of a graph g.
const toInitializers = "make each an initializer: for a node n of op_type Constant, append " +
	"n.attribute[0].t to graph.initializer, or from_array of the value that it has instead, with " +
	"the name n.output[0], and remove n"

// readNode adds to Constants the name of a Constant node whose value is floats, of more than one
// element.
func (f *File) readNode(node field) error {
	var kind, output string
	var value onnxTensor
	floats := int64(0) // bytes of them
	err := node.fields(func(part field) (err error) {
		switch part.number {
		case nodeKind:
			kind, err = part.text()
		case nodeOutput:
			output, err = part.text()
		case nodeAttribute:
			return part.fields(func(part field) error {
				switch packed := part.kind == protowire.BytesType; {
				case part.number == attributeTensor && packed:
					return part.fields(value.read)
				case part.number == attributeFloats:
					floats += part.end - part.at
				case part.number == attributeSparse && packed:
					floats = math.MaxInt32
				}
				return nil
			})
		}
		return err
	})
	n, tooMany := count(value.Shape)
	if kind == "Constant" && (floats > 4 || value.isFloat() && (n > 1 || tooMany != nil)) {
		f.Constants = append(f.Constants, output)
	}
	return err
}

// isFloat says whether elements are floats of 16, 32 or 64 bits.
func (t *onnxTensor) isFloat() bool {
	return slices.Contains([]uint64{onnxFloat, onnxFloat16, onnxDouble, onnxBFloat16}, t.dataType)
}

// An onnxTensor is a TensorProto.
type onnxTensor struct {
	Tensor
	dataType        uint64
	raw             []span
	floats          []span
	hasRaw, segment bool
	external        bool
	numbers         bool // in fields of integers
}

// initializer reads a TensorProto.
func initializer(f field) (Tensor, error) {
	var t onnxTensor
	if err := f.fields(t.read); err != nil {
		return t.Tensor, err
	}
	t.Type = fmt.Sprint("type ", t.dataType)
	if t.dataType < uint64(len(onnxTypes)) {
		t.Type = onnxTypes[t.dataType]
	}
	t.setType(t.Type, binary.LittleEndian, !slices.Contains(onnxIntegers, t.Type))
	switch {
	case t.Why != nil:
		return t.Tensor, nil
	case t.external:
		t.Why = errors.New("its elements are in another file: save the model in one, with " +
			"onnx.save_model(m, f, save_as_external_data=False)")
		return t.Tensor, nil
	case t.numbers && t.kind.bytes == 2:
		t.Why = errors.New("its elements are in int32_data: save it with raw_data, as " +
			"onnx.numpy_helper does: t.CopyFrom(from_array(to_array(t), t.name))")
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

// fits checks that the tensor has as many elements as its shape says.
func (t *onnxTensor) fits() (err error) {
	if t.Len, err = count(t.Shape); err != nil {
		return fmt.Errorf("initializer %q: %w", t.Name, err)
	}
	have := int64(0)
	for _, s := range t.spans {
		if s.bytes%t.kind.bytes != 0 {
			have = -1
			break
		}
		have += s.bytes
	}
	if have != t.kind.bytes*int64(t.Len) {
		return fmt.Errorf("initializer %q: its elements are not %v %s", t.Name, t.Shape, t.Type)
	}
	return nil
}

// read stores one field of a TensorProto in t.
func (t *onnxTensor) read(f field) (err error) {
	place := span{f.at, f.end - f.at}
	packed := f.kind == protowire.BytesType
	switch {
	case f.number == tensorDims:
		return t.dims(f)
	case f.number == tensorType && f.kind == protowire.VarintType:
		t.dataType, err = f.integer()
	case f.number == tensorSegment:
		t.segment = true
	case f.number == tensorFloats && (packed || f.kind == protowire.Fixed32Type):
		if place.bytes > 0 {
			t.floats = append(t.floats, place)
		}
	case f.number == tensorInt32s:
		t.numbers = true
	case f.number == tensorName && packed:
		t.Name, err = f.text()
	case f.number == tensorRaw && packed:
		t.raw, t.hasRaw = []span{place}, true
	case f.number == tensorLocation && f.kind == protowire.VarintType:
		var where uint64
		where, err = f.integer()
		t.external = where == onnxExternal
	}
	return err
}

// dims appends the sides of the shape in a field. A field can hold one side or several.
func (t *onnxTensor) dims(f field) error {
	b, err := f.load()
	if err != nil {
		return err
	}
	for len(b) > 0 {
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
