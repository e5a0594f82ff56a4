package cli

import "testing"

func TestByteCount(t *testing.T) {
	for text, want := range map[string]ByteCount{
		"0": 0, "67108864": 64 << 20, "64MiB": 64 << 20, "64mb": 64 << 20, "64 M": 64 << 20,
		"1GB": 1 << 30, "2T": 2 << 40, "7b": 7,
	} {
		var s ByteCount
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%q: got %d, %v, want %d", text, s, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "1.5GB", "MiB", "9999999999GiB", "64 MiBs"} {
		if err := new(ByteCount).Set(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
