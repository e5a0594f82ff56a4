package deviceinfo_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/deviceinfo"
)

var known = wire.Known{Key: wire.Tip{1}, Plan: wire.Tip{2}, N: 300, Tip: wire.Tip{3}}

// TestTail compares the tail with fixed bytes, because other versions read the tail.
func TestTail(t *testing.T) {
	phone := deviceinfo.Device{Program: "pantry 1.4", Platform: "android/arm64", Battery: 57,
		Power: deviceinfo.OnBattery, Network: deviceinfo.Metered}
	for want, d := range map[string]deviceinfo.Device{
		"95a0a0000000": {},
		"95" + "aa70616e74727920312e34" + "ad616e64726f69642f61726d3634" + "390102": phone,
	} {
		tail := d.Append(nil)
		if got := hex.EncodeToString(tail); got != want {
			t.Errorf("%+v is %s, want %s", d, got, want)
		}
		r := wire.JoinRequest{Rest: append(d.Append(known.Append(nil)), 7)}
		if got, ok := told(r.Rest); !ok || got != d {
			t.Errorf("got %+v %v, want %+v", got, ok, d)
		}
		if k, _, ok := r.Known(); !ok || k != known { // what an older coordinator reads
			t.Errorf("the device knows %+v, want %+v", k, known)
		}
	}
}

// told returns the device information in the rest of a join request.
func told(rest []byte) (deviceinfo.Device, bool) {
	_, more, _ := (&wire.JoinRequest{Rest: rest}).Known()
	d, _, ok := deviceinfo.Of(more)
	return d, ok
}

// TestBroken: Of returns ok = false for information that cannot be shown or read.
func TestBroken(t *testing.T) {
	later := deviceinfo.Device{Program: "x"}
	if d, ok := told(append(known.Append(nil), 0x95, 0xa1, 'x', 0xa0, 0, 3, 3)); !ok || d != later {
		t.Errorf("of a later version: %+v %v, want %+v", d, ok, later)
	}
	for _, text := range []string{"", "90", "94a0a00000", "95a0a065" + "0000", "95a11b" + "a0000000",
		"95a2c3a4" + "a0000000", "95a0a00000", "95a0a0cc000000", "95d931" + strings.Repeat("61", 49) +
			"a0000000", "ddffffffff"} {
		tail, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, rest := range [][]byte{append(known.Append(nil), tail...), tail} {
			if d, ok := told(rest); ok || d != (deviceinfo.Device{}) {
				t.Errorf("rest %x tells %+v", rest, d)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for want, d := range map[string]deviceinfo.Device{
		"Program": {Program: "ü"}, "at most 48": {Program: strings.Repeat("a", 49)},
		"Platform": {Platform: "\x1b[2J"}, "Battery": {Battery: 101}, "Power": {Power: 3},
		"Network": {Network: 3},
	} {
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", d, err, want)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add((&deviceinfo.Device{Program: "a", Platform: "b", Battery: 1}).Append(known.Append(nil)))
	f.Fuzz(func(t *testing.T, rest []byte) {
		if d, ok := told(rest); ok && d.Check() != nil {
			t.Errorf("%x tells %+v", rest, d)
		}
		for name, v := range deviceinfo.ValuesOf(rest) {
			if deviceinfo.CheckValue(name, v) != nil {
				t.Errorf("%x reports %q=%v", rest, name, v)
			}
		}
	})
}
