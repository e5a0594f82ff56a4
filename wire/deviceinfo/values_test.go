package deviceinfo_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/wire/deviceinfo"
)

// TestValues compares the tail with fixed bytes, because other versions read the tail.
func TestValues(t *testing.T) {
	v := deviceinfo.Values{"train/loss": 0.1}
	tail := v.Append((&deviceinfo.Device{}).Append(nil))
	if got := hex.EncodeToString(tail); got != "95a0a0000000"+"92aa747261696e2f6c6f7373ca3dcccccd" {
		t.Errorf("the tail is %s", got)
	}
	v = deviceinfo.Values{"a": -1, "b.c-d_9": 3e38, "z": 0}
	d, rest, ok := deviceinfo.Of(append(v.Append((&deviceinfo.Device{Battery: 7}).Append(nil)), 9))
	if got := deviceinfo.ValuesOf(rest); !ok || d.Battery != 7 || !maps.Equal(got, v) {
		t.Errorf("%+v %v, want %v", d, got, v)
	}
	if got := deviceinfo.ValuesOf((deviceinfo.Values{"x": 0.1}).Append(nil)); got["x"] != 0.1 {
		t.Errorf("0.1 came as %v", got["x"])
	}
}

// TestBrokenValues: whoever sends values that may not be shown, or too many, reports none.
func TestBrokenValues(t *testing.T) {
	many := deviceinfo.Values{}
	for i := range deviceinfo.MaxValues + 1 {
		many[fmt.Sprint("v", i)] = 1
	}
	for name, tail := range map[string]string{
		"nothing": "", "no values": "90", "no value": "91a161", "a text": "92a161a162",
		"cut": "92a161ca3f80", "NaN": "92a161ca7fc00000", "escape": "92a21b5bca3f800000",
		"space": "92a26120ca3f800000", "no name": "92a0ca3f800000", "digit": "92a131ca3f800000",
		"a bomb": "ddffffffff", "long": "92d931" + strings.Repeat("61", 49) + "ca3f800000",
		"many": hex.EncodeToString(many.Append(nil)),
	} {
		b, err := hex.DecodeString(tail)
		if err != nil {
			t.Fatal(err)
		}
		if v := deviceinfo.ValuesOf(b); v != nil {
			t.Errorf("%s: %v", name, v)
		}
	}
}

func TestCheckValue(t *testing.T) {
	for name, v := range map[string]float64{"": 1, "a b": 1, "9a": 1, "a=": 1, "ä": 1,
		strings.Repeat("a", 49): 1, "nan": math.NaN(), "inf": math.Inf(-1), "big": 1e39} {
		if err := deviceinfo.CheckValue(name, v); !errors.Is(err, deviceinfo.ErrValues) {
			t.Errorf("%q=%v: %v", name, v, err)
		}
	}
	if err := deviceinfo.CheckValue("Train/Loss_2.b-c", -3e38); err != nil {
		t.Error(err)
	}
}
