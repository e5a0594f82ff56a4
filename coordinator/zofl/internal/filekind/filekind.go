// Package filekind names the format of a file that somebody took for a model file, and says how to
// get a model file.
package filekind

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	toSafetensors = "save its tensors with safetensors.torch.save_file"
	again         = "copy or download it again"

	fromSafetensors = "take the model from which it was made, in .safetensors"
)

// ErrText means that a file is text, and no kind of text that the package knows.
var ErrText = errors.New("it is text")

// pointers are the beginnings of small texts that stand for large files, with the command that
// fetches these.
var pointers = []struct{ begin, kind, cure string }{
	{"version https://git-lfs", "a Git LFS pointer", "run git lfs pull where it is"},
	{"version https://hawser", "a Git LFS pointer", "run git lfs pull where it is"},
	{"version http://git-media", "a Git LFS pointer", "run git lfs pull where it is"},
	{"# git-media", "a Git LFS pointer", "run git lfs pull where it is"},
	{"# xet version", "a pointer of git-xet", "fetch the file with git xet, or download it"},
	{"/annex/objects/", "a pointer of git-annex", "run git annex get where it is"},
	{"outs:", "a file of DVC", "run dvc pull, and name the file itself"},
}

// signatures are the bytes that files of a format have at their beginning or at another position. A
// signature has at least four bytes, which a file of numbers hardly ever has by chance.
var signatures = []struct {
	at         int
	magic      string
	kind, cure string
}{
	{0, "GGUF", "a GGUF file", fromSafetensors},
	{0, "\x89HDF\r\n\x1a\n", "an HDF5 file, as Keras saves it", "save its weights with numpy.savez"},
	{0, "\x93NUMPY", "an array of NumPy", "end its name in .npy"},
	{4, "TFL3", "a TensorFlow Lite model", "save the weights that it was made from with numpy.savez"},
	{0, "\x1f\x8b\x08\x00", "compressed with gzip", "unpack it"},
	{0, "\x1f\x8b\x08\x08", "compressed with gzip", "unpack it"},
	{0, "\xfd7zXZ\x00", "compressed with xz", "unpack it"},
	{0, "\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it"},
	{0, "7z\xbc\xaf\x27\x1c", "an archive of 7-Zip", "unpack it"},
	{4, "1AY&SY", "compressed with bzip2", "unpack it"},
	{257, "ustar", "a tar archive", "unpack it"},
	{0, "\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19", "a file of torch.save", toSafetensors},
	{0, "lmgg", "a GGML file", fromSafetensors},
	{0, "tjgg", "a GGML file", fromSafetensors},
	{4, "ORTM", "a model of ONNX Runtime", "take the .onnx from which it was made"},
	{0, "\x04\x22\x4d\x18", "compressed with lz4", "unpack it"},
	{0, "Rar!\x1a\x07", "a RAR archive", "unpack it"},
	{0, "\x89PNG", "a picture", "name the model's file"},
	{0, "PAR1", "a Parquet file", "name the model's file"},
	{0, "%PDF-", "a PDF", "name the model's file"},
}

// head is how many bytes from the beginning of a file the package reads.
const head = 1 << 10

// These are the fewest bytes that the package takes for text. A file of a few float32 may have only
// bytes that are letters.
const (
	leastText   = 4
	textOfFloat = 32
)

// Of returns an error that names the format of a file that its reader refused, with a remedy. Of
// returns nil if it does not recognize the format.
func Of(src io.ReaderAt, size int64) error {
	begin, err := beginning(src, size)
	if err != nil {
		return err
	}
	if err := format(src, begin, size); err != nil {
		return err
	}
	if len(bytes.Trim(begin, "\x00")) == 0 && size >= head {
		return fmt.Errorf("it begins with zeros alone, as a download that did not end: %s", again)
	}
	return text(begin, leastText)
}

// OfFloats is like Of, for a file of float32 without a header. The reader of such a file refuses
// nothing, and a model may begin with zeros.
func OfFloats(src io.ReaderAt, size int64) error {
	begin, err := beginning(src, size)
	if err != nil {
		return err
	}
	if err := format(src, begin, size); err != nil {
		return err
	}
	return text(begin, textOfFloat)
}

func beginning(src io.ReaderAt, size int64) ([]byte, error) {
	if size == 0 {
		return nil, fmt.Errorf("it is empty: %s", again)
	}
	begin := make([]byte, min(size, head))
	if n, err := src.ReadAt(begin, 0); n < len(begin) {
		return nil, err
	}
	return begin, nil
}

// format names a format of which a file has signs that float32 hardly ever have by chance.
func format(src io.ReaderAt, begin []byte, size int64) error {
	for _, s := range signatures {
		if len(begin) >= s.at && bytes.HasPrefix(begin[s.at:], []byte(s.magic)) {
			return fmt.Errorf("it is %s: %s", s.kind, s.cure)
		}
	}
	switch {
	case bytes.HasPrefix(begin, []byte("PK\x03\x04")):
		return archive(src, size)
	case pickle(src, begin, size):
		return fmt.Errorf("it is a pickle of Python, as torch.save writes: %s", toSafetensors)
	case safetensors(begin, size):
		return fmt.Errorf("it is a .safetensors file: end its name so")
	}
	return nil
}

// safetensors says whether a file begins with the length of a header that fits, and a header.
func safetensors(begin []byte, size int64) bool {
	if size < 10 || begin[8] != '{' {
		return false
	}
	n := binary.LittleEndian.Uint64(begin)
	return n >= 2 && n <= uint64(size-8)
}

// archive names the format of a zip archive, by the names of its members.
func archive(src io.ReaderAt, size int64) error {
	z, err := zip.NewReader(src, size)
	if err != nil {
		return fmt.Errorf("it begins as a zip archive, such as a file of torch.save or numpy.savez, and "+
			"cannot be read (%w): if it was cut short, %s; if it is of torch.save, %s", err, again,
			toSafetensors)
	}
	for _, m := range z.File {
		switch name := path.Base(m.Name); {
		case name == "data.pkl":
			return fmt.Errorf("it is a file of torch.save: %s", toSafetensors)
		case name == "model.weights.h5":
			return fmt.Errorf("it is a model of Keras: save its weights with numpy.savez")
		case strings.HasSuffix(name, ".npy"):
			return fmt.Errorf("it is an archive of numpy.savez: end its name in .npz")
		}
	}
	return fmt.Errorf("it is a zip archive: unpack it, or make one with numpy.savez")
}

// pickle says whether a file is a pickle of protocol 2 or later, from its first opcodes and its
// last.
func pickle(src io.ReaderAt, begin []byte, size int64) bool {
	var last [1]byte
	if _, err := src.ReadAt(last[:], size-1); err != nil || last[0] != '.' || len(begin) < 4 {
		return false
	}
	return begin[0] == 0x80 && begin[1] >= 2 && begin[1] <= 5 &&
		bytes.IndexByte([]byte("\x95}](cXq\x8a\x8cKJGN"), begin[2]) >= 0
}

// text names the format of a text file that has least bytes or more.
func text(begin []byte, least int) error {
	content := string(begin)
	wide, is := fromUTF16(begin)
	if is {
		content = wide
	}
	start := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(content, "\ufeff")))
	switch {
	case isPage(start): // of any encoding
		return fmt.Errorf("it is a web page (HTML or XML), not the file: download the file itself, " +
			"logged in if that is needed")
	case !is && (len(begin) < least || !printable(begin)):
		return nil
	}
	for _, p := range pointers {
		if strings.HasPrefix(start, p.begin) {
			return fmt.Errorf("it is %s, not the file itself: %s", p.kind, p.cure)
		}
	}
	switch {
	case strings.HasPrefix(start, "<") && strings.Contains(start, "ir_version"):
		return fmt.Errorf("it is an ONNX model as text: save it with onnx.save")
	case strings.HasPrefix(start, "<"):
		return fmt.Errorf("it is XML, not the file: download the file itself, logged in if that is " +
			"needed")
	case strings.Contains(start, `"weight_map"`):
		return fmt.Errorf("it is the index of a model in several files: save it in one, with " +
			"safetensors.torch.save_file")
	case strings.HasPrefix(start, "{"), strings.HasPrefix(start, "["):
		return fmt.Errorf("it is JSON: name the model's file")
	}
	return fmt.Errorf("%w: %.40q: name the model's file", ErrText, start)
}

// isPage says whether a text begins as a web page or an answer in XML.
func isPage(start string) bool {
	for _, begin := range []string{"<!doctype", "<html", "<?xml", "<!--", "<head", "<body"} {
		if strings.HasPrefix(start, begin) {
			return true
		}
	}
	return false
}

// fromUTF16 decodes a text in units of 16 bits that begins with a byte-order mark. Its first unit
// after the mark must be an ASCII character.
func fromUTF16(begin []byte) (string, bool) {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case len(begin) < 4:
		return "", false
	case bytes.HasPrefix(begin, []byte("\xfe\xff")):
		order = binary.BigEndian
	case !bytes.HasPrefix(begin, []byte("\xff\xfe")):
		return "", false
	}
	var units []uint16
	for i := 2; i+1 < len(begin); i += 2 {
		units = append(units, order.Uint16(begin[i:]))
	}
	content := string(utf16.Decode(units))
	return content, printable([]byte(content)) && content[0] < utf8.RuneSelf
}

// printable says whether a file that begins so may be text in UTF-8.
func printable(begin []byte) bool {
	for range utf8.UTFMax - 1 { // begin may end within a character
		last, _ := utf8.DecodeLastRune(begin)
		if len(begin) >= head-utf8.UTFMax && last == utf8.RuneError {
			begin = begin[:len(begin)-1]
		}
	}
	return bytes.IndexFunc(begin, func(c rune) bool {
		return c != '\n' && c != '\r' && c != '\t' && (c < ' ' || c == 0x7f || c == utf8.RuneError)
	}) < 0
}

// cures are remedies for files of other formats, by the ending of the file's name.
var cures = map[string]string{
	".pt": toSafetensors, ".pth": toSafetensors, ".bin": toSafetensors, ".ckpt": toSafetensors,
	".pkl": toSafetensors, ".pickle": toSafetensors,
	".gguf": fromSafetensors, ".ggml": fromSafetensors,
	".h5": "save its weights with numpy.savez", ".hdf5": "save its weights with numpy.savez",
	".keras": "save its weights with numpy.savez", ".tflite": "save its weights with numpy.savez",
	".pb": "save its weights with numpy.savez", ".mlmodel": "save its weights with numpy.savez",
	".zip": "unpack it", ".gz": "unpack it", ".xz": "unpack it", ".tar": "unpack it",
	".json": "name the file of the weights", ".csv": "save its numbers with numpy.save",
	".txt": "save its numbers with numpy.save",
}

// Cure returns the remedy for a file whose name has an ending, or "" if there is none.
func Cure(ending string) string { return cures[ending] }
