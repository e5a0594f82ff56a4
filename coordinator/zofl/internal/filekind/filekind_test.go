package filekind

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// zipped returns an archive with these members.
func zipped(t *testing.T, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		if _, err := w.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// utf16Text returns a text with a byte-order mark, in units of 16 bits.
func utf16Text(text string, order binary.AppendByteOrder) string {
	var b []byte
	for _, c := range "\ufeff" + text {
		b = order.AppendUint16(b, uint16(c))
	}
	return string(b)
}

// TestOf: Of names the formats of files that people take for models, with a remedy.
func TestOf(t *testing.T) {
	long := strings.Repeat("ä", head)
	for content, want := range map[string]string{
		"": "empty: copy",
		"version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 12\n": "git lfs pull",
		"version https://hawser.github.com/spec/v1\nsize 12\n":                 "git lfs pull",
		"version http://git-media.io/v/2\nsize 12\n":                           "git lfs pull",
		utf16Text("version https://git-lfs\n", binary.LittleEndian):            "git lfs pull",
		utf16Text("<html>Log in</html>", binary.BigEndian):                     "web page",
		utf16Text("0.5 1.5\n", binary.LittleEndian):                            `text: "0.5`,
		"/annex/objects/SHA256E-s12--aa.safetensors\n":                         "git annex get",
		"outs:\n- md5: aa\n  size: 12\n  path: m.safetensors\n":                "dvc pull",
		"# xet version 0\nfilesize = 12\n":                                     "git xet",
		"<html>f\xfcr Sie</html>":                                              "web page",
		"<!-- \xe9 --><html>":                                                  "web page",
		"<\n   ir_version: 8\n>\ng (float[1,2] x) => ()":                       "onnx.save",
		"\r\n<!DOCTYPE html><html>Log in</html>":                               "web page",
		"\ufeff<HTML>x":                                                        "web page",
		"<?xml version='1.0'?><Error>Denied":                                   "web page",
		`{"error":"gated"}`:                                                    "JSON",
		`{"weight_map":{"a":"model-00001"}}`:                                   "several files",
		"[0.5, 1.5]":                                                           "JSON",
		"{\t\"a\": 1}":                                                         "JSON",
		"VERSION https://GIT-LFS":                                              "git lfs pull",
		"0.5 1.5\n":                                                            `text: "0.5`,
		"x" + long:                                                             "text",
		"GGUF\x03\x00\x00\x00":                                                 "GGUF",
		"\x89HDF\r\n\x1a\n\x00":                                                "Keras",
		"\x93NUMPY\x01\x00":                                                    ".npy",
		"\x1c\x00\x00\x00TFL3":                                                 "TensorFlow Lite",
		"\x1f\x8b\x08\x00\x00":                                                 "gzip",
		"\x1f\x8b\x08\x08\x00":                                                 "gzip",
		"\xfd7zXZ\x00\x00":                                                     "xz",
		"\x28\xb5\x2f\xfd\x04":                                                 "zstd",
		"7z\xbc\xaf\x27\x1c\x00":                                               "7-Zip",
		"lmgg\x01\x00":                                                         "GGML",
		"tjgg\x01\x00":                                                         "GGML",
		"\x1c\x00\x00\x00ORTM":                                                 "ONNX Runtime",
		"\x04\x22\x4d\x18\x64":                                                 "lz4",
		"Rar!\x1a\x07\x01\x00":                                                 "RAR",
		"\x89PNG\r\n\x1a\n":                                                    "picture",
		"PAR1\x15\x04":                                                         "Parquet",
		"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n":                                        "a PDF",
		"BZh91AY&SYxx":                                                         "bzip2",
		strings.Repeat("a", 257) + "ustar":                                     "tar",
		zipped(t, "model/data.pkl", "model/data/0"):                            "torch.save: save",
		zipped(t, "config.json", "model.weights.h5"):                           "Keras",
		zipped(t, "a.npy"):                                                     ".npz",
		zipped(t, "a.txt"):                                                     "unpack it",
		zipped(t, "a.npy")[:40]:                                                "cut short",
		"PK\x03\x04" + strings.Repeat("0", 60):                                 "torch.save",
		"\x80\x02}q\x00.":                                                      "pickle",
		"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00}.":                       "pickle",
		"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M":                  "torch.save",
		"\x06\x00\x00\x00\x00\x00\x00\x00{\"a\":{":                             ".safetensors",
		strings.Repeat("\x00", 2*head):                                         "zeros",
	} {
		err := Of(strings.NewReader(content), int64(len(content)))
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 {
			t.Errorf("%.40q: %v, want %q", content, err, want)
		}
	}
}

// TestOfLargeFile: Of reads only the beginning and the last byte of a file.
func TestOfLargeFile(t *testing.T) {
	err := Of(strings.NewReader("GGUF"+strings.Repeat("\x00", head)), 1<<60)
	if err == nil || !strings.Contains(err.Error(), "GGUF") {
		t.Errorf("%v, want GGUF", err)
	}
}

// TestOfNumbers: Of returns nil for files of numbers.
func TestOfNumbers(t *testing.T) {
	for _, content := range []string{"\x00\x00\x80\x3f", "\x00\x00\x00\x00", "\x80\x02\x95\x3f",
		"\xcd\xcc\xcc\x3d\xcd\xcc\x4c\x3e", "PK\x03\x3f", "abc", "abc\x7f", "abcd\xff",
		// These end as a pickle ends, and do not begin as one.
		"\x81\x02}.", "\x80\x01}.", "\x80\x06}.", "\x80\x02\x00."} {
		if err := Of(strings.NewReader(content), int64(len(content))); err != nil {
			t.Errorf("%q: %v", content, err)
		}
	}
}

// TestOfFloats: OfFloats refuses no file that may be a model in float32, and names other formats.
func TestOfFloats(t *testing.T) {
	zero := "\x00\x00\x00\x00"
	for _, content := range []string{strings.Repeat(zero, head), "lį?", "abcdefghABCD",
		"\x00\x00\x80\x3f" + zero + "{\x14\xae\x3f", zero + zero + "{\x14\xae\x3f"} {
		if err := OfFloats(strings.NewReader(content), int64(len(content))); err != nil {
			t.Errorf("%.40q: %v", content, err)
		}
	}
	for content, want := range map[string]string{
		"":                             "empty",
		strings.Repeat("0.5 1.5\n", 8): "text",
		utf16Text("0.5 1.5\n", binary.LittleEndian):                            "text",
		"version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 12\n": "git lfs pull",
		"\x02\x00\x00\x00\x00\x00\x00\x00{}":                                   ".safetensors",
	} {
		err := OfFloats(strings.NewReader(content), int64(len(content)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", content, err, want)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add([]byte("PK\x03\x04"))
	f.Add([]byte("\x80\x02}."))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := Of(bytes.NewReader(b), int64(len(b))); err != nil && len(err.Error()) > 500 {
			t.Errorf("%d letters about a file of %d bytes", len(err.Error()), len(b))
		}
	})
}
