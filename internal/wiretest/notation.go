package wiretest

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An item is a value of the notation. An item of an array or a map keeps its elements, so that
// another item can be a copy with one field changed.
type item struct {
	kind  byte    // '[' or '{'; 0: only bytes
	parts []Value // elements of an array, or keys and values of a map in turn
	bytes Value   // the value, if it is neither an array nor a map
}

func (i item) value() Value {
	switch i.kind {
	case '[':
		return Array(i.parts...)
	case '{':
		return Map(i.parts...)
	}
	return i.bytes
}

// A reader reads the notation of values, see doc.go. The reader panics if it cannot read a text,
// because it only reads the tables of this package.
type reader struct {
	text  string
	named map[string]item
}

func (r *reader) fail(format string, args ...any) {
	panic(fmt.Sprintf("wiretest: %s, before %.60q", fmt.Sprintf(format, args...), r.text))
}

// take skips blanks. If the token comes next, take also skips the token and returns true.
func (r *reader) take(token string) bool {
	r.text = strings.TrimLeft(r.text, " \n\t")
	rest, found := strings.CutPrefix(r.text, token)
	r.text = rest
	return found
}

// until reads the text before the first of the characters.
func (r *reader) until(characters string) string {
	end := strings.IndexAny(r.text, characters)
	if end < 0 {
		end = len(r.text)
	}
	word := r.text[:end]
	r.text = r.text[end:]
	return word
}

// next reads a value. Several values joined by ~ become one.
func (r *reader) next() item {
	i := r.one()
	for r.take("~") {
		i = item{bytes: append(slices.Clone(i.value()), r.one().value()...)}
	}
	return i
}

func (r *reader) one() item {
	switch {
	case r.take("["):
		return item{kind: '[', parts: r.parts("]")}
	case r.take("{"):
		return item{kind: '{', parts: r.parts("}")}
	case r.take("h("):
		return item{bytes: Bin(r.inside()...)}
	case r.take("h'"):
		return item{bytes: Bin(r.repeated(r.hex())...)}
	case r.take("x'"):
		return item{bytes: r.hex()}
	case r.take("<"):
		return item{bytes: Bin(r.repeated(r.floats())...)}
	case r.take(`"`):
		return item{bytes: Str(string(r.repeated(r.string())))}
	}
	word := r.until(" \n\t()[]{}=:~")
	if i, ok := r.named[word]; ok {
		return r.edited(i)
	}
	return item{bytes: r.number(word)}
}

// parts reads the values up to the end of an array or a map. N*VALUE stands for N values.
func (r *reader) parts(end string) (parts []Value) {
	for !r.take(end) {
		count := 1
		if n, rest, found := strings.Cut(r.text, "*"); found {
			if number, err := strconv.Atoi(n); err == nil {
				count, r.text = number, rest
			}
		}
		parts = append(parts, slices.Repeat([]Value{r.next().value()}, count)...)
		r.take(":")
	}
	return parts
}

// inside reads a value and the closing parenthesis after it.
func (r *reader) inside() Value {
	v := r.next().value()
	if !r.take(")") {
		r.fail("no )")
	}
	return v
}

// repeated returns the bytes of a byte string or a string, N times if *N follows.
func (r *reader) repeated(p []byte) []byte {
	if !strings.HasPrefix(r.text, "*") {
		return p
	}
	n, err := strconv.Atoi(strings.TrimPrefix(r.until(" \n\t()[]{}:~"), "*"))
	if err != nil {
		r.fail("%v", err)
	}
	return slices.Repeat(p, n)
}

// hex reads bytes up to a quote. a0..a7 stands for the bytes from a0 to a7.
func (r *reader) hex() (p []byte) {
	for _, word := range strings.Fields(r.until("'")) {
		first, last, isRange := strings.Cut(word, "..")
		b, err := hex.DecodeString(first + last)
		if err != nil {
			r.fail("%v", err)
		}
		if isRange {
			b = Seq(b[0], int(b[1]-b[0])+1)
		}
		p = append(p, b...)
	}
	r.text = r.text[1:]
	return p
}

func (r *reader) floats() (p []byte) {
	for _, word := range strings.Fields(r.until(">")) {
		p = append(p, Floats(r.float(word))[2:]...)
	}
	r.text = r.text[1:]
	return p
}

func (r *reader) string() []byte {
	quoted, err := strconv.QuotedPrefix(`"` + r.text)
	if err != nil {
		r.fail("%v", err)
	}
	r.text = r.text[len(quoted)-1:]
	text, _ := strconv.Unquote(quoted)
	return []byte(text)
}

func (r *reader) float(word string) float32 {
	v, err := strconv.ParseFloat(word, 32)
	if err != nil {
		r.fail("%v", err)
	}
	return float32(v)
}

// number reads a number: a float32 if the word has a point or an exponent or is not finite, and
// otherwise an integer. An integer may have a form like 2^32-1.
func (r *reader) number(word string) Value {
	if !strings.Contains(word, "^") && strings.ContainsAny(word, ".eni") {
		return Float(r.float(word))
	}
	if power, found := strings.CutPrefix(word, "2^"); found {
		at := strings.IndexAny(power+"+", "+-")
		offset, _ := strconv.Atoi(power[at:])
		return Uint(uint64(1)<<r.index(power[:at]) + uint64(offset))
	}
	v, err := strconv.ParseUint(word, 10, 64)
	if err != nil {
		r.fail("%q is no value", word)
	}
	return Uint(v)
}

// edited returns a named value with the changes that follow it in parentheses.
func (r *reader) edited(i item) item {
	if !strings.HasPrefix(r.text, "(") {
		return i
	}
	r.take("(")
	i.parts = slices.Clone(i.parts)
	for !r.take(")") {
		if r.take("+") {
			i.parts = append(i.parts, r.next().value())
			continue
		}
		gone := r.take("-")
		key := r.until("=:)( ")
		switch {
		case r.take(":"):
			i = item{bytes: i.value()[r.index(key):r.index(r.until(") "))]}
		case gone:
			i.remove(r.index(key))
		case r.take("="):
			i.set(r.index(key), r.next().value())
		default:
			r.fail("no change of a field: %q", key)
		}
	}
	return i
}

func (r *reader) index(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		r.fail("%v", err)
	}
	return n
}

// set replaces the value of an array's field n, or of a map's key n.
func (i *item) set(n int, v Value) {
	if i.kind == '[' {
		i.parts[n] = v
		return
	}
	at, found := i.find(n)
	if !found {
		i.parts = slices.Insert(i.parts, at, Uint(uint64(n)), nil)
	}
	i.parts[at+1] = v
}

func (i *item) remove(n int) {
	if at, found := i.find(n); found {
		i.parts = slices.Delete(i.parts, at, at+2)
	}
}

// find returns the index of a map's key n, or the index at which that key would be.
func (i *item) find(n int) (at int, found bool) {
	for at = 0; at < len(i.parts); at += 2 {
		if k := key(i.parts[at]); k >= n {
			return at, k == n
		}
	}
	return at, false
}

// key returns the number of a map's key. Numbers of a plan's fields are below 256.
func key(v Value) int { return int(v[len(v)-1]) }
