// Package textfile reads text files that people have edited: with a byte-order mark, in UTF-16, or
// in JSON with comments.
package textfile

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
)

// UTF8 returns a text without its byte-order mark. If the mark is that of UTF-16, the form that
// some editors and shells of Windows write, UTF8 converts the text to UTF-8. Text without a mark
// stays as it is.
func UTF8(text []byte) []byte {
	if rest, ok := bytes.CutPrefix(text, []byte("\xef\xbb\xbf")); ok {
		return rest
	}
	if rest, ok := bytes.CutPrefix(text, []byte("\xff\xfe")); ok {
		return fromUTF16(rest, binary.LittleEndian)
	}
	if rest, ok := bytes.CutPrefix(text, []byte("\xfe\xff")); ok {
		return fromUTF16(rest, binary.BigEndian)
	}
	return text
}

func fromUTF16(text []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(text)/2)
	for i := range units {
		units[i] = order.Uint16(text[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// JSON converts a text with UTF8, and replaces its comments (//, /* */ and #) by spaces, so that a
// JSON parser accepts the text. Lines and columns stay the same.
func JSON(text []byte) []byte {
	text = bytes.Clone(UTF8(text))
	for i := 0; i < len(text); {
		switch {
		case text[i] == '"':
			i += quoted(text[i:])
		case text[i] == '#' || bytes.HasPrefix(text[i:], []byte("//")):
			i += blank(text[i:], "\n", 0)
		case bytes.HasPrefix(text[i:], []byte("/*")):
			i += blank(text[i:], "*/", len("*/"))
		default:
			i++
		}
	}
	return text
}

// quoted returns the length of the string with which a text begins.
func quoted(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"', '\n': // a JSON string has no line break: the parser reports it
			return i + 1
		}
	}
	return len(text)
}

// blank overwrites a text with spaces, up to the first occurrence of end and extra bytes further.
// blank returns the number of overwritten bytes.
func blank(text []byte, end string, extra int) int {
	n := len(text)
	if at := bytes.Index(text, []byte(end)); at >= 0 {
		n = at + extra
	}
	for i, c := range text[:n] {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
	return n
}
