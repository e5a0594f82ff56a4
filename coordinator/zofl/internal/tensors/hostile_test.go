package tensors

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// safetensors returns a file with a header that claims its true length.
func safetensors(header, elements string) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + elements
}

// npy returns an array of NumPy's.
func npy(header, elements string) string {
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header +
		elements
}

// onnxModel returns a model with initializers, each a TensorProto.
func onnxModel(initializers ...[]byte) string {
	var graph []byte
	for _, t := range initializers {
		graph = protowire.AppendTag(graph, graphInitializer, protowire.BytesType)
		graph = protowire.AppendBytes(graph, t)
	}
	model := protowire.AppendTag(nil, modelGraph, protowire.BytesType)
	return string(protowire.AppendBytes(model, graph))
}

// onnxFloats returns a TensorProto of float32 with these dims, and then more fields.
func onnxFloats(name string, dims []uint64, more ...[]byte) []byte {
	b := protowire.AppendTag(nil, tensorName, protowire.BytesType)
	b = protowire.AppendString(b, name)
	for _, d := range dims {
		b = protowire.AppendVarint(protowire.AppendTag(b, tensorDims, protowire.VarintType), d)
	}
	b = protowire.AppendVarint(protowire.AppendTag(b, tensorType, protowire.VarintType), onnxFloat)
	return append(b, bytes.Join(more, nil)...)
}

// onnxConstant returns a model with a Constant node, whose value is two float32.
func onnxConstant(output string, dims []uint64) string {
	value := onnxBytes(attributeTensor, string(onnxFloats("", dims, onnxBytes(tensorRaw, two))))
	node := bytes.Join([][]byte{onnxBytes(nodeOutput, output), onnxBytes(nodeKind, "Constant"),
		onnxBytes(nodeAttribute, string(value))}, nil)
	return string(onnxBytes(modelGraph, string(onnxBytes(graphNode, string(node)))))
}

// onnxNode returns a model with a Constant node that has one attribute.
func onnxNode(output string, attribute []byte) string {
	node := bytes.Join([][]byte{onnxBytes(nodeOutput, output), onnxBytes(nodeKind, "Constant"),
		onnxBytes(nodeAttribute, string(attribute))}, nil)
	return string(onnxBytes(modelGraph, string(onnxBytes(graphNode, string(node)))))
}

func onnxBytes(number protowire.Number, value string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), value)
}

func onnxVarint(number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
}

// archive returns a .npz of stored members, name by name.
func archive(members ...string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		m, err := w.CreateHeader(&zip.FileHeader{Name: members[i], Method: zip.Store})
		if err == nil {
			_, err = m.Write([]byte(members[i+1]))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

const two = "\x00\x00\x80\x3f\x00\x00\x20\xc0"

// hostile are damaged files, by a part of the expected error.
var hostile = map[string]map[string]string{
	".safetensors": {
		"text":                    "1234567",
		"no .safetensors":         "123456\x00",
		"header claims":           "\xff\xff\xff\xff\xff\xff\xff\x7f{}",
		"first 8 bytes":           "\x08\x01\x12\x00\x00\x00\x00\x00xyz",
		"pickle":                  "\x80\x04\x95\xef\x00\x00\x00\x00\x00\x00\x00}q\x00.",
		"zeros":                   strings.Repeat("\x00", 2048),
		"header claims 100000001": "\x01\xe1\xf5\x05\x00\x00\x00\x00{}",
		"header claims 3 bytes":   "\x03\x00\x00\x00\x00\x00\x00\x00{}",
		"torch.save":              "PK\x03\x04" + strings.Repeat("0", 60),
		"Git LFS pointer":         "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
		"are F64: convert it to float32; no tensor": safetensors(
			`{"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}`, two),
		"damaged: copy or download it again": safetensors(
			`{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}`, two),
		"are I32, which cannot be trained; no tensor": safetensors(
			`{"a":{"dtype":"I32","shape":[2],"data_offsets":[0,8]}}`, two),
		"not a JSON object": safetensors(`[]`, ""),
		"no tensor":         safetensors(`{"__metadata__":{}}`, ""),
		"EOF":               safetensors(`{"a":{"dtype":"F32"`, ""),
		"no dtype": safetensors(
			`{"a":{"DType":"F32","shape":[2],"data_offsets":[0,8]}}`, two),
		"begin and an end": safetensors(
			`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}}`, two),
		"too many elements": safetensors(`{"a":{"dtype":"F32","shape":`+
			`[4294967296,4294967296,4294967296],"data_offsets":[0,8]}}`, two),
		"8 bytes are not [3] of F32": safetensors(
			`{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, two),
		"ends behind the file": safetensors(
			`{"a":{"dtype":"F32","shape":[1000000000],"data_offsets":[0,4000000000]}}`, two),
		`"b" begins at byte 0, and 4 is next`: safetensors(
			`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},`+
				`"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, two),
		"4 bytes at its end": safetensors(
			`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, two),
		`two tensors have the name "a"`: safetensors(
			`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},`+
				`"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, two),
		"something follows": safetensors(
			`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}} {}`, two),
	},
	".onnx": {
		"empty":                             "",
		"no tensor is in it: name the file": onnxModel(),
		"dense initializers of its main graph": string(onnxBytes(modelGraph,
			string(onnxBytes(15, string(onnxBytes(1, "")))))),
		`such as "list", are constants in nodes`: onnxNode("list",
			append(onnxBytes(attributeFloats, two), onnxVarint(20, 6)...)),
		`such as "few", are constants in nodes`: onnxNode("few", onnxBytes(attributeSparse, "")),

		"onnx.save":       "\xff",
		"unexpected EOF":  "\x3a\x7f12",
		"not [3] float32": onnxModel(onnxFloats("w", []uint64{3}, onnxBytes(tensorRaw, two))),
		"not [2] float32": onnxModel(onnxFloats("w", []uint64{2})),
		"not [] float32":  onnxModel(onnxFloats("w", nil, onnxBytes(tensorRaw, "12345"))),
		"elements twice": onnxModel(onnxFloats("w", []uint64{2},
			onnxBytes(tensorRaw, two), onnxBytes(tensorFloats, two))),
		"a side of -1": onnxModel(onnxFloats("w", []uint64{1<<64 - 1})),
		"too many elements": onnxModel(onnxFloats("w", []uint64{1 << 40, 1 << 40},
			onnxBytes(tensorRaw, two))),
		`have the name "w"`: onnxModel(onnxFloats("w", []uint64{0}), onnxFloats("w", []uint64{0})),
		"double: convert it": onnxModel(onnxFloats("w", []uint64{1},
			onnxVarint(tensorType, onnxDouble), onnxBytes(tensorRaw, two))),
		"in int32_data": onnxModel(onnxFloats("w", []uint64{1},
			onnxVarint(tensorType, onnxFloat16), onnxVarint(tensorInt32s, 7))),
		`such as "w", are constants in nodes: make each an initializer`: onnxConstant("w", []uint64{2}),
		"in another file": onnxModel(onnxFloats("w", []uint64{2}, onnxVarint(tensorLocation, 1))),
		"segment of a tensor": onnxModel(
			onnxFloats("w", []uint64{2}, onnxBytes(tensorSegment, ""))),
		"no elements": onnxModel(onnxFloats("w", []uint64{0})),
		"are type 25": onnxModel(onnxFloats("w", []uint64{2},
			onnxVarint(tensorType, uint64(len(onnxTypes))), onnxBytes(tensorRaw, two))),
	},
	".npz": {
		"numpy.savez": "PK\x03\x04",
		"unsupported compression algorithm: save it with numpy.savez": strings.ReplaceAll(
			strings.ReplaceAll(archive("a.npy", two), "PK\x03\x04\x14\x00\x08\x00\x00",
				"PK\x03\x04\x14\x00\x08\x00\x0c"), "PK\x01\x02\x14\x00\x14\x00\x08\x00\x00",
			"PK\x01\x02\x14\x00\x14\x00\x08\x00\x0c"),
		"unpack it": archive("a.txt", "b"),
		"header":    archive("a.npy", "\x93NUMPY\x02\x00\xff\xff\xff\xff"),
		"8 bytes follow a header of 3 float32": archive("a.npy",
			npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", two)),
		"have the name": archive("a.npy", "", "a.npy", ""),
		"checksum": strings.Replace(archive("a.npy",
			npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", two)), two, "12345678", 1),
		"records": archive("a.npy", npy("{'descr': [('x', '<f4')], 'fortran_order': False, "+
			"'shape': (2,), }\n", two)),
	},
	".npy": {
		"not a NumPy file": "PK",
		"cut short: copy":  npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n", two),
		"are <f8: save x.astype('float32')": npy(
			"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n", two),
		"are <i8: save x.astype('float32')": npy(
			"{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }\n", two),
		"Git LFS": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
		"8 bytes follow": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9999, 9999), }\n",
			two),
		"a side of": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
			two),
		"too many": npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999), }",
			two),
	},
}

// params parses a file and reads all its float32 tensors.
func params(format string, b []byte) (*Selection, []float32, error) {
	f, err := parse("x"+format, bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, nil, err
	}
	s, err := f.Select(nil)
	if err != nil {
		return nil, nil, err
	}
	x, err := s.Params()
	return s, x, err
}

func TestRefusesDamage(t *testing.T) {
	for format, files := range hostile {
		for want, b := range files {
			var err error
			spent := allocated(func() { _, _, err = params(format, []byte(b)) })
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", format, err, want)
			}
			if spent > 1<<20 {
				t.Errorf("%s, %s: %d bytes were allocated for a file of %d", format, want, spent, len(b))
			}
		}
	}
}

// allocated returns how many bytes a call takes.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A model file is opened without its elements: they stay in the file.
func TestElementsStayInTheFile(t *testing.T) {
	const size = 64 << 20
	raw := func(head []byte) []byte { return append(head, make([]byte, size)...) }
	tensor := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	sized := func(number protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), b)
	}
	varint := func(number protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
	}
	initializer := tensor(varint(tensorDims, size/4), varint(tensorType, onnxFloat),
		sized(tensorName, []byte("w")), sized(tensorRaw, make([]byte, size)))
	header := fmt.Sprintf(`{"w":{"dtype":"F32","shape":[%d],"data_offsets":[0,%d]}}`, size/4, size)
	for format, b := range map[string][]byte{
		".onnx": sized(modelGraph, sized(graphInitializer, initializer)),
		".safetensors": raw(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))),
			header...)),
	} {
		var file *File
		var err error
		spent := allocated(func() { file, err = parse("x"+format, bytes.NewReader(b), int64(len(b))) })
		if err != nil || len(file.Tensors) != 1 || file.Tensors[0].Len != size/4 {
			t.Fatalf("%s: %v", format, err)
		}
		if spent > 1<<20 {
			t.Errorf("%s: %d bytes to open a file of %d", format, spent, len(b))
		}
	}
}

// Members of an archive that share their bytes would unpack to far more bytes than the archive has.
func TestSharedMembers(t *testing.T) {
	b := []byte(archive("a.npy", strings.Repeat("x", 1000), "b.npy", strings.Repeat("y", 1000)))
	// The directory claims a first member that reaches into the second.
	at := bytes.Index(b, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(b[at+20:], 1500)
	if _, _, err := params(".npz", b); err == nil || !strings.Contains(err.Error(), "claim more") {
		t.Errorf("got %v", err)
	}
}

// TestConstants: the error names an array in a Constant node if a pattern asks for the array. A
// single number does not count as an array.
func TestConstants(t *testing.T) {
	b := onnxConstant("w", []uint64{2}) + onnxConstant("epsilon", nil) +
		onnxModel(onnxFloats("bias", []uint64{2}, onnxBytes(tensorRaw, two)))
	f, err := parse("x.onnx", bytes.NewReader([]byte(b)), int64(len(b)))
	if err != nil || len(f.Constants) != 1 {
		t.Fatalf("%v, %v", f, err)
	}
	_, err = f.Select([]string{"w"})
	if err == nil || !strings.Contains(err.Error(), "no initializer") {
		t.Errorf("got %v", err)
	}
	if s, err := f.Select(nil); err != nil || s.Len != 2 {
		t.Errorf("got %v, %v", s, err)
	}
}

// TestPython2: the sides of an array that Python 2 saved are long.
func TestPython2(t *testing.T) {
	b := npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2L,), }\n", two)
	if _, x, err := params(".npy", []byte(b)); err != nil || !same(x, []float32{1, -2.5}) {
		t.Errorf("read %v, %v", x, err)
	}
}

// Elements that lie in several fields, as old writers of protocol buffers put them.
func TestUnpackedFloats(t *testing.T) {
	one := protowire.AppendFixed32(protowire.AppendTag(nil, tensorFloats, protowire.Fixed32Type),
		0x3f800000)
	b := []byte(onnxModel(onnxFloats("w", []uint64{4}, one, onnxBytes(tensorFloats, two), one)))
	s, x, err := params(".onnx", b)
	if err != nil || !same(x, []float32{1, 1, -2.5, 1}) {
		t.Fatalf("got %v, %v", x, err)
	}
	out := memory(bytes.Clone(b))
	if err := s.patch(out, []float32{5, 6, 7, 8}); err != nil {
		t.Fatal(err)
	}
	if _, x, err := params(".onnx", out); err != nil || !same(x, []float32{5, 6, 7, 8}) {
		t.Errorf("wrote 5 6 7 8, and read %v, %v", x, err)
	}
}

// memory is a file of a fixed size.
type memory []byte

func (m memory) WriteAt(b []byte, at int64) (int, error) {
	if n := copy(m[at:], b); n < len(b) {
		return n, fmt.Errorf("%d bytes do not fit at %d of %d", len(b), at, len(m))
	}
	return len(b), nil
}
