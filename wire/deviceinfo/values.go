package deviceinfo

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/zofl/zofl/internal/codec"
)

// Limits of what a device reports at once.
const (
	MaxValues = 16 // values
	MaxName   = 48 // bytes of a name
)

// Values are numbers of the app's own, by name: a temperature, an accuracy of this device alone.
// A program on the coordinator's side has such numbers, too.
type Values map[string]float64

// ErrValues says that a number cannot be reported.
var ErrValues = errors.New("cannot be reported")

// CheckValue returns an error that matches [ErrValues] if a value cannot be reported: a name is a
// letter and then letters, digits, and _ - . or /, and the value is a finite float32.
func CheckValue(name string, value float64) error {
	switch {
	case !named(name):
		return fmt.Errorf("%q %w: a name is a letter, and then letters, digits and _ - . /, at most %d",
			name, ErrValues, MaxName)
	case !(math.Abs(value) <= math.MaxFloat32):
		return fmt.Errorf("%s=%v %w: give a finite number", name, value, ErrValues)
	}
	return nil
}

func named(name string) bool {
	for i, r := range []byte(name) {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		other := '0' <= r && r <= '9' || r == '_' || r == '-' || r == '.' || r == '/'
		if !letter && (i == 0 || !other) {
			return false
		}
	}
	return name != "" && len(name) <= MaxName
}

// Append appends v to the rest of a join request, after the [Device]: the array [name, value, name,
// value, ...], with each value as a float32. The order of the names is free. The caller has checked
// that there are at most MaxValues, each of them by [CheckValue].
func (v Values) Append(rest []byte) []byte {
	rest = codec.AppendArray(rest, 2*len(v))
	for name, value := range v {
		rest = codec.AppendFinite(codec.AppendText(rest, name, MaxName), float32(value))
	}
	return rest
}

// ValuesOf reads the values of a join request, given the rest that [Of] returned. ValuesOf returns
// nil if there are none, or if this version cannot read them. Of two values of a name the last
// counts.
func ValuesOf(rest []byte) Values {
	if len(rest) == 0 {
		return nil
	}
	in := codec.NewReader("values", rest)
	count := in.Array("values", 2*MaxValues, 1)
	if !in.OK() || count == 0 || count%2 != 0 {
		return nil
	}
	v := make(Values, count/2)
	for range count / 2 {
		name := in.String("name", MaxName)
		value := shortest(in.Finite("value"))
		if !in.OK() || CheckValue(name, value) != nil {
			return nil
		}
		v[name] = value
	}
	return v
}

// shortest returns x with the fewest decimal digits that distinguish it from other float32 values:
// 0.1, and not 0.10000000149.
func shortest(x float32) float64 {
	v, _ := strconv.ParseFloat(strconv.FormatFloat(float64(x), 'g', -1, 32), 64)
	return v
}
