package textfile

import (
	"encoding/json"
	"testing"
)

func TestUTF8(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"id":                       "id",
		"\xef\xbb\xbfid":           "id",
		"\xff\xfei\x00d\x00":       "id",
		"\xfe\xff\x00i\x00d":       "id",
		"\xff\xfe\x3d\xd8\x00\xde": "\U0001f600",
		"\xff\xfei\x00d":           "i",
		"i\xef\xbb\xbfd":           "i\xef\xbb\xbfd",
	} {
		if got := UTF8([]byte(text)); string(got) != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestJSON: comments become spaces, and nothing within a string is one.
func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		"{} // \"a\"\n":                   "{}",
		"# kitchen\r\n{\"a\":1}":          `{"a":1}`,
		"{/* \"b\": 2,\n */\"a\":1}":      `{"a":1}`,
		`{"a":"// # /* \" //"}`:           `{"a":"// # /* \" //"}`,
		"\xef\xbb\xbf{\"a\":1}//":         `{"a":1}`,
		"\xff\xfe{\x00}\x00#\x00\xe4\x00": "{}",
		`{"a":"\\"} # "`:                  `{"a":"\\"}`,
	} {
		var got, same any
		err := json.Unmarshal(JSON([]byte(text)), &got)
		b, _ := json.Marshal(got)
		if json.Unmarshal([]byte(want), &same); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if c, _ := json.Marshal(same); string(b) != string(c) {
			t.Errorf("%q became %s, want %s", text, b, c)
		}
	}
}

// TestPlaces: comments become spaces of the same bytes and lines, so a parser names the places of
// the file. JSON does not write into its argument, and text that is not JSON does not become JSON.
func TestPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"{ /* ä\n */ \"a\": // one\r\n x}": "{      \n    \"a\":       \r\n x}",
		"{/*\r\n*/}":                       "{  \r\n  }",
		"{\"a\n//\":1":                     "{\"a\n     ",
		"{\"a\\":                           "{\"a\\",
		"/":                                "/",
		"{/*":                              "{  ",
	} {
		given := []byte(text)
		if got := JSON(given); string(got) != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if string(given) != text {
			t.Errorf("%q was overwritten: %q", text, given)
		}
	}
	for _, text := range []string{"{/*", "{\"a", "{\"a\\", "/", "{\"a\n//\":1}"} {
		if json.Valid(JSON([]byte(text))) {
			t.Errorf("%q became JSON", text)
		}
	}
}
